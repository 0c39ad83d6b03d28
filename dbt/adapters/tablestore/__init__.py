"""The dbt adapter `tablestore`: each thing that dbt asks for is one call of `tablestore_engine`.

`impl` answers dbt itself; `macro_methods`, `change_methods` and `schema_methods` what this adapter's macros call. Below
them, each knowing only those after it: `models` (incremental models, changes of other tables, seeds, Python models),
`relation` (names, columns, cache and catalog), `config` (what a model is configured to be), `connection` (profile,
sessions, statements, results) and `dialect` (SQL of other warehouses).

`Plugin` is what dbt looks for. Importing this package must stay cheap: no pyspark, no pyarrow.
"""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.tablestore.connection.connection_manager import TableStoreConnectionManager
from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.impl import TableStoreAdapter
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from dbt.adapters.tablestore.relation.relation import TableStoreRelation
from dbt.include import tablestore

Plugin = AdapterPlugin(
    adapter=TableStoreAdapter,  # type: ignore[arg-type]
    credentials=TableStoreCredentials,
    include_path=tablestore.PACKAGE_PATH,
    dependencies=["spark"],  # dispatch finds `spark__` macros of packages after `tablestore__`
)

__all__ = [
    "Plugin",
    "TableStoreAdapter",
    "TableStoreColumn",
    "TableStoreConnectionManager",
    "TableStoreCredentials",
    "TableStoreRelation",
]
