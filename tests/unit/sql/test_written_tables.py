"""Which tables a text writes to."""

import pytest

from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.written_tables import Written, written_tables

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
