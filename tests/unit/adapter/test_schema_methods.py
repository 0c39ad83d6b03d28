"""What the tables of dbt are made of."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from support.tables import make_table

from dbt.adapters.tablestore.config.option_changes import DBT_OPTIONS, option_changes
from dbt.adapters.tablestore.relation.relation import TableStoreRelation
from dbt.adapters.tablestore.schema_methods import SchemaMethods
from tablestore_engine.catalog import Catalog


@pytest.mark.parametrize("remembered", [None, '{"num-levels": "5"}'])
def test_a_clone_remembers_the_options_of_the_model_and_no_others(tmp_path, remembered):
    """The next run of the model would reset others, such as those that ALTER TABLE set, or name them in its line."""
    options = {"bucket": "1", "num-levels": "5", "target-file-size": "1 mb"}
    memory = {} if remembered is None else {DBT_OPTIONS: remembered}
    make_table(tmp_path, {"id": "INT"}, ["id"], options={**options, **memory})
    adapter = SimpleNamespace(
        catalog=Catalog(tmp_path), connections=SimpleNamespace(exception_handler=lambda what: nullcontext())
    )
    found = SchemaMethods.tablestore_clauses_of(adapter, TableStoreRelation.create(schema="default", identifier="t"))
    assert (DBT_OPTIONS in found) == bool(memory) and "'target-file-size' = '1 mb'" in found
    model = {} if remembered is None else {"num-levels": "5"}
    assert option_changes({**options, **memory}, model).text == ""
