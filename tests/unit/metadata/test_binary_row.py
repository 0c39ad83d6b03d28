"""BinaryRow bytes are persisted and hashed: they equal what Paimon writes, bit by bit."""

from __future__ import annotations

import struct
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.binary_row_cases import GOLDEN, UTC, VALUES

from tablestore_engine.metadata.binary_row import EMPTY_ROW, decode_column, decode_row, encode_row
from tablestore_engine.metadata.bucket_hash import hash_words
from tablestore_engine.schema.types.types import ArrayType, parse_type


@pytest.mark.parametrize(("types", "values", "data", "hashed"), GOLDEN, ids=lambda one: str(one)[:40])
def test_golden_rows(types, values, data, hashed):
    parsed = [parse_type(one) for one in types]
    assert encode_row(values, parsed).hex() == data
    assert list(decode_row(bytes.fromhex(data), parsed)) == values
    assert [decode_column([bytes.fromhex(data)], i, kind) for i, kind in enumerate(parsed)] == [[v] for v in values]
    assert hash_words(bytes.fromhex(data)[4:]) == hashed


def test_empty_row_is_a_bare_header():
    assert EMPTY_ROW.hex() == "000000000000000000000000"
    assert decode_row(EMPTY_ROW, []) == ()


@pytest.mark.parametrize(("text", "tail"), [("DECIMAL(19, 0)", 16), ("TIMESTAMP(6)", 8)])
def test_null_of_a_wide_value_still_takes_its_tail(text, tail):
    # As Paimon's generated projections write them: the null bit, an offset without a length, and zeros.
    data = encode_row([None], [parse_type(text)])
    assert data.hex() == "00000001" + "0001000000000000" + "0000000010000000" + "00" * tail
    assert decode_row(data, [parse_type(text)]) == (None,)


@pytest.mark.parametrize("number", [0, 127, 128, -128, -129, 10**36 - 1, -(10**36) + 1])
def test_wide_decimals_have_the_fewest_bytes(number):
    kind = parse_type("DECIMAL(38, 0)")
    data = encode_row([Decimal(number)], [kind])
    length = data[12]
    assert len(data) == 4 + 8 + 8 + 16
    assert int.from_bytes(data[20 : 20 + length], "big", signed=True) == number
    bits = number.bit_length() if number >= 0 else (-number - 1).bit_length()
    assert length == bits // 8 + 1
    assert decode_row(data, [kind]) == (Decimal(number),)


def test_null_bits_beyond_the_first_word():
    types = [parse_type("INT")] * 70
    values = [None if i % 3 else i for i in range(70)]
    data = encode_row(values, types)
    assert len(data) == 4 + 16 + 8 * 70
    assert list(decode_row(data, types)) == values


def test_rows_of_another_arity_are_padded_with_nulls():
    one, two = [parse_type("INT")], [parse_type("INT"), parse_type("STRING")]
    assert decode_row(encode_row([1], one), two) == (1, None)
    assert decode_row(encode_row([1, "a"], two), one) == (1,)
    assert decode_row(b"", two) == (None, None)
    several = [encode_row([1], one), encode_row([2, "a"], two), b"", encode_row([3, "longer than 7"], two), EMPTY_ROW]
    assert decode_column(several, 0, two[0]) == [1, 2, None, 3, None]
    assert decode_column(several, 1, two[1]) == [None, "a", None, "longer than 7", None]


def test_nested_values_can_only_be_null():
    nested = ArrayType(parse_type("INT"))
    assert decode_row(encode_row([None, 2], [nested, parse_type("INT")]), [nested, parse_type("INT")]) == (
        None,
        2,
    )
    with pytest.raises(TypeError):
        encode_row([[1]], [nested])


def test_dates_outside_of_the_calendar_are_unknown():
    as_int, as_date = parse_type("INT"), parse_type("DATE")
    assert decode_row(encode_row([10**8], [as_int]), [as_date]) == (None,)
    millis = encode_row([2**62], [parse_type("BIGINT")])
    assert decode_row(millis, [parse_type("TIMESTAMP(3)")]) == (None,)


@pytest.mark.parametrize("cut", [3, 8, 15, 22])
def test_cut_bytes_are_an_error(cut):
    data = encode_row(["a longer text"], [parse_type("STRING")])
    with pytest.raises(ValueError, match=r"needs more|ends at"):
        decode_row(data[:cut], [parse_type("STRING")])
    with pytest.raises(ValueError, match=r"needs more|ends at"):
        decode_column([data, data[:cut]], 0, parse_type("STRING"))


def test_values_that_do_not_fit_are_an_error():
    with pytest.raises(struct.error, match="format requires"):
        encode_row([300], [parse_type("TINYINT")])
    with pytest.raises(ValueError, match="1 values for 2 types"):
        encode_row([1], [parse_type("INT")] * 2)


def test_local_times_are_stored_in_utc():
    kind = [parse_type("TIMESTAMP(6) WITH LOCAL TIME ZONE")]
    berlin = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert encode_row([berlin], kind) == encode_row([datetime(2024, 1, 1, tzinfo=UTC)], kind)
    assert decode_row(encode_row([berlin], kind), kind) == (datetime(2024, 1, 1, tzinfo=UTC),)


@st.composite
def rows(draw):
    types = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=12))
    return types, [draw(st.none() | VALUES[one]) for one in types]


@given(rows())
def test_every_row_round_trips(row):
    types, values = [parse_type(one) for one in row[0]], row[1]
    data = encode_row(values, types)
    assert len(data) % 8 == 4
    assert list(decode_row(data, types)) == values
    assert [decode_column([data, data], at, kind) for at, kind in enumerate(types)] == [[v, v] for v in values]
