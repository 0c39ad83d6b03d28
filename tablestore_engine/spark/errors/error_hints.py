"""Hints of errors: the Spark SQL to write instead of what only other warehouses understand.

Each rule is about one of Spark's messages; some also look at the statement, for words that Spark never takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tablestore_engine.schema.types.foreign_types import EXACT_NUMBERS, INSTEAD, SYNONYMS

INSTEAD_OF_FUNCTIONS = {
    "array_cat": "concat(a, b)",
    "array_length": "size(array)",
    "array_to_string": "array_join(array, ',')",
    "booland_agg": "bool_and(condition)",
    "boolor_agg": "bool_or(condition)",
    "contains_substr": "contains(text, part)",
    "countif": "count_if(condition)",
    "datetime_diff": "timestampdiff(DAY, begin, end)",
    "div0": "coalesce(try_divide(a, b), 0)",
    "ends_with": "endswith(text, part)",
    "farm_fingerprint": "xxhash64(value)",
    "format_date": "date_format(date, 'yyyy-MM-dd')",
    "format_timestamp": "date_format(time, 'yyyy-MM-dd HH:mm:ss')",
    "from_hex": "unhex(text)",
    "gen_random_uuid": "uuid()",
    "generate_series": "explode(sequence(1, 3))",
    "generate_uuid": "uuid()",
    "getdate": "current_timestamp()",
    "iff": "if(condition, a, b)",
    "json_extract": "get_json_object(text, '$.key')",
    "json_extract_path_text": "get_json_object(text, '$.key')",
    "json_extract_scalar": "get_json_object(text, '$.key')",
    "json_value": "get_json_object(text, '$.key')",
    "list_contains": "array_contains(array, value)",
    "logical_and": "bool_and(condition)",
    "logical_or": "bool_or(condition)",
    "newid": "uuid()",
    "object_construct": "named_struct('key', value)",
    "offset": "get(array, 0)",
    "ordinal": "element_at(array, 1)",
    "parse_date": "to_date(text, 'yyyy-MM-dd')",
    "parse_timestamp": "to_timestamp(text, 'yyyy-MM-dd HH:mm:ss')",
    "regexp_contains": "regexp_like(text, pattern)",
    "safe_divide": "try_divide(a, b)",
    "safe_offset": "get(array, 0)",
    "safe_ordinal": "try_element_at(array, 1)",
    "starts_with": "startswith(text, part)",
    "strftime": "date_format(time, 'yyyy-MM-dd')",
    "strpos": "instr(text, part)",
    "strptime": "to_timestamp(text, 'yyyy-MM-dd HH:mm:ss')",
    "sysdate": "current_timestamp()",
    "timestamp_add": "timestampadd(DAY, 1, time)",
    "timestamp_diff": "timestampdiff(DAY, begin, end)",
    "to_hex": "hex(value)",
    "to_json_string": "to_json(value)",
    "unnest": "explode(array)",
    "uuid_string": "uuid()",
}
"""Functions that only other warehouses have, with the text to write instead."""
_TYPE = re.compile(r'Unsupported data type "([\w ]+)')
_UNIT = re.compile(r"`unit` in `(\w+)` is invalid: .* but got the string literal '(\w+)'", re.DOTALL)
_DISTINCT = re.compile(r"\[DISTINCT_WINDOW_FUNCTION_UNSUPPORTED\](?P<several>[^(]*\(DISTINCT [^()]*,)?")
_ROUTINE = re.compile(r"Cannot resolve routine (?:`[^`]+`\.)*`(\w+)`")


def _of_type(found: re.Match[str]) -> str | None:
    name = found[1].strip().upper()
    if name in SYNONYMS:
        return f"Use {SYNONYMS[name]}."
    return "Use DECIMAL(precision, scale)." if name in EXACT_NUMBERS else INSTEAD.get(name)


def _of_unit(found: re.Match[str]) -> str:
    return f"Write the unit without quotes: {found[1]}({found[2].upper()}, …)."


def _of_routine(found: re.Match[str]) -> str | None:
    instead = INSTEAD_OF_FUNCTIONS.get(found[1].lower())
    return None if instead is None else f"Write {instead}."


def _of_distinct(found: re.Match[str]) -> str:
    if found["several"]:
        row = "if(x IS NULL OR y IS NULL, NULL, struct(x, y))"
        return f"Instead of count(DISTINCT x, y) OVER (…) write size(collect_set({row}) OVER (…))."
    return "Instead of count(DISTINCT x) OVER (…) write size(collect_set(x) OVER (…))."


def _always(hint: str) -> Callable[[re.Match[str]], str]:
    return lambda found: hint


_MESSAGES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]], ...] = (
    (re.compile(r"\[DATATYPE_MISSING_SIZE\]"), _always("Write STRING, which has no length.")),
    (_TYPE, _of_type),
    (_UNIT, _of_unit),
    (
        re.compile(r"\[COLUMN_IS_NOT_VARIANT_TYPE\]"),
        _always(
            "Of a JSON text take get_json_object(value, '$.key'), of a STRUCT value.key, of a MAP value['key']; "
            "parse_json(value) makes a VARIANT of a text."
        ),
    ),
    (_DISTINCT, _of_distinct),
    (_ROUTINE, _of_routine),
    (
        re.compile(r"\[WRONG_NUM_ARGS\S*\] The `to_(?:var)?char` "),
        _always("Write CAST(value AS STRING), or to_char(value, format)."),
    ),
)
# Words of a statement that does not parse.
_STATEMENTS = (
    (re.compile(r"\bselect\s+top\s+\(?\d+", re.IGNORECASE), "Instead of TOP n write LIMIT n at the end of the query."),
    (re.compile(r"\*\s*exclude\b", re.IGNORECASE), "Write * EXCEPT (…)."),
    (re.compile(r"\bsafe_cast\s*\(", re.IGNORECASE), "Instead of SAFE_CAST write TRY_CAST."),
    (re.compile(r"\blimit\s+\d+\s*,\s*\d+", re.IGNORECASE), "Instead of LIMIT skip, n write LIMIT n OFFSET skip."),
)


# A unit of time that is read as a column, and the functions that take it first, as a text.
_UNIT_AS_COLUMN = re.compile(
    r"\[UNRESOLVED_COLUMN\S*\] [^`]*`(year|quarter|month|week|day|hour|minute|second)`", re.IGNORECASE
)
_TRUNC = re.compile(r"\b(date|timestamp|datetime)_trunc\s*\(", re.IGNORECASE)

DIALECT = "In dbt, a model keeps the SQL of another warehouse when its config `dialect` names it."
"""The end of every hint."""


def error_hint(message: str, statement: str = "") -> str | None:
    """The text to write instead; None when a message is about something else. `statement`: the text that Spark got."""
    instead = _instead(message, statement)
    return None if instead is None else f"{instead} {DIALECT}"


def _instead(message: str, statement: str) -> str | None:
    for pattern, make in _MESSAGES:
        found = pattern.search(message)
        hint = make(found) if found else None
        if hint is not None:
            return hint
    unit = _UNIT_AS_COLUMN.search(message)
    if unit and _TRUNC.search(statement):
        return f"Write the unit first, as a text: date_trunc('{unit[1].upper()}', time)."
    if "[PARSE_SYNTAX_ERROR]" in message:
        return next((hint for pattern, hint in _STATEMENTS if pattern.search(statement)), None)
    return None
