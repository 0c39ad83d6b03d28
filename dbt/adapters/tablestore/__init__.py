"""The dbt adapter `tablestore`: dbt's verbs, each mapped to one call of `tablestore_engine`.

`Plugin` is what dbt looks for. Importing this package must stay cheap: no pyspark, no pyarrow.
"""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.tablestore.connection.connections import TableStoreConnectionManager
from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.impl import TableStoreAdapter
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from dbt.adapters.tablestore.relation.relation import TableStoreRelation
from dbt.include import tablestore

Plugin = AdapterPlugin(
    adapter=TableStoreAdapter,  # type: ignore[arg-type]
    credentials=TableStoreCredentials,
    include_path=tablestore.PACKAGE_PATH,
    dependencies=["spark"],  # so that `spark__` macros of packages are found behind `tablestore__`
)

__all__ = [
    "Plugin",
    "TableStoreAdapter",
    "TableStoreColumn",
    "TableStoreConnectionManager",
    "TableStoreCredentials",
    "TableStoreRelation",
]
