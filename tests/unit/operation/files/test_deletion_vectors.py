"""Tables with deletion vectors, read without Spark; `tests/interop/test_java_deletion_vectors.py` has Java's own."""

from __future__ import annotations

import pytest
from support.deletion_vectors import delete_positions, with_options
from support.tables import arrow_rows, make_table

from tablestore_engine.errors import CorruptMetadataError, OptionError
from tablestore_engine.operation.table_commands.arrow_write import write_arrow

VECTORS = {"deletion-vectors.enabled": "true"}


def write(table, ids):
    write_arrow(table.state, arrow_rows(table.schema, [{"id": i, "v": f"v{i}"} for i in ids]))


def ids_of(table, **more):
    return sorted(table.to_arrow(**more).column("id").to_pylist())


def first_file(table):
    return min(table.live_files(), key=lambda e: e.file.min_sequence_number).file.file_name


@pytest.fixture
def append(catalog):
    table = make_table(catalog, {"id": "BIGINT", "v": "STRING"})
    write(table, range(200_000))
    write(table, range(200_000, 200_010))
    return with_options(catalog, table, VECTORS)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_rows_of_a_table_without_a_key(append, wide, counts):
    removed = {0, 65_535, 65_536, 199_999, *range(70_000, 140_000)}
    before = append.latest_snapshot()
    delete_positions(append, {first_file(append): removed}, wide=wide, counts=counts)
    assert ids_of(append) == [i for i in range(200_010) if i not in removed]
    assert ids_of(append, snapshot=before) == list(range(200_010))
    found = append.statistics()
    assert (found.row_count, found.row_count_exact) == (200_010 - len(removed), True)


def test_nothing_is_written_where_unmerged_rows_count(catalog, append):
    append = with_options(catalog, append, {"deletion-vectors.merge-on-read": "true"})
    before = append.latest_snapshot()
    for action in (lambda: write(append, [1]), append.write_target, lambda: append.roll_back(1)):
        with pytest.raises(OptionError, match=r"'deletion-vectors.merge-on-read' = 'true' is not supported"):
            action()
    assert append.latest_snapshot() == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-3], "ends early"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "checksum"),
        (lambda data: b"\x01\x00" + data[1:], "no deletion vector of"),
    ],
)
def test_damaged_vectors_are_named(append, damage, message):
    delete_positions(append, {first_file(append): [1, 2]})
    (entry,) = append.index_files()
    path = append.paths.index_file(entry.file_name)
    append.io.write(path, damage(append.io.read(path)))
    with pytest.raises(CorruptMetadataError, match=message) as raised:
        append.to_arrow()
    assert entry.file_name in str(raised.value)


@pytest.fixture
def keyed(catalog):
    """A file at the top level and two of level 0; the keys 10 … 19 are in two of them."""
    table = make_table(catalog, {"id": "BIGINT", "v": "STRING"}, ["id"], options={"bucket": "1", "write-only": "true"})
    for ids in (range(20), range(10, 30), range(40, 45)):
        write(table, ids)
    return table


def test_level_0_waits_for_a_compaction(catalog, keyed):
    assert len(ids_of(keyed)) == 35
    table = with_options(catalog, keyed, VECTORS)
    assert ids_of(table) == list(range(20))
    assert table.statistics().row_count == 20
    delete_positions(table, {first_file(table): [3]})
    assert ids_of(table) == [i for i in range(20) if i != 3]
    assert table.statistics().row_count == 19


def test_level_0_is_merged_without_its_deleted_rows(catalog, keyed):
    table = with_options(catalog, keyed, {**VECTORS, "deletion-vectors.merge-on-read": "true"})
    newest = max(table.live_files(), key=lambda e: e.file.min_sequence_number).file.file_name
    delete_positions(table, {first_file(table): range(5), newest: [4]})
    assert ids_of(table) == [*range(5, 30), *range(40, 44)]
    found = table.statistics()
    assert (found.row_count, found.row_count_exact) == (29, True)
