"""Some rows of a Parquet file, of which only the pages are read that may hold them.

Arrow reads whole row groups. So the pages that are wanted, as the page index of the file says where they are, are put
together into a small Parquet file in memory, and Arrow reads that. Columns whose pages begin at the same rows are
in one such file. A column that has no page index, or is nested, is read by row groups. In a small file rows are sought
in whole columns; its other columns are read, whole too, only if it has one of the rows.

Rows are numbered from 0 in each row group; numbers are given in rising order. A file never changes, so what its page
index says is kept for the next lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tablestore_engine.operation.pages.page_index import MAGIC, Longs, PageIndex, Pages, Sought, exactly
from tablestore_engine.operation.pages.thrift_compact import BINARY, I32, I64, LIST, STRUCT, list_of, struct_bytes
from tablestore_engine.recently_used import RecentlyUsed

Portion = Sequence[tuple[int, Longs]]
"""Row groups, and rows of each."""
_GAP_BYTES = 1 << 14  # two pages so near to one another are read together
_ROWS_AT_ONCE = 1_000_000
_BYTES_AT_ONCE = 128 << 20  # of all threads, of which there is at most one for each processor
_MOST_PAGES = 0.6  # of all pages of a row group, beyond which they are read with it
_INDEXES = 128
WHOLE_BYTES, _WHOLE_ROWS = 512 << 10, 50_000
"""Of a file that is no larger, and has no more rows, whole columns are read."""


class PagedParquet:
    """Reads rows of an open file."""

    def __init__(self, handle: pa.NativeFile, index: PageIndex) -> None:
        self._handle = handle
        self.index = index

    def candidates(self, group: int, sought: Mapping[str, Sought | None]) -> Longs:
        """The rows of a row group that may hold one of the values of each column; any where these are None."""
        rows = self.index.group_rows[group]
        begins, admitted = np.array([0, rows], np.int64), np.array([rows > 0])
        for column, test in sought.items():
            pages = self.index.pages(self._handle, group, column) if test is not None else None
            bounds = self.index.bounds(self._handle, group, column) if pages is not None else None
            if pages is None or test is None or bounds is None:
                continue
            begins, admitted = _both((begins, admitted), (pages.first, test.admitted_by(bounds)))
            if not admitted.any():
                return np.empty(0, np.int64)
        return _rows_in(begins[:-1][admitted], begins[1:][admitted])

    def read(self, portion: Portion, columns: Sequence[str]) -> pa.Table:
        """Columns of rows, in order; without those that the file does not have."""
        files: dict[bytes, _SmallFile] = {}
        found: dict[str, pa.ChunkedArray] = {}
        whole = []
        for column in columns:
            pages = [self.index.pages(self._handle, group, column) for group, _ in portion]
            known = [one for one in pages if one is not None]
            if len(known) < len(pages):
                whole.append(column)
                continue
            key = b"|".join(one.first.tobytes() for one in known)
            files.setdefault(key, _SmallFile(self._handle, self.index, portion)).add(column, known)
        for file in files.values():
            if file.is_most:
                whole += file.columns
            else:
                found |= file.read()
        if whole:
            found |= self._whole(portion, whole)
        names = [column for column in columns if column in found]
        return pa.table([found[name] for name in names], names=names)

    def _whole(self, portion: Portion, columns: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Columns of rows, of which the row groups are read."""
        texts = [one for one in columns if one in self.index.elements]
        numbers = [one for one in texts if all(self.index.is_dictionary(group, one) for group, _ in portion)]
        file = pq.ParquetFile(self._handle, read_dictionary=numbers)
        top = set(file.schema_arrow.names)
        there = [column for column in columns if column in top]
        if not there:
            return {}
        parts = []
        for group, rows in portion:
            table = file.read_row_group(group, columns=there).select(there)
            parts.append(table if len(rows) == table.num_rows else table.take(pa.array(rows)))
        table = pa.concat_tables(parts)
        found = {name: table.column(name) for name in there}
        return found | {name: found[name].cast(found[name].type.value_type) for name in numbers if name in found}


