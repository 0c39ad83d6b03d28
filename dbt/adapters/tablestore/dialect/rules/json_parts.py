"""Rules for JSON, which is text here: paths take their parts from it, and structs are written as it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp, parse_one

from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_TEXTS: Final = "ARRAY<STRING>"
_VARIANTS: Final = "ARRAY<VARIANT>"
_TIME: Final = "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]"
_WITH_NULLS: Final = (
    "ignoreNullFields", "false", "timestampFormat", f"{_TIME}[XXX]", "timestampNTZFormat", _TIME,
)  # fmt: skip
_PLAIN_TIME: Final = "yyyy-MM-dd HH:mm:ss.SSS"
_CONSTANTS: Final = (exp.Literal, exp.Boolean, exp.Null)
_ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("JSONB_ARRAY_ELEMENTS", "JSON_ARRAY_ELEMENTS"), ("value",)),
    **dict.fromkeys(("JSONB_ARRAY_ELEMENTS_TEXT", "JSON_ARRAY_ELEMENTS_TEXT"), ("value",)),
    **dict.fromkeys(("JSONB_EACH", "JSON_EACH", "JSONB_EACH_TEXT", "JSON_EACH_TEXT"), ("key", "value")),
    **dict.fromkeys(("JSONB_OBJECT_KEYS", "JSON_OBJECT_KEYS"), ("jsonb_object_keys",)),
}
"""Functions of Postgres that give rows, with the names of their columns."""
_OF_ANY_VALUE: Final = ("bigquery", "postgres", "duckdb")
_BUILDERS: Final = ("JSONB_BUILD_OBJECT", "JSON_BUILD_OBJECT")


def _is_json(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type("json", "jsonb"))
    if isinstance(node, exp.Literal) and node.is_string and node.name[:1] in ("{", "["):
        try:
            json.loads(node.name)
        except ValueError:
            return False
        return True
    return isinstance(node, (exp.JSONExtract, exp.ParseJSON)) and not isinstance(node, exp.JSONExtractScalar)


def _parsed(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """PARSE_JSON: the text. Databricks' VARIANT is Spark's."""
    if dialect == "databricks":
        return call("TRY_PARSE_JSON" if node.args.get("safe") else "PARSE_JSON", node.this)
    text = exp.cast(node.this.copy(), "text")
    text.meta["json"] = True
    if not node.args.get("safe"):
        return text
    return call("NVL2", call("TRY_PARSE_JSON", text.copy()), text, exp.Null())


def _object(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """OBJECT_CONSTRUCT: without the keys whose values are null, as TO_JSON makes it of a struct."""
    if dialect != "snowflake":
        return None
    pairs = [(one.this if isinstance(one, exp.PropertyEQ) else None, one.expression) for one in node.expressions]
    key, value = pairs[0] if len(pairs) == 1 else (None, None)
    if key is not None and value is not None and not isinstance(key, (exp.Literal, exp.Identifier)):
        absent = exp.or_(*(exp.Is(this=exp.paren(one), expression=exp.Null()) for one in (key, value)))
        made = call("TO_JSON", _map(key, value), _plain_times())
        return call("IF", absent, exp.Literal.string("{}"), made)
    if any(not isinstance(key, (exp.Literal, exp.Identifier)) for key, _ in pairs):
        raise Untranslatable("OBJECT_CONSTRUCT with computed keys (write spark__to_json(spark__map(…)))")
    struct = _struct([(key.name, value) for key, value in pairs if key is not None])
    constant = all(isinstance(value.unnest(), _CONSTANTS) for _, value in pairs)
    return call("TO_JSON", struct) if constant else call("TO_JSON", struct, _plain_times())


def _object_with_nulls(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """JSON_OBJECT."""
    pairs = [(one.this, one.expression) for one in node.expressions if isinstance(one, exp.JSONKeyValue)]
    if dialect == "databricks" or len(pairs) < len(node.expressions):
        return None
    return _keeping_nulls(pairs)


def built(name: str, given: Sequence[exp.Expr]) -> exp.Expr | None:
    """JSONB_BUILD_OBJECT('k', v, …); None for another function."""
    if name not in _BUILDERS or len(given) % 2:
        return None
    return _keeping_nulls(list(zip(given[::2], given[1::2], strict=True)))


def _keeping_nulls(pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    if len(pairs) == 1 and not isinstance(pairs[0][0], exp.Literal):
        return call("TO_JSON", _map(*pairs[0]), with_nulls())
    if any(not isinstance(key, exp.Literal) for key, _ in pairs):
        raise Untranslatable("a JSON object with computed keys (write spark__to_json(spark__map(…)))")
    return call("TO_JSON", _struct([(key.name, value) for key, value in pairs]), with_nulls())


def _plain_times() -> exp.Expr:
    """The options of TO_JSON that write times as Snowflake does: with three digits behind the seconds, without zone."""
    pairs = ("timestampFormat", _PLAIN_TIME, "timestampNTZFormat", _PLAIN_TIME)
    return call("MAP", *(exp.Literal.string(one) for one in pairs))


def with_nulls() -> exp.Expr:
    """The options of TO_JSON that keep nulls, and all digits of times: Spark's pattern has three of six."""
    return call("MAP", *(exp.Literal.string(one) for one in _WITH_NULLS))


