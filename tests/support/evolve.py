"""Tables whose schema another tool changed: schemas made by hand, and the edge values of every type."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timezone
from decimal import Decimal
from math import inf, nan

from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.types.types import DataField, RowType, parse_type

UTC = timezone.utc
LTZ = "TIMESTAMP(6) WITH LOCAL TIME ZONE"
EDGES = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, 127, 0, 5],
    "SMALLINT": [-(2**15), 2**15 - 1, 0, 100],
    "INT": [-(2**31), 2**31 - 1, 0, 16_777_217],
    "BIGINT": [-(2**63), 2**63 - 1, 0, 2**53 + 1, 1_700_000_000],
    "FLOAT": [nan, inf, -inf, 0.0, -0.0, 3.4028234663852886e38, 0.5, 1.5, 2.5, -1.5, 1e7, 127.9, 1e-3],
    "DOUBLE": [nan, inf, -inf, 0.0, -0.0, 1.7976931348623157e308, 5e-324, 0.1, 2.675, -2.5, 1e16, 2147483647.9, -128.9],
    "DECIMAL(38, 10)": [
        Decimal(one)
        for one in (f"{'9' * 28}.{'9' * 10}", f"-{'9' * 28}.{'9' * 10}", "0", "-2.5", "1.5", "0.0000000001", "127.9")
    ],
    "DECIMAL(10, 2)": [Decimal(one) for one in ("99999999.99", "-99999999.99", "0.00", "2.45", "-2.55", "127.99")],
    "CHAR(5)": ["a    ", "1.5  ", "12345"],
    "VARCHAR(20)": ["", "yes", " 12 ", "2024-02-29"],
    "STRING": [
        "", " ", "true", " F ", "12", " -12 ", "1.9", "1e3", ".5", "NaN", "-Infinity", "128", "9999-12-31",
        "0001-01-01", "2024-02-30", "2024-2-3", "2024", " 2024-01-01 ", "2024-01-01T12:34:56Z",
        "2024-01-01 12:34:56.123456789",
        "2024-01-01 12:34:56+02:00", "2024-03-31 02:30:00", "2024-10-27 02:30:00", "2024-01-01 1:2:3 America/New_York",
        "2024-01-01x", "abc", "épée", "99999999999999999999", "1.005", "1e400", "\t7\n", "-", "1_000", "00012",
    ],
    "BYTES": [b"", b"abc", b"\x00", "é".encode()],
    "DATE": [date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(2024, 2, 29)],
    "TIMESTAMP(6)": [
        datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999), datetime(1969, 12, 31, 23, 59, 59, 500_000),
        datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 30), datetime(2024, 1, 1, 12, 34, 56, 123_456),
    ],
    LTZ: [
        datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, 23, 59, 59, 999_999, UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 500_000, UTC), datetime(2024, 3, 31, 1, 30, tzinfo=UTC),
        datetime(2024, 10, 27, 0, 30, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, 0, 123_456, UTC),
    ],
}  # fmt: skip
"""Values of each type; every one of them may be null as well."""


def change(table, fields=None, **more):
    """The table with another schema, as another tool's ALTER TABLE leaves it; `more` replaces other parts of it."""
    last = table.schemas.load(table.schemas.list_ids()[-1])
    fields = tuple(last.fields if fields is None else fields)
    highest = max(last.highest_field_id, *(one.id for one in fields))
    schema = replace(last, id=last.id + 1, fields=fields, highest_field_id=highest, **more)
    table.io.create(table.paths.schema(schema.id), schema.to_json().encode())
    return Catalog(table.path.rsplit("/", 2)[0]).load_table(*table.identifier)


def row_type(*fields):
    """The type of a row, from the id, the name and the type of each field."""
    return RowType(tuple(DataField(number, name, parse_type(kind)) for number, name, kind in fields))
