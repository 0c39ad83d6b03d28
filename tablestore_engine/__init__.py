"""Managed tables on Apache Paimon's format, with Spark as the execution engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Catalog", "Table", "TableStore", "TableStoreError", "__version__"]

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.errors import TableStoreError
    from tablestore_engine.store import TableStore
    from tablestore_engine.table import Table

_MODULES = {
    "Catalog": "tablestore_engine.catalog",
    "Table": "tablestore_engine.table",
    "TableStore": "tablestore_engine.store",
    "TableStoreError": "tablestore_engine.errors",
}


def __getattr__(name: str) -> Any:
    # Importing the package costs nothing until a name of it is used: dbt imports it at every start.
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
