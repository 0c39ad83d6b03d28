"""Which tables a text writes to."""

import pytest

from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.written_tables import Written, makes_anew, written_tables

T = Written(TableName("s", "t"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("select * from s.t", ()),
        ("set a = 1", ()),
        ("create or replace temporary view t as select 1", ()),
        ("insert into s.t select 1", (T,)),
        ("delete from s.t where id = 1", (T,)),
        ("update s.t set v = 1", (T,)),
        ("merge into s.t using u on t.id = u.id when matched then delete", (T,)),
        ("insert overwrite s.t select 1", (T,)),
        ("truncate table s.t", (T,)),
        ("create or replace table s.t as select 1 as a", (Written(T.table, anew=True),)),
        ("begin delete from s.t where id = 1; select 1; insert into s.t select 1; end", (T, T)),
        ("execute immediate 'delete from s.t where id = 1'", (T,)),
        ("execute immediate what", (Written(None),)),
        ("call sys.rollback(table => 's.t', version => 1)", (Written(None),)),
    ],
)
def test_written_tables_are_found(text, found):
    assert written_tables(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("create or replace table s.t as select * from raw.t", True),
        ("create or replace table s.t as with t as (select * from s.u) select * from t", True),
        ("replace table s.t as select 1 as a", True),
        ("create or replace table s.t as select * from s.u union all select * from S.`T`", False),
        ("create or replace table s.t as select * from u where a > (select max(a) from t)", False),
        ("create or replace table s.t as select * from s.t$snapshots", False),
        ("create table s.t as select 1 as a", False),
        ("insert into s.t select 1", False),
    ],
)
def test_a_table_that_is_made_anew_from_others_may_be_made_twice(text, found):
    assert makes_anew(text) == found
