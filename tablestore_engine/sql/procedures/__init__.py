"""The procedures of CALL: parameters, execution and results.

Knows `rows`, whose context procedures run in.
"""
