"""Spark's text for functions by their names; `:a`, `:b` and `:c` are the arguments, in order.

A name of several texts has one for each number of arguments. A text that is None is a function whose name Spark has,
too, with another meaning, or one that has a reason why it is refused: `REASONS` says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_Texts = Mapping[str, "str | tuple[str, ...]"]

_COMPARED: Final = "CASE WHEN :a > :b THEN 1 WHEN :a < :b THEN -1 WHEN :a = :b THEN 0 END"
_PRESENT: Final = "array_compact(:a)"
_PRODUCT: Final = "aggregate(zip_with(:a, :b, (_x, _y) -> _x * _y), CAST(0 AS DOUBLE), (_t, _x) -> _t + _x)"
_INFINITE: Final = "CAST(:a AS STRING) IN ('Infinity', '-Infinity')"
_FINITE: Final = "CAST(:a AS STRING) NOT IN ('NaN', 'Infinity', '-Infinity')"
_JSON: Final = "if(:a IS NULL, NULL, try_parse_json(:a) IS NOT NULL)"
_URL: Final = "if(try_parse_url(:a, 'PATH') IS NULL, NULL, coalesce(try_parse_url(:a, '{}'), ''))"
_QUOTED: Final = r"concat('\'', replace(CAST(:a AS STRING), '\'', '\'\''), '\'')"
_CODE: Final = "decode(unhex(lpad(hex(CAST({} AS BIGINT)), 8, '0')), 'UTF-32')"

# The first value of each key: entries in the order of keys, without those whose key is that of the one before.
_FIRST_OF_KEYS: Final = (
    "if(count(:a) = 0, NULL, element_at(transform(array(array_sort(collect_list(if(:a IS NULL, NULL, "
    "named_struct('k', :a, 'v', :b))), (_x, _y) -> CASE WHEN _x.k < _y.k THEN -1 WHEN _x.k > _y.k THEN 1 ELSE 0 END)), "
    "_l -> map_from_entries(filter(_l, (_x, _i) -> _i = 0 OR _x.k <> get(_l, _i - 1).k))), 1))"
)

_PARSED_URL: Final = (
    "to_json(named_struct('scheme', try_parse_url(:a, 'PROTOCOL'), 'host', try_parse_url(:a, 'HOST'), "
    "'port', nullif(regexp_extract(try_parse_url(:a, 'AUTHORITY'), ':([0-9]+)$', 1), ''), "
    "'path', substring(try_parse_url(:a, 'PATH'), 2), 'query', try_parse_url(:a, 'QUERY'), "
    "'fragment', try_parse_url(:a, 'REF'), 'parameters', str_to_map(try_parse_url(:a, 'QUERY'), '&', '=')))"
)
# The hash of a namespace and a name, with the version 5 and the variant of RFC 9562.
_NAMED_UUID: Final = (
    "element_at(transform(array(sha1(concat(unhex(replace(:a, '-', '')), CAST(:b AS BINARY)))), _h -> concat("
    "left(_h, 8), '-', substring(_h, 9, 4), '-5', substring(_h, 14, 3), '-', translate(substring(_h, 17, 1), "
    "'0123456789abcdef', '89ab89ab89ab89ab'), substring(_h, 18, 3), '-', substring(_h, 21, 12))), 1)"
)
_HISTOGRAM: Final = (
    "if(count(:a) = 0, NULL, element_at(transform(array(collect_list(:a)), _l -> map_from_entries(transform("
    "array_distinct(_l), _k -> struct(_k, CAST(size(filter(_l, _x -> _x = _k)) AS BIGINT))))), 1))"
)
_VALUES_OF_KEYS: Final = (
    "if(count(:a) = 0, NULL, element_at(transform(array(collect_list(if(:a IS NULL, NULL, named_struct('k', :a, 'v', "
    ":b)))), _l -> map_from_entries(transform(array_distinct(transform(_l, _x -> _x.k)), _k -> struct(_k, transform("
    "filter(_l, _x -> _x.k = _k), _x -> _x.v))))), 1))"
)

_SNOWFLAKE: Final[_Texts] = {
    "ARRAYS_TO_OBJECT": "to_json(map_from_arrays(:a, :b))",
    "BASE64_DECODE_STRING": "CAST(unbase64(:a) AS STRING)",
    "CHECK_JSON": "if(:a IS NOT NULL AND try_parse_json(:a) IS NULL, 'no JSON', NULL)",
    "BOOLAND": "CAST(:a AS BOOLEAN) AND CAST(:b AS BOOLEAN)",
    "BOOLNOT": "NOT CAST(:a AS BOOLEAN)",
    "BOOLOR": "CAST(:a AS BOOLEAN) OR CAST(:b AS BOOLEAN)",
    "BOOLXOR_AGG": "count_if(CAST(:a AS BOOLEAN)) = 1",
    "HEX_DECODE_STRING": "CAST(unhex(:a) AS STRING)",
    "HLL": "approx_count_distinct(:a)",
    "MD5_NUMBER_LOWER64": "CAST(conv(right(md5(:a), 16), 16, 10) AS DECIMAL(20, 0))",
    "MD5_NUMBER_UPPER64": "CAST(conv(left(md5(:a), 16), 16, 10) AS DECIMAL(20, 0))",
    "NORMAL": ("", "", ":a + :b * randn()"),
    "PARSE_URL": (_PARSED_URL, _PARSED_URL),
    "REGR_VALX": "if(:a IS NULL, NULL, :b)",
    "REGR_VALY": "if(:b IS NULL, NULL, :a)",
    "RTRIMMED_LENGTH": "length(rtrim(:a))",
    "STRIP_NULL_VALUE": ":a",
    "TO_OBJECT": ":a",
    "TO_VARIANT": ":a",
    "TRY_BASE64_DECODE_STRING": "CAST(try_to_binary(:a, 'base64') AS STRING)",
    "TRY_HEX_DECODE_STRING": "CAST(try_to_binary(:a, 'hex') AS STRING)",
    "UUID": ("", _NAMED_UUID),
}
_BIGQUERY: Final[_Texts] = {
    "ARRAY_CONCAT_AGG": "flatten(collect_list(:a))",
    "ARRAY_FIRST": "element_at(:a, 1)",
    "ARRAY_IS_DISTINCT": "size(array_distinct(:a)) = size(:a)",
    "ARRAY_LAST": "element_at(:a, -1)",
    "CODE_POINTS_TO_STRING": f"array_join(transform(:a, _x -> {_CODE.format('_x')}), '')",
    "ERROR": "raise_error(:a)",
    "IEEE_DIVIDE": (
        "CASE WHEN :a IS NULL OR :b IS NULL THEN NULL WHEN :b <> 0 THEN CAST(:a AS DOUBLE) / :b "
        "WHEN :a > 0 THEN CAST('Infinity' AS DOUBLE) WHEN :a < 0 THEN CAST('-Infinity' AS DOUBLE) "
        "ELSE CAST('NaN' AS DOUBLE) END"
    ),
    "IS_INF": _INFINITE,
    "PARSE_BIGNUMERIC": "CAST(:a AS DECIMAL(38, 9))",
    "PARSE_NUMERIC": "CAST(:a AS DECIMAL(38, 9))",
    "RANGE_BUCKET": "if(:a IS NULL, NULL, size(filter(:b, _x -> _x <= :a)))",
    "SAFE_CONVERT_BYTES_TO_STRING": "CAST(:a AS STRING)",
    "SAFE_NEGATE": "try_subtract(0, :a)",
    "TO_CODE_POINTS": "transform(filter(split(:a, ''), _x -> _x <> ''), _x -> ascii(_x))",
}
_POSTGRES: Final[_Texts] = {
    "ARRAY_LOWER": ("", "if(size(:a) > 0, 1, NULL)"),
    "ARRAY_REPLACE": "transform(:a, _x -> if(_x <=> :b, :c, _x))",
    "ARRAY_UPPER": ("", "nullif(size(:a), 0)"),
    "CLOCK_TIMESTAMP": "current_timestamp()",
    "ISFINITE": "if(:a IS NULL, NULL, TRUE)",
    "QUOTE_LITERAL": _QUOTED,
    "QUOTE_NULLABLE": f"coalesce({_QUOTED}, 'NULL')",
    "REGEXP_SPLIT_TO_TABLE": "explode(split(:a, :b))",
    "STATEMENT_TIMESTAMP": "current_timestamp()",
    "STRING_TO_TABLE": r"explode(split(:a, concat('\\Q', :b, '\\E')))",
    "TRANSACTION_TIMESTAMP": "current_timestamp()",
    "TRIM_ARRAY": "slice(:a, 1, size(:a) - :b)",
}
_REDSHIFT: Final[_Texts] = {
    "ARRAY_FLATTEN": "flatten(:a)",
    "BITAND": ":a & :b",
    "CAN_JSON_PARSE": _JSON,
    "CRC32": "lpad(lower(hex(crc32(:a))), 8, '0')",
    "DATE_CMP": _COMPARED,
    "DATE_PART_YEAR": "year(:a)",
    "DEXP": "exp(:a)",
    "DLOG1": "ln(:a)",
    "DLOG10": "log10(:a)",
    "HLL": "approx_count_distinct(:a)",
    "IS_VALID_JSON": _JSON,
    "IS_VALID_JSON_ARRAY": "if(:a IS NULL, NULL, json_array_length(:a) IS NOT NULL)",
    "JSON_SERIALIZE": ":a",
    "QUOTE_LITERAL": _QUOTED,
    "SUBARRAY": ("", "slice(:a, :b + 1, size(:a))", "slice(:a, :b + 1, :c)"),
    "TIMESTAMP_CMP": _COMPARED,
}
_DUCKDB: Final[_Texts] = {
    "ADD": ":a + :b",
    "ARBITRARY": "any_value(:a)",
    "ARRAY_POP_BACK": "slice(:a, 1, greatest(size(:a) - 1, 0))",
    "ARRAY_PUSH_BACK": "array_append(:a, :b)",
    "CENTURY": "CAST(ceil(year(:a) / 100) AS BIGINT)",
    "CONSTANT_OR_NULL": "if(:b IS NULL, NULL, :a)",
    "COUNT_STAR": "count(*)",
    "DECADE": "CAST(floor(year(:a) / 10) AS BIGINT)",
    "DIVIDE": ":a div :b",
    "EPOCH_NS": "unix_micros(CAST(:a AS TIMESTAMP)) * 1000",
    "EPOCH_US": "unix_micros(CAST(:a AS TIMESTAMP))",
    "ERROR": "raise_error(:a)",
    "FAVG": "avg(CAST(:a AS DOUBLE))",
    "FDIV": "floor(:a / :b)",
    "FSUM": "sum(CAST(:a AS DOUBLE))",
    "GET_CURRENT_TIMESTAMP": "current_timestamp()",
    "HISTOGRAM": _HISTOGRAM,
    "ISFINITE": _FINITE,
    "IS_INF": _INFINITE,
    "JSON_KEYS": "json_object_keys(:a)",
    "JSON_VALID": _JSON,
    "KAHAN_SUM": "sum(CAST(:a AS DOUBLE))",
    "LIST_AVG": f"aggregate({_PRESENT}, CAST(0 AS DOUBLE), (_t, _x) -> _t + _x) / nullif(size({_PRESENT}), 0)",
    "LIST_ANY_VALUE": f"get({_PRESENT}, 0)",
    "LIST_COUNT": f"size({_PRESENT})",
    "LIST_DOT_PRODUCT": _PRODUCT,
    "LIST_INNER_PRODUCT": _PRODUCT,
    "LIST_FIRST": "get(:a, 0)",
    "LIST_LAST": "try_element_at(:a, -1)",
    "LIST_MAX": "array_max(:a)",
    "LIST_MIN": "array_min(:a)",
    "LIST_REDUCE": "aggregate(slice(:a, 2, size(:a)), element_at(:a, 1), :b)",
    "LIST_RESIZE": (
        "",
        "concat(slice(:a, 1, :b), array_repeat(NULL, greatest(:b - size(:a), 0)))",
        "concat(slice(:a, 1, :b), array_repeat(:c, greatest(:b - size(:a), 0)))",
    ),
    "LIST_SELECT": "transform(:b, _i -> get(:a, _i - 1))",
    "LIST_STRING_AGG": "array_join(:a, ',')",
    "LIST_UNIQUE": f"size(array_distinct({_PRESENT}))",
    "LIST_WHERE": "filter(:a, (_x, _i) -> get(:b, _i))",
    "MAKE_TIMESTAMP_MS": "timestamp_millis(:a)",
    "MAP_CONTAINS": "map_contains_key(:a, :b)",
    "MICROSECOND": "CAST(extract(SECOND FROM :a) * 1000000 AS BIGINT)",
    "MILLENNIUM": "CAST(ceil(year(:a) / 1000) AS BIGINT)",
    "MULTIPLY": ":a * :b",
    "NANOSECOND": "CAST(extract(SECOND FROM :a) * 1000000000 AS BIGINT)",
    "ORD": "ascii(:a)",
    "PARSE_FILENAME": "regexp_extract(:a, '[^/]*$', 0)",
    "PRODUCT": (
        "if(count(:a) = 0, NULL, aggregate(collect_list(CAST(:a AS DOUBLE)), CAST(1 AS DOUBLE), (_t, _x) -> _t * _x))"
    ),
    "REGEXP_SPLIT_TO_TABLE": "explode(split(:a, :b))",
    "ROUND_EVEN": "bround(:a, :b)",
    "SUBTRACT": ":a - :b",
    "SUMKAHAN": "sum(CAST(:a AS DOUBLE))",
    "TO_BINARY": "bin(:a)",
    "TO_WEEKS": ":a * INTERVAL '7' DAY",
    "URL_ENCODE": "replace(url_encode(:a), '+', '%20')",
    "YEARWEEK": "extract(YEAROFWEEK FROM :a) * 100 + weekofyear(:a)",
}
_TRINO: Final[_Texts] = {
    "ARRAY_FIRST": "get(:a, 0)",
    "BITWISE_LEFT_SHIFT": "shiftleft(:a, :b)",
    "BITWISE_RIGHT_SHIFT": "shiftrightunsigned(:a, :b)",
    "CODEPOINT": "ascii(:a)",
    "GEOMETRIC_MEAN": "exp(avg(ln(:a)))",
    "INDEX": "instr(:a, :b)",
    "INFINITY": "CAST('Infinity' AS DOUBLE)",
    "IS_FINITE": _FINITE,
    "IS_INFINITE": _INFINITE,
    "JSON_ARRAY_CONTAINS": (
        "array_contains(transform(from_json(:a, 'ARRAY<VARIANT>'), _x -> to_json(_x)), to_json(CAST(:b AS VARIANT)))"
    ),
    "HISTOGRAM": _HISTOGRAM,
    "MULTIMAP_AGG": _VALUES_OF_KEYS,
    "MAP_AGG": _FIRST_OF_KEYS,
    "NAN": "CAST('NaN' AS DOUBLE)",
    "REGEXP_POSITION": "coalesce(nullif(regexp_instr(:a, :b), 0), -1)",
    "TO_BASE": "concat(if(:a < 0, '-', ''), lower(conv(abs(:a), 10, :b)))",
    "TRIM_ARRAY": "slice(:a, 1, size(:a) - :b)",
    "URL_EXTRACT_FRAGMENT": _URL.format("REF"),
    "URL_EXTRACT_HOST": _URL.format("HOST"),
    "URL_EXTRACT_PARAMETER": "try_parse_url(:a, 'QUERY', :b)",
    "URL_EXTRACT_PATH": "try_parse_url(:a, 'PATH')",
    "URL_EXTRACT_PORT": ("CAST(nullif(regexp_extract(try_parse_url(:a, 'AUTHORITY'), ':([0-9]+)$', 1), '') AS BIGINT)"),
    "URL_EXTRACT_PROTOCOL": _URL.format("PROTOCOL"),
    "URL_EXTRACT_QUERY": _URL.format("QUERY"),
}
TEMPLATES: Final[Mapping[str, _Texts]] = {
    "snowflake": _SNOWFLAKE,
    "bigquery": _BIGQUERY,
    "postgres": _POSTGRES,
    "redshift": _REDSHIFT,
    "duckdb": _DUCKDB,
    "trino": _TRINO,
}
_AGE: Final = (
    "AGE of anything but years, months, days or, in Postgres, the epoch in it (write extract(year from age(a, b)))"
)
REASONS: Final[Mapping[tuple[str, str], str]] = {
    ("snowflake", "TIME_FROM_PARTS"): "TIME_FROM_PARTS (keep the time as a text)",
    ("snowflake", "CONDITIONAL_CHANGE_EVENT"): (
        "CONDITIONAL_CHANGE_EVENT (count the rows whose value is not that of lag(…), in an outer query)"
    ),
    ("bigquery", "FARM_FINGERPRINT"): (
        "FARM_FINGERPRINT, whose hash Spark does not have (write spark__xxhash64(s) where any hash will do: its values "
        "are others)"
    ),
    ("bigquery", "LAX_BOOL"): "LAX_BOOL (write safe_cast(json_value(j) as bool))",
    ("bigquery", "LAX_FLOAT64"): "LAX_FLOAT64 (write safe_cast(json_value(j) as float64))",
    ("bigquery", "LAX_INT64"): "LAX_INT64 (write safe_cast(json_value(j) as int64))",
    ("bigquery", "LAX_STRING"): "LAX_STRING (write json_value(j))",
    ("trino", "XXHASH64"): "XXHASH64, of which Spark's has other values (write spark__xxhash64 where any hash will do)",
    ("duckdb", "MAKE_TIME"): "MAKE_TIME (keep the time as a text)",
    ("postgres", "MAKE_TIME"): "MAKE_TIME (keep the time as a text)",
    ("duckdb", "COLUMNS"): "COLUMNS(…) outside of a select list or WHERE (name the columns)",
    **dict.fromkeys((("postgres", "AGE"), ("duckdb", "AGE")), _AGE),
    ("postgres", "PG_TYPEOF"): "PG_TYPEOF, which names the types of its warehouse (write spark__typeof)",
    ("redshift", "PG_TYPEOF"): "PG_TYPEOF, which names the types of its warehouse (write spark__typeof)",
}
"""Why a function is refused, and the way out."""
