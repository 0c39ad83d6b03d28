"""Running Spark: rows as Arrow (`collect`), Spark's errors as messages without a Java stack (`translate_errors`; `own_words` puts
the user's words into them), temporary views, frames kept for the next statement.

Knows expressions. Nothing here knows how a table is read or written.
"""
