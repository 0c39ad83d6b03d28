"""`python -m tablestore_engine.cli` is `tablestore`."""

from tablestore_engine.cli.group import main

main()
