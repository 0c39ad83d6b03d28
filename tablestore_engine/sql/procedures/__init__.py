"""The procedures of CALL: what each takes, does and answers.

Knows `rows`, whose context procedures run in.
"""
