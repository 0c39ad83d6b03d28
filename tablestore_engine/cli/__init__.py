"""The command `tablestore`: inspect a warehouse and run SQL in it.

Nothing of the engine imports it. Its modules are one command each, or what commands share:
`group` is the command itself, `failures` its errors, `warehouse` the options that say where, `output` tables of rows.
Invariant: only commands that read or write rows start Spark, and `--help` imports neither Spark nor Arrow.
"""

from tablestore_engine.cli.failures import exit_code
from tablestore_engine.cli.group import main

__all__ = ["exit_code", "main"]