Ranges = tuple[Longs, npt.NDArray[np.bool_]]
"""Ends of ranges of rows, the first one 0, and for each range whether it is meant."""


def _both(one: Ranges, other: Ranges) -> Ranges:
    """The ranges that both mean. There are about as many as pages: rows of a large file are not looked at."""
    begins = one[0] if np.array_equal(one[0], other[0]) else np.union1d(one[0], other[0])
    first, second = (
        meant if np.array_equal(ends, begins) else meant[np.searchsorted(ends, begins[:-1], "right") - 1]
        for ends, meant in (one, other)
    )
    return begins, first & second


def _rows_in(begins: Longs, ends: Longs) -> Longs:
    """The rows of ranges."""
    lengths = ends - begins
    rows: Longs = np.arange(lengths.sum()) + np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    return rows


def look_up(
    handle: pa.NativeFile,
    path: str,
    sought: Mapping[str, pa.Array],
    positions_in: Callable[[pa.Table], Longs],
    columns: Sequence[str],
) -> Iterator[tuple[Longs, pa.RecordBatch]]:
    """Columns of the rows of a file that have values which are `sought`, with the positions of the rows in the file.
    The values of each column come in rising order.

    `positions_in` says at which positions of some rows, given with the sought columns, the wanted ones are.
    """
    for positions, rows in _found(handle, path, sought, positions_in, columns):
        start = 0
        for batch in rows.combine_chunks().to_batches():
            yield positions[start : start + batch.num_rows], batch
            start += batch.num_rows


def find_positions(
    handle: pa.NativeFile, path: str, sought: Mapping[str, pa.Array], positions_in: Callable[[pa.Table], Longs]
) -> Iterator[Longs]:
    """The positions of the rows that `look_up` returns."""
    return (positions for positions, _ in _found(handle, path, sought, positions_in, ()))


def _found(
    handle: pa.NativeFile,
    path: str,
    sought: Mapping[str, pa.Array],
    positions_in: Callable[[pa.Table], Longs],
    columns: Sequence[str],
) -> Iterator[tuple[Longs, pa.Table]]:
    """Positions and columns of wanted rows."""
    whole = pq.ParquetFile(handle) if handle.size() <= WHOLE_BYTES else None
    if whole is not None and whole.metadata.num_rows <= _WHOLE_ROWS:
        yield from _of_whole(whole, list(sought), positions_in, columns)
        return
    file = PagedParquet(handle, _index(path, handle))
    rest = [column for column in columns if column not in sought]
    for positions, wanted, compared in _wanted(file, sought, positions_in):
        read = file.read(wanted, rest) if rest else None
        known = {one.column_names[i]: one.column(i) for one in (compared, read) if one for i in range(one.num_columns)}
        names = [column for column in columns if column in known]
        yield positions, pa.table([known[name] for name in names], names=names)


def _of_whole(
    file: pq.ParquetFile, sought: Sequence[str], positions_in: Callable[[pa.Table], Longs], columns: Sequence[str]
) -> Iterator[tuple[Longs, pa.Table]]:
    """The same of a small file, of which all rows are read: that costs less than its page index."""
    top = set(file.schema_arrow.names)
    if not top.issuperset(sought):
        return
    compared = file.read(columns=list(sought), use_threads=False).select(sought)
    positions = positions_in(compared)
    if not len(positions):
        return
    names = [column for column in columns if column in top]
    rest = [column for column in names if column not in sought]
    read = file.read(columns=rest, use_threads=False) if rest else compared
    rows = pa.table([(read if name in rest else compared).column(name) for name in names], names=names)
    yield positions, rows.take(pa.array(positions))


