"""Data files of every format: the values at the edges of each type, statistics, compaction, options of the files."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pytest
from support.files import path_of
from support.invariants import check_invariants
from support.tables import compact, make_table, read, reload, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CorruptDataError, SchemaError
from tablestore_engine.schema.table.predicate import Compare, IsNull
from tablestore_engine.schema.table.schema_changes import AddColumn, SetNullability, SetOption
from tablestore_engine.schema.types.types import parse_type

FORMATS = ["parquet", "orc", "avro"]
UTC = timezone.utc
# Of each type: the least and greatest values, and what is easily lost.
EDGES = {
    "BOOLEAN": [True, False],
    "TINYINT": [-(2**7), 2**7 - 1],
    "SMALLINT": [-(2**15), 2**15 - 1],
    "INT": [-(2**31), 2**31 - 1, 0],
    "BIGINT": [-(2**63), 2**63 - 1],
    "FLOAT": [math.nan, math.inf, -math.inf, 0.0, -0.0, 2.0**-149],
    "DOUBLE": [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308],
    "DECIMAL(9, 2)": [Decimal("-9999999.99"), Decimal("0.01")],
    "DECIMAL(18, 0)": [Decimal(-(10**18) + 1), Decimal(10**18 - 1)],
    "DECIMAL(38, 10)": [Decimal(f"{sign}{'9' * 28}.{'9' * 10}") for sign in ("", "-")],
    "CHAR(3)": ["abc", "ü😀x"],
    "VARCHAR(5)": ["", "a", "ü😀xyz"],
    "STRING": ["", "\x00", "a" * 5_000, "ü😀"],
    "BINARY(2)": [b"\x00\xff", b"ab"],
    "BYTES": [b"", b"\x00\xff" * 300],
    "DATE": [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31)],
    "TIME(3)": [time(0), time(23, 59, 59, 999_000)],
    "TIMESTAMP(3)": [datetime(1969, 12, 31, 23, 59, 59, 999_000), datetime(2024, 2, 29)],
    "TIMESTAMP(6)": [datetime(1969, 12, 31, 23, 59, 59, 500_000), datetime(1969, 12, 31, 23, 59, 59, 1),
                     datetime(1677, 9, 22), datetime(2262, 4, 10, 23, 59, 59, 999_999)],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": [datetime(1883, 11, 18, 12, 3, 57, 999_999, UTC),
                                          datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)],
}  # fmt: skip
NESTED = {
    "ARRAY": ({"type": "ARRAY", "element": "STRING"}, [[], [None], ["", "ü"]]),
    "MAP": ({"type": "MAP", "key": "INT NOT NULL", "value": {"type": "ARRAY", "element": "TIME(3)"}},
            [[], [(1, None)], [(2, [time(1), None]), (3, [])]]),
    "ROW": ({"type": "ROW", "fields": [{"id": 50, "name": "a_b", "type": "TIMESTAMP(6)"},
                                       {"id": 51, "name": "Ü", "type": {"type": "ARRAY", "element": "BYTES"}}]},
            [{"a_b": None, "Ü": None}, {"a_b": datetime(1969, 1, 1, 0, 0, 0, 1), "Ü": [b"", None]}]),
}  # fmt: skip
CASES = {kind: (kind, values) for kind, values in EDGES.items()} | NESTED


def same(value):
    """A value that compares as it should: NaN with NaN, and the zeros apart."""
    return repr(value.replace(tzinfo=None) if isinstance(value, datetime) else value)


def of_format(folder, file_format, columns, key=(), **options):
    bucket = {"bucket": "1"} if key else {}
    return make_table(folder, columns, key, options={**bucket, "file.format": file_format, **options})


def formats_of(table):
    return sorted(e.file.format for e in table.live_files())


@pytest.mark.parametrize("file_format", FORMATS)
def test_values_at_the_edges(tmp_path, file_format):
    columns = {f"c{i}": kind for i, (kind, _) in enumerate(CASES.values())}
    values = [[*found, None] for _, found in CASES.values()]
    most = max(map(len, values))
    rows = [
        {"id": n, **{name: found[n % len(found)] for name, found in zip(columns, values, strict=True)}}
        for n in range(most)
    ]
    for key in ((), ("id",)):
        table = of_format(tmp_path / f"k{len(key)}", file_format, {"id": "INT", **columns}, key)
        write(table, rows[:3])
        write(table, rows[3:])
        assert set(formats_of(table)) == {file_format}
        for _ in range(2):
            found = {row["id"]: row for row in read(table)}
            for wanted in rows:
                for name in columns:
                    assert same(found[wanted["id"]][name]) == same(wanted[name]), name
            check_invariants(table)
            compact(table)
        if key:
            assert set(formats_of(table)) == {file_format}


@pytest.mark.parametrize("file_format", [one for one in FORMATS if one != "parquet"])
@pytest.mark.parametrize("mode", ["truncate(16)", "full", "counts", "none"])
def test_statistics_are_those_of_parquet(tmp_path, file_format, mode):
    # Parquet does not even count the nulls of a column with NaN.
    cases = [case for name, case in CASES.items() if name not in ("FLOAT", "DOUBLE")]
    columns = {f"c{i}": kind for i, (kind, _) in enumerate(cases)}
    rows = [
        {name: values[n % len(values)] if n else None for name, (_, values) in zip(columns, cases, strict=True)}
        for n in range(9)
    ]
    found = []
    for one in ("parquet", file_format):
        table = of_format(tmp_path / one, one, columns, **{"metadata.stats-mode": mode})
        write(table, rows)
        (entry,) = table.live_files()
        found.append((entry.file.value_stats, entry.file.value_stats_cols))
    assert found[0] == found[1]


def test_a_table_of_several_formats(tmp_path):
    table = of_format(tmp_path, "parquet", {"id": "INT", "v": "STRING"}, ["id"], **{"write-only": "true"})
    for n, one in enumerate(FORMATS):
        table = Catalog(tmp_path).alter_table("default", "t", [SetOption("file.format", one)])
        write(table, [{"id": n, "v": one}, {"id": 100, "v": one}])
    assert formats_of(table) == sorted(FORMATS)
    wanted = [*({"id": n, "v": one} for n, one in enumerate(FORMATS)), {"id": 100, "v": FORMATS[-1]}]
    assert sorted(read(table), key=lambda row: row["id"]) == wanted
    compact(table)
    assert formats_of(table) == [FORMATS[-1]]
    assert sorted(read(table), key=lambda row: row["id"]) == wanted
    check_invariants(reload(table))


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_column_that_no_file_has(tmp_path, file_format):
    write(of_format(tmp_path, file_format, {"id": "INT"}), [{"id": 1}, {"id": 2}])
    table = Catalog(tmp_path).alter_table("default", "t", [AddColumn("n", parse_type("INT"))])
    assert read(table, columns=["n"]) == [{"n": None}] * 2
    assert table.to_arrow(["n"], IsNull("n")).num_rows == 2
    with pytest.raises(SchemaError, match="'n'"):
        Catalog(tmp_path).alter_table("default", "t", [SetNullability("n", nullable=False)])


def test_formats_of_levels(tmp_path):
    options = {"file.format.per.level": "0:orc", "num-levels": "3"}
    table = of_format(tmp_path, "parquet", {"id": "INT", "v": "STRING"}, ["id"], **options)
    write(table, [{"id": 1, "v": "a"}])
    write(table, [{"id": 1, "v": "b"}])
    found = {e.file.level: e.file.format for e in table.live_files()}
    assert found == {0: "orc", 2: "parquet"}
    assert read(table) == [{"id": 1, "v": "b"}]


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_are_skipped_by_their_bounds(tmp_path, file_format):
    table = of_format(tmp_path, file_format, {"id": "INT", "v": "DOUBLE"})
    write(table, [{"id": n, "v": math.nan} for n in range(10)])
    assert not table.scan(predicate=Compare("id", "=", 10)).files
    assert table.scan(predicate=Compare("id", "=", 9)).files
    assert table.scan(predicate=Compare("v", ">", 1.0)).files, "NaN is greater than every number"


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_roll(tmp_path, file_format):
    table = of_format(tmp_path, file_format, {"id": "INT", "v": "STRING"}, **{"target-file-row-num": "100"})
    write(table, [{"id": n, "v": "x"} for n in range(250)])
    assert sorted(e.file.row_count for e in table.live_files()) == [50, 100, 100]
    assert len(read(table, columns=["v"])) == 250


@pytest.mark.parametrize("file_format", [one for one in FORMATS if one != "parquet"])
def test_a_damaged_file(tmp_path, file_format):
    table = of_format(tmp_path, file_format, {"id": "INT"})
    write(table, [{"id": 1}])
    (entry,) = table.live_files()
    with open(path_of(table, entry), "wb") as file:
        file.write(b"nothing of the kind".ljust(entry.file.file_size))
    with pytest.raises(CorruptDataError, match=f"(?i)not a readable {file_format} file"):
        read(table)
