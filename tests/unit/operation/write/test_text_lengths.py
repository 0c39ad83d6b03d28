"""A text that is longer than its column's type is refused, as in Spark; nothing is written."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.files import data_files
from support.tables import make_table

from tablestore_engine.errors import SchemaError


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", ["CHAR(3)", "VARCHAR(3)"])
def test_a_text_that_is_too_long(tmp_path, kind, keyed):
    keys, options = (("id",), {"bucket": "1"}) if keyed else ((), {})
    table = make_table(tmp_path, {"id": "INT", "v": kind, "s": "STRING"}, keys, options=options)

    def write(*texts):
        ids = pa.array(range(len(texts)), pa.int32())
        return table.write(pa.table({"id": ids, "v": list(texts), "s": ["any length"] * len(texts)}))

    write("abc", None, "äöü", "")
    before = data_files(table)
    with pytest.raises(SchemaError) as caught:
        write("ok", "abcd")
    assert f"Column 'v' has the type {kind}, and a value has 4 characters: 'abcd'." in str(caught.value)
    assert data_files(table) == before