def rows_at(handle: pa.NativeFile, path: str, positions: Longs, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Columns of the rows of a file at ascending positions."""
    file = PagedParquet(handle, _index(path, handle))
    begins = np.cumsum([0, *file.index.group_rows])
    split = np.split(positions, np.searchsorted(positions, begins[1:-1]))
    for portion in _portions(file, (rows - begin for rows, begin in zip(split, begins[:-1], strict=True))):
        yield from file.read(portion, columns).combine_chunks().to_batches()


def _wanted(
    file: PagedParquet, sought: Mapping[str, pa.Array], positions_in: Callable[[pa.Table], Longs]
) -> Iterator[tuple[Longs, Portion, pa.Table]]:
    """The positions of wanted rows in a file, the same rows by row groups, and their sought columns."""
    begins = np.cumsum([0, *file.index.group_rows])
    tests = {column: file.index.sought(column, values) for column, values in sought.items()}
    candidates = (file.candidates(group, tests) for group in range(len(file.index.group_rows)))
    for portion in _portions(file, candidates):
        compared = file.read(portion, list(sought))
        if compared.num_columns < len(sought):
            return  # a column that the file does not have is null in all of its rows
        found = positions_in(compared)
        wanted = _rows_at(portion, found)
        if wanted:
            positions = np.concatenate([begins[group] + rows for group, rows in wanted])
            yield positions, wanted, compared.take(pa.array(found))


def _portions(file: PagedParquet, by_group: Iterable[Longs]) -> Iterator[Portion]:
    """Rows of all row groups, of some groups each, so that they are not too many at a time, nor too large.

    Those of one row group stay together: of a column without a page index, each portion reads the whole group.
    """
    held: list[tuple[int, Longs]] = []
    count = size = 0
    most = _BYTES_AT_ONCE // pa.cpu_count()
    for group, rows in enumerate(by_group):
        if not len(rows):
            continue
        more = file.index.group_bytes[group] * len(rows) // file.index.group_rows[group]
        if held and (count + len(rows) > _ROWS_AT_ONCE or size + more > most):
            yield held
            held, count, size = [], 0, 0
        held.append((group, rows))
        count, size = count + len(rows), size + more
    if held:
        yield held


def _rows_at(portion: Portion, positions: Longs) -> Portion:
    """The rows at some positions among all rows of a portion."""
    ends = np.cumsum([len(rows) for _, rows in portion])
    split = np.split(positions, np.searchsorted(positions, ends[:-1]))
    parts = zip(portion, split, [0, *ends[:-1]], strict=True)
    return [(group, rows[at - begin]) for (group, rows), at, begin in parts if len(at)]


def _index(path: str, handle: pa.NativeFile) -> PageIndex:
    key = (path, handle.size())
    found = _kept.get(key)
    if found is None:
        found = PageIndex(handle)
        _kept.put(key, found)
    return found


_kept: RecentlyUsed[tuple[str, int], PageIndex] = RecentlyUsed(_INDEXES)


class _SmallFile:
    """A Parquet file in memory, of the pages that hold some rows, for columns whose pages begin at the same rows."""

    def __init__(self, handle: pa.NativeFile, index: PageIndex, portion: Portion) -> None:
        self._handle, self._index, self._portion = handle, index, portion
        self._columns: dict[str, list[Pages]] = {}

    def add(self, column: str, pages: list[Pages]) -> None:
        """Add a column, with its pages in each row group."""
        self._columns[column] = pages

    @property
    def columns(self) -> list[str]:
        """The columns that were added."""
        return list(self._columns)

    @property
    def is_most(self) -> bool:
        """Whether the pages are so many that Arrow reads all pages at less cost."""
        (pages, *_) = self._columns.values()
        chosen = sum(
            np.count_nonzero(np.diff(np.searchsorted(rows, one.first)))
            for (_, rows), one in zip(self._portion, pages, strict=True)
        )
        return bool(chosen > _MOST_PAGES * sum(len(one.offsets) for one in pages))

    def read(self) -> dict[str, pa.ChunkedArray]:
        """The wanted rows."""
        (pages, *_) = self._columns.values()
        chosen, positions, rows_before, counts = [], [], 0, []
        for (_, rows), one in zip(self._portion, pages, strict=True):
            in_page = np.diff(np.searchsorted(rows, one.first))
            picked = np.flatnonzero(in_page)
            lengths = np.diff(one.first)[picked]
            begins = np.cumsum(lengths) - lengths + rows_before
            positions.append(rows + np.repeat(begins - one.first[picked], in_page[picked]))
            chosen.append(picked)
            counts.append(int(lengths.sum()))
            rows_before += counts[-1]
        # Texts stay numbers of their dictionary until only the wanted ones are left.
        numbers = [name for name in self._columns if self._is_dictionary(name)]
        file = pq.ParquetFile(pa.BufferReader(self._bytes(chosen, counts)), read_dictionary=numbers)
        table = file.read()
        wanted = np.concatenate(positions)
        if len(wanted) < table.num_rows:
            table = table.take(pa.array(wanted))
        columns = {name: table.column(name) for name in self._columns}
        return columns | {name: columns[name].cast(columns[name].type.value_type) for name in numbers}

    def _is_dictionary(self, column: str) -> bool:
        return all(self._index.is_dictionary(group, column) for group, _ in self._portion)

    def _bytes(self, chosen: list[Longs], counts: list[int]) -> bytes:
        parts, size, groups = [MAGIC], len(MAGIC), []
        for number, ((group, _), picked, rows) in enumerate(zip(self._portion, chosen, counts, strict=True)):
            chunks, begin = [], size
            for column, pages in self._columns.items():
                dictionary, *data = self._pages_of(group, column, pages[number], picked)
                length = sum(map(len, data))
                chunks.append(self._chunk(group, column, rows, size, len(dictionary), length))
                parts += [dictionary, *data]
                size += len(dictionary) + length
            groups.append(struct_bytes([(1, LIST, list_of(STRUCT, chunks)), (2, I64, size - begin), (3, I64, rows)]))
        elements = [self._index.elements[column][1] for column in self._columns]
        root = struct_bytes([(4, BINARY, self._index.root_name), (5, I32, len(elements))])
        footer = struct_bytes(
            [
                (1, I32, 2),
                (2, LIST, list_of(STRUCT, [root, *elements])),
                (3, I64, sum(counts)),
                (4, LIST, list_of(STRUCT, groups)),
                (6, BINARY, self._index.created_by),
            ]
        )
        return b"".join([*parts, footer, len(footer).to_bytes(4, "little"), MAGIC])

    def _pages_of(self, group: int, column: str, pages: Pages, picked: Longs) -> list[bytes]:
        """The bytes of the dictionary, none where there is none, and of the chosen pages."""
        chunk = self._index.chunk(group, column)
        begin = min(chunk.get(11) or chunk[9], chunk[9])
        first = int(pages.offsets[0])
        dictionary = exactly(self._handle, begin, first - begin) if begin < first else b""
        offsets, sizes = pages.offsets[picked], pages.sizes[picked]
        ends = offsets + sizes
        parts = [dictionary]
        apart = np.flatnonzero(offsets[1:] - ends[:-1] > _GAP_BYTES) + 1
        for low, high in zip([0, *apart], [*apart, len(picked)], strict=True):
            start = int(offsets[low])
            data = exactly(self._handle, start, int(ends[high - 1]) - start)
            if int(sizes[low:high].sum()) == len(data):
                parts.append(data)
            else:
                spans = zip((offsets[low:high] - start).tolist(), (ends[low:high] - start).tolist(), strict=True)
                parts += [data[a:b] for a, b in spans]
        return parts

    def _chunk(self, group: int, column: str, rows: int, at: int, dictionary: int, data: int) -> bytes:
        chunk = self._index.chunk(group, column)
        meta = [
            (1, I32, chunk[1]),
            (2, LIST, list_of(I32, chunk[2])),
            (3, LIST, list_of(BINARY, chunk[3])),
            (4, I32, chunk[4]),
            (5, I64, rows),
            (6, I64, dictionary + data),
            (7, I64, dictionary + data),
            (9, I64, at + dictionary),
            *([(11, I64, at)] if dictionary else []),
        ]
        return struct_bytes([(2, I64, at), (3, STRUCT, struct_bytes(meta))])
