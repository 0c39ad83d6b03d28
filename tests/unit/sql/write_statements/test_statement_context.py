"""What a statement on rows asks its session for."""

from __future__ import annotations

from types import SimpleNamespace

from support.tables import make_table

from tablestore_engine.sql.statements.row import Delete
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.write_statements import statement_context
from tablestore_engine.sql.write_statements.statement_context import RowContext, with_dynamic_options


def test_the_settings_of_the_session_are_fetched_once(tmp_path, monkeypatch):
    make_table(tmp_path, {"id": "INT"})
    catalog = statement_context.Catalog(tmp_path)
    spark = SimpleNamespace(conf=SimpleNamespace(getAll={"spark.paimon.write-only": "true"}))
    monkeypatch.setattr(statement_context, "Frames", lambda *_, **kwargs: SimpleNamespace(looks_up=True, **kwargs))
    context = RowContext(catalog, "default", lambda: spark, lambda: 0, {})
    delete = Delete(sql="DELETE FROM t WHERE id > 1", table=TableName(None, "t"), where_sql="id > 1")
    context = with_dynamic_options(delete, context)
    assert context.dynamic_options == {"write-only": "true"}
    assert context.frames().settings == {"write-only": "true"}
