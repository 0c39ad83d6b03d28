"""Spark's errors as errors of this engine: one message in the user's words, without a Java stack.

`translate_errors` does it, by `own_words` and `error_hints`; `guarded_frames` do it when the caller runs them. Knows
names of internal columns, but no tables, nor how a query runs.
"""