def _struct(pairs: Sequence[tuple[str, exp.Expr]]) -> exp.Expr:
    parts: list[exp.Expr] = []
    for key, given in pairs:
        parts += [exp.Literal.string(key), _member(key, given)]
    return call("NAMED_STRUCT", *parts)


def _member(key: str, given: exp.Expr) -> exp.Expr:
    value = variant_of(given) if is_part(given) else given
    if _is_json(value):
        raise Untranslatable(f"a JSON object of a part of JSON without a cast ('{key}')")
    named = isinstance(value, exp.Anonymous) and value.name == "TO_JSON"
    return (value.expressions[0] if named else value).copy()  # type: ignore[no-any-return]


def _map(key: exp.Expr, value: exp.Expr) -> exp.Expr:
    return call("MAP", exp.cast(key.copy(), "text"), _member(key.sql(), value))


def _row(node: exp.Expr, dialect: str) -> exp.Expr | None:
    return call("TO_JSON", call("STRUCT", exp.Star()), _plain_times()) if dialect == "snowflake" else None


def _text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TO_JSON and JSON_FORMAT of JSON, which is text already. BigQuery, Postgres and DuckDB make JSON of any value."""
    if dialect in ("snowflake", "trino") or (dialect in _OF_ANY_VALUE and is_json(node.this)):
        return node.this
    return json_of_any(node.this) if dialect in _OF_ANY_VALUE else None


def json_of_any(value: exp.Expr) -> exp.Expr:
    """Any value as JSON, with its nulls; Spark's TO_JSON takes no numbers and texts."""
    options = with_nulls()
    inner = value.unnest()
    listed = isinstance(inner, exp.Anonymous) and inner.name in ("STRUCT", "NAMED_STRUCT", "ARRAY", "MAP")
    if listed or isinstance(inner, (exp.Array, exp.Struct)):
        return call("TO_JSON", value.copy(), options)
    held = call("TO_JSON", call("NAMED_STRUCT", exp.Literal.string("v"), value.copy()), options)
    around = exp.Literal.number(len('{"v":}'))
    length = exp.Sub(this=exp.Length(this=held.copy()), expression=around)
    return call("SUBSTRING", held, around.copy(), length)


