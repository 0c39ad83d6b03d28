"""The procedures of CALL: parameters, execution and results.

Knows `write_statements`, whose context procedures run in, what lies below it, `operation` and `spark`.
"""
