"""Rows for the tests of BinaryRow and of the bucket hash: known bytes, and values of every type."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal

from hypothesis import strategies as st

UTC = timezone.utc

# Types, values, bytes and Murmur3 hash, as pypaimon 2.1 encodes them.
GOLDEN = [
    (["INT", "STRING"], [1, "abc"], "00000002000000000000000001000000000000006162630000000083", 261371745),
    (["STRING"], ["seven77"], "000000010000000000000000736576656e373787", 1525755972),
    (["STRING"], ["eight888"], "00000001000000000000000008000000100000006569676874383838", 217642644),
    (
        ["STRING"],
        ["grün und länger"],
        "00000001000000000000000011000000100000006772c3bc6e20756e64206cc3a46e67657200000000000000",
        2115147288,
    ),
    (["BYTES"], [b"\x00\xff"], "00000001000000000000000000ff000000000082", 979549812),
    (
        ["BOOLEAN", "TINYINT", "SMALLINT", "BIGINT"],
        [True, -1, -2, -3],
        "0000000400000000000000000100000000000000ff00000000000000feff000000000000fdffffffffffffff",
        169926720,
    ),
    (
        ["FLOAT", "DOUBLE"],
        [1.5, -0.25],
        "0000000200000000000000000000c03f00000000000000000000d0bf",
        -1615593536,
    ),
    (
        ["DATE", "TIME(3)"],
        [date(1969, 12, 31), time(1, 2, 3, 4000)],
        "000000020000000000000000ffffffff00000000fcce380000000000",
        -1330829947,
    ),
    (["DECIMAL(10, 2)"], [Decimal("-12.34")], "0000000100000000000000002efbffffffffffff", 808378434),
    (
        ["DECIMAL(38, 2)"],
        [Decimal("123456789012345678901234567890.12")],
        "0000000100000000000000000e00000010000000009bd30a3c645943dd1690a03a140000",
        381736916,
    ),
    (
        ["DECIMAL(38, 2)"],
        [Decimal("-1.29")],
        "0000000100000000000000000200000010000000ff7f0000000000000000000000000000",
        -104809469,
    ),
    (
        ["TIMESTAMP(3)"],
        [datetime(2024, 1, 1, 0, 0, 0, 123000)],
        "0000000100000000000000007bf451c28c010000",
        985649424,
    ),
    (
        ["TIMESTAMP(6)"],
        [datetime(1969, 12, 31, 23, 59, 59, 999999)],
        "000000010000000000000000583e0f0010000000ffffffffffffffff",
        1236894319,
    ),
    (
        ["TIMESTAMP(6) WITH LOCAL TIME ZONE"],
        [datetime(2024, 1, 1, tzinfo=UTC)],
        "000000010000000000000000000000001000000000f451c28c010000",
        345246388,
    ),
    (
        ["INT", "STRING", "BIGINT"],
        [None, None, 5],
        "000000030003000000000000000000000000000000000000000000000500000000000000",
        -1868798139,
    ),
    (
        ["STRING", "BYTES"],
        ["first long text", b"second long bytes"],
        (
            "0000000200000000000000000f0000001800000011000000280000006669727374206c6f6e672074657874007365636f6e"
            "64206c6f6e6720627974657300000000000000"
        ),
        432544478,
    ),
]

MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))
VALUES = {
    "BOOLEAN": st.booleans(),
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": st.integers(-(2**15), 2**15 - 1),
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "FLOAT": st.floats(width=32, allow_nan=False),
    "DOUBLE": st.floats(allow_nan=False),
    "STRING": st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    "BYTES": st.binary(max_size=40),
    "DECIMAL(12, 2)": st.integers(-(10**12) + 1, 10**12 - 1).map(lambda one: Decimal(one).scaleb(-2)),
    "DECIMAL(38, 10)": st.integers(-(10**27), 10**27).map(lambda one: Decimal(one).scaleb(-10)),
    "DATE": st.dates(),
    "TIME(3)": st.times().map(lambda one: one.replace(microsecond=one.microsecond // 1000 * 1000)),
    "TIMESTAMP(3)": MOMENTS.map(lambda one: one.replace(microsecond=one.microsecond // 1000 * 1000)),
    "TIMESTAMP(6)": MOMENTS,
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": MOMENTS.map(lambda one: one.replace(tzinfo=UTC)),
}
