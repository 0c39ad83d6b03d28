"""The message of a command that fails, and its exit code.

Exit codes: 0 done; 1 wrong request (SQL, names, options); 2 wrong command line; 3 the machine or the storage failed;
75 another writer won, and a retry may help; 130 interrupted.
"""

from __future__ import annotations

from tablestore_engine.errors import TableStoreError, UserError

WRONG, FAILED, RETRY, INTERRUPTED = 1, 3, 75, 130
AT = "tablestore.at"
"""In the meta of a click context: where the failing statement is, to be printed in front of its message."""


def message(error: Exception) -> str:
    """The message for an error; that of an unexpected one says where to find more."""
    if isinstance(error, TableStoreError):
        return str(error)
    said = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{said}. This is not foreseen: `tablestore --debug …` shows where it happens."


def exit_code(error: Exception) -> int:
    """The exit code for an error."""
    if isinstance(error, TableStoreError) and error.retryable:
        return RETRY
    return WRONG if isinstance(error, UserError) else FAILED


def complain(text: str) -> None:
    """Print a message in red on stderr. Its lines stay as they are: a mark is below the word that it means."""
    from rich.console import Console
    from rich.text import Text

    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    Console(stderr=True).print(
        Text("\n".join(["Error: " + "".join(lines[:1]), *lines[1:]]), style="red"), soft_wrap=True
    )
