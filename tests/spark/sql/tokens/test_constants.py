"""A text with a variable is the text that Spark makes of it, also where the engine reads constants itself."""

from __future__ import annotations

import pytest
from support.spark_rows import ids_of

from tablestore_engine.errors import SqlError

pytestmark = pytest.mark.spark


def test_variables_in_constants(store):
    store.sql("create table t partitioned by (kind) as select id, if(id < 3, 'a', 'b') as kind from range(5)")
    store.sql("set wanted = a")
    assert store.sql("select count(*) as n from t where kind = '${wanted}'").collect() == [(3,)]
    assert ids_of(store, "select id from t where kind in ('${wanted}', 'c')") == [0, 1, 2]
    store.sql("set condition = id = 1 or id = 4")
    assert ids_of(store, "select id from t where kind = 'a' and ${condition}") == [1, 4]
    store.sql("insert overwrite t partition (kind = '${wanted}') select 7L")
    assert ids_of(store, "select id from t") == [3, 4, 7]
    with pytest.raises(SqlError, match="not a plain constant"):
        store.sql("alter table t drop partition (kind = '${wanted}')")
    store.sql("delete from t where kind = '${wanted}'")
    assert ids_of(store, "select id from t") == [3, 4]