def _part(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A part by a path: `lax $.a` of SQL/JSON, DuckDB's pointers, a plain key, or a path of Databricks' VARIANT."""
    path = node.expression
    if dialect == "databricks":
        return None
    if isinstance(path, exp.Literal) and path.is_string:
        further = [one.name for one in node.expressions if isinstance(one, exp.Literal) and one.is_string]
        whole = "".join([_path(path.name, dialect), *(f"[{one}]" if one.isdigit() else f".{one}" for one in further)])
        return call("GET_JSON_OBJECT", node.this, exp.Literal.string(whole))
    if dialect == "duckdb" and isinstance(path, exp.DPipe) and next(path.flatten()).name.startswith("$"):
        return call("GET_JSON_OBJECT", node.this, path)
    computed = not isinstance(path, (exp.JSONPath, exp.Literal))
    if computed and dialect in ("postgres", "redshift", "duckdb", "snowflake"):
        raise Untranslatable("a computed key of JSON (write spark__get_json_object(j, concat('$.', k)))")
    return None


def _path(given: str, dialect: str) -> str:
    if dialect == "trino":
        return given.removeprefix("lax ").removeprefix("strict ").strip()
    if dialect == "duckdb" and given.startswith("/"):
        keys = given[1:].replace("~1", "/").replace("~0", "~").split("/")
        return "$" + "".join(f"[{one}]" if one.isdigit() else f".{one}" for one in keys)
    return given if given.startswith("$") or dialect not in ("redshift", "duckdb", "postgres") else f"$.{given}"


def _value(node: exp.Expr, dialect: str) -> exp.Expr:
    """JSON_VALUE(j, path RETURNING type)."""
    path, kind = node.args["path"], node.args.get("returning")
    if node.args.get("on_condition") or not isinstance(path, exp.Literal):
        raise Untranslatable("JSON_VALUE with a computed path, or with ON ERROR or ON EMPTY")
    found = call("GET_JSON_OBJECT", node.this, exp.Literal.string(_path(path.name, "trino")))
    return exp.Cast(this=found, to=kind.copy()) if isinstance(kind, exp.DataType) else found


def _elements(node: exp.Expr, dialect: str) -> exp.Expr:
    """JSON_EXTRACT_ARRAY: the elements as JSON, so that texts are in quotes."""
    return json_elements(_at(node))


def _values(node: exp.Expr, dialect: str) -> exp.Expr:
    """JSON_VALUE_ARRAY: the elements as texts."""
    return call("FROM_JSON", _at(node), exp.Literal.string(_TEXTS))


def _at(node: exp.Expr) -> exp.Expr:
    path = node.expression
    return node.this if path is None else exp.JSONExtract(this=node.this, expression=path)


def json_of(value: exp.Expr) -> exp.Expr:
    """A value as JSON, so that a text is in quotes."""
    return call("TO_JSON", exp.cast(value.copy(), "variant"))


def json_elements(of: exp.Expr) -> exp.Expr:
    """The elements of a JSON array as JSON."""
    element = exp.to_identifier("e")
    to_text = exp.Lambda(this=call("TO_JSON", element.copy()), expressions=[element])
    return call("TRANSFORM", call("FROM_JSON", of, exp.Literal.string(_VARIANTS)), to_text)


def _has_key(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' j ? 'k': whether an object has a key, or an array a text."""
    return _key_in(node.this, node.expression)


def _has_keys(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' j ?| array['a', 'b'], and ?& for all of them."""
    keys = node.expression.unnest()
    if not isinstance(keys, exp.Array) or not keys.expressions:
        raise Untranslatable("?| and ?& with a computed array of keys")
    tests = [_key_in(node.this, one) for one in keys.expressions]
    join = exp.and_ if isinstance(node, exp.JSONBContainsAllTopKeys) else exp.or_
    return exp.paren(join(*tests), copy=False)


def _key_in(value: exp.Expr, key: exp.Expr) -> exp.Expr:
    of_object = call("ARRAY_CONTAINS", call("JSON_OBJECT_KEYS", value.copy()), key.copy())
    elements = call("FROM_JSON", value.copy(), exp.Literal.string(_TEXTS))
    return call("COALESCE", of_object, call("ARRAY_CONTAINS", elements, key.copy()))


def rows_of(source: exp.Expr, alias: exp.TableAlias | None, dialect: str) -> tuple[exp.Expr, exp.TableAlias] | None:
    """Postgres' functions that give the rows of a JSON text, with the alias of these; None for another source."""
    name = source.name.upper() if isinstance(source, exp.Anonymous) else ""
    names = _ROWS.get(name)
    if dialect != "postgres" or names is None or not isinstance(source, exp.Anonymous) or len(source.expressions) != 1:
        return None
    given = source.expressions[0]
    table = alias.this if alias is not None and alias.this else exp.to_identifier(name.lower())
    columns = list(alias.columns) if alias is not None else []
    if not columns and len(names) == 1:
        columns = [table.copy() if _is_used(source, table.name) else exp.to_identifier(names[0])]
    columns = columns or [exp.to_identifier(one) for one in names]
    return _generator(name, given), exp.TableAlias(this=table.copy(), columns=[one.copy() for one in columns])


def _is_used(source: exp.Expr, name: str) -> bool:
    """Whether a query uses the alias of a source as a column."""
    select = source.find_ancestor(exp.Select)
    columns = select.find_all(exp.Column) if select is not None else ()
    return any(not one.table and one.name.lower() == name.lower() for one in columns)


def _generator(name: str, of: exp.Expr) -> exp.Expr:
    if name.endswith("_KEYS"):
        return call("EXPLODE", call("JSON_OBJECT_KEYS", of))
    if name.endswith(("_EACH", "_EACH_TEXT")):
        return call("EXPLODE", call("FROM_JSON", of, exp.Literal.string("MAP<STRING, STRING>")))
    listed = call("FROM_JSON", of, exp.Literal.string(_TEXTS)) if name.endswith("_TEXT") else json_elements(of)
    return call("EXPLODE", listed)


def listed_rows(name: str, given: Sequence[exp.Expr], dialect: str) -> exp.Expr | None:
    """Such a function in a select list; None for another one."""
    single = dialect == "postgres" and len(_ROWS.get(name, ())) == 1 and len(given) == 1
    return _generator(name, given[0]) if single else None


def is_json_text(value: exp.Expr) -> bool:
    """Whether a value is surely a JSON text: parsed, or a part of one."""
    return any(map(_gives_json, value.walk()))


def is_json(value: exp.Expr) -> bool:
    """Whether a value itself is surely a JSON text, not only one of which it is computed."""
    value = value.unnest()
    given = [value.this, *value.expressions] if isinstance(value, exp.Coalesce) else [value]
    return any(map(_gives_json, given))


def _gives_json(one: exp.Expr) -> bool:
    called = isinstance(one, exp.Anonymous) and one.name == "GET_JSON_OBJECT"
    return called or isinstance(one, (exp.JSONExtract, exp.ParseJSON)) or bool(one.meta.get("json"))


def variant_of(value: exp.Expr) -> exp.Expr:
    """A JSON text, or a part of one, as a variant, which can be a JSON null. What GET_JSON_OBJECT takes from a text is
    an SQL null then."""
    value = value.unnest()
    if isinstance(value, exp.Anonymous) and value.name == "GET_JSON_OBJECT":
        source, path = value.expressions
        return call("VARIANT_GET", call("TRY_PARSE_JSON", source.copy()), path.copy())
    if isinstance(value, exp.JSONExtract) and isinstance(value.expression, exp.JSONPath):
        path = parse_one(value.expression.sql("spark"), read="spark")
        return call("VARIANT_GET", call("TRY_PARSE_JSON", value.this.copy()), path)
    return call("TRY_PARSE_JSON", value.copy())


def is_part(value: exp.Expr) -> bool:
    """Whether a value is parsed JSON, or what a constant path takes from it, so that `variant_of` knows its kind."""
    value = value.unnest()
    if isinstance(value, exp.Anonymous) and value.name == "GET_JSON_OBJECT":
        return True
    known = isinstance(value, exp.JSONExtract) and isinstance(value.expression, exp.JSONPath)
    return known or bool(value.meta.get("json"))


def _is_null(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's v:a IS NULL, which is false of a JSON null."""
    value = node.this.unnest()
    called = isinstance(value, exp.Anonymous) and value.name == "GET_JSON_OBJECT"
    part = called or (isinstance(value, exp.JSONExtract) and isinstance(value.expression, exp.JSONPath))
    if dialect != "snowflake" or not part or not isinstance(node.expression, exp.Null):
        return None
    return exp.Is(this=variant_of(value), expression=exp.Null())


def _field(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """parse_json(j).a and object('a', 1).a of BigQuery and Redshift."""
    inner, name = node.this.unnest(), node.expression
    if dialect not in ("bigquery", "redshift") or not isinstance(name, exp.Identifier):
        return None
    made = isinstance(inner, exp.ParseJSON) or (isinstance(inner, exp.Anonymous) and inner.name == "TO_JSON")
    if made:
        return call("GET_JSON_OBJECT", inner, exp.Literal.string(f"$.{name.name}"))
    return step_into(inner, f".{name.name}")


def step_into(value: exp.Expr, step: str) -> exp.Expr | None:
    """A further step of a path into a JSON text; None where the value is none for sure."""
    if isinstance(value, exp.Anonymous) and value.name == "GET_JSON_OBJECT":
        return call("GET_JSON_OBJECT", value.expressions[0], exp.Literal.string(value.expressions[1].name + step))
    return call("GET_JSON_OBJECT", value, exp.Literal.string(f"${step}")) if value.meta.get("json") else None


def _boolean(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.cast(node.this, "boolean")


def _double(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.cast(node.this, "double")


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.ParseJSON: _parsed,
    exp.Struct: _object,
    exp.StarMap: _row,
    exp.JSONFormat: _text,
    exp.JSONExtract: _part,
    exp.JSONExtractScalar: _part,
    exp.JSONValue: _value,
    exp.JSONExtractArray: _elements,
    exp.JSONValueArray: _values,
    exp.JSONObject: _object_with_nulls,
    exp.JSONBContainsTopKey: _has_key,
    exp.JSONBContainsAnyTopKeys: _has_keys,
    exp.JSONBContainsAllTopKeys: _has_keys,
    exp.Dot: _field,
    exp.JSONBool: _boolean,
    exp.Float64: _double,
    exp.Is: _is_null,
}
