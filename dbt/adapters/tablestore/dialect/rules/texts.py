"""Rules for functions of texts: parts by position, lengths, capitals, hashes, names of days."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.counterparts.pattern_texts import text_of_number
from dbt.adapters.tablestore.dialect.rules.intervals import clock_time, instant
from dbt.adapters.tablestore.dialect.rules.json_parts import is_json
from dbt.adapters.tablestore.dialect.rules.matches import groups_in, part_of

_FROM_BEFORE_THE_TEXT: Final = ("postgres", "redshift")
# Blanks and the marks at which words end in Snowflake and BigQuery.
_WORDS_END_AT: Final = r"\s!?@\"^#$&~_,.:;+\-*%/|\\\[\](){}<>"
# Letters of Joda's patterns that mean the same in Spark's.
_TERADATA: Final = {
    "yyyy": "yyyy", "yy": "yy", "mm": "MM", "dd": "dd", "hh24": "HH", "hh": "hh", "mi": "mm", "ss": "ss",
}  # fmt: skip
_MARK: Final = re.compile(r"%([-+ #0',*\d.]*)(.)", re.DOTALL)
_DIGITS: Final = re.compile(r"-?\d*(\.1?\d?)?")
_SHORTEST: Final = (
    "CASE WHEN :a IS NULL THEN NULL WHEN isnan(:a) THEN 'nan' WHEN :a = CAST('Infinity' AS DOUBLE) THEN 'inf' "
    "WHEN :a = CAST('-Infinity' AS DOUBLE) THEN '-inf' WHEN :a = 0 THEN '0' "
    "WHEN CAST(substring_index(format_string('%.#laste', :a), 'e', -1) AS INT) BETWEEN -4 AND #last THEN "
    "regexp_replace(CAST(CAST(format_string('%.#laste', :a) AS DECIMAL(38, 19)) AS STRING), '[.]?0+$', '') "
    "ELSE regexp_replace(format_string('%.#laste', :a), '[.]?0*e', 'e') END"
)
_OF_NUMBER: Final = re.compile(
    r"""(?=(?:[^"90]|"[^"]*")*[90])(?:FM|TH|MI|PL|SG|PR|RN|EEEE|[DGSLVB90.,\s$+%/()#-]|"[^"]*")+""",
    re.IGNORECASE,
)
_CHARACTERS: Final = "if(:a = '', array(''), filter(split(:a, ''), _x -> _x <> ''))"
_TEXT_OF_JSON: Final = "get_json_object(:a, '$')"
_LAST_BYTE: Final = 255
_JODA: Final = frozenset("yMdHhkKmsSaED")


def _substring(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """SUBSTRING from a position before the first character. Spark takes 0 for 1, and counts negative ones from the end;
    some warehouses count on from there, so that fewer characters are left."""
    start, length = node.args.get("start"), node.args.get("length")
    if start is None or dialect == "databricks" or _is_positive(start):
        return None
    if isinstance(start, exp.Literal) and start.is_string:  # SUBSTRING(text FROM pattern)
        return part_of(node.this, start, 1 if groups_in(start.name) else 0)
    text = node.this
    if dialect in _FROM_BEFORE_THE_TEXT:
        before = _test(exp.LT, start, 1)
        length = length and exp.Sub(this=exp.paren(length), expression=_if(before, _minus(1, start), _number(0)))
        return _part(text, _if(before, _number(1), start), length)
    if dialect == "duckdb" and length is not None:
        zero = _test(exp.EQ, start, 0)
        return _part(text, start, exp.Sub(this=exp.paren(length), expression=_if(zero, _number(1), _number(0))))
    beyond = exp.LT(this=exp.paren(start.copy()), expression=exp.Neg(this=exp.Length(this=text.copy())))
    if dialect == "trino":
        outside = exp.or_(_test(exp.EQ, start, 0), beyond)
        return _if(outside, exp.Literal.string(""), _part(text, start, length))
    if dialect == "bigquery" and length is not None:
        return _part(text, _if(beyond, _number(1), start), length)
    return None


def _part(text: exp.Expr, start: exp.Expr, length: exp.Expr | None) -> exp.Expr:
    arguments = [text.copy(), start.copy(), *([length.copy()] if length is not None else [])]
    return exp.Anonymous(this="SUBSTRING", expressions=arguments)


def _if(test: exp.Expr, yes: exp.Expr, no: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="IF", expressions=[test.copy(), yes.copy(), no.copy()])


def _test(kind: type[exp.Binary], value: exp.Expr, number: int) -> exp.Expr:
    return kind(this=exp.paren(value), expression=_number(number))


def _minus(number: int, value: exp.Expr) -> exp.Expr:
    return exp.Sub(this=_number(number), expression=exp.paren(value))


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _is_positive(node: exp.Expr) -> bool:
    """Whether a position is surely 1 or more: a constant, or such as `strpos(a, b) + 1`."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return bool(node.is_int) and int(node.name) > 0
    if isinstance(node, exp.Add):
        counts = (exp.Length, exp.StrPosition)
        return any(isinstance(a.unnest(), counts) and _is_positive(b) for a, b in
                   ((node.this, node.expression), (node.expression, node.this)))  # fmt: skip
    return False


def _end(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """LEFT and RIGHT of a negative number leave so many characters out at the other end; Spark's are empty."""
    count, text = node.expression, node.this
    if dialect not in ("postgres", "duckdb") or (isinstance(count, exp.Literal) and count.is_int):
        return None
    if isinstance(node, exp.Left):
        rest = exp.Add(this=exp.Length(this=text.copy()), expression=exp.paren(count))
        name, part = "LEFT", _part(text, _number(1), rest)
    else:
        name, part = "RIGHT", _part(text, _minus(1, count), None)
    plain = exp.Anonymous(this=name, expressions=[text.copy(), count.copy()])
    return _if(_test(exp.LT, count, 0), part, plain)


def _from_the_end(node: exp.Expr, dialect: str) -> None:
    """A text is looked for from the end where the position is negative; Spark's LOCATE finds nothing then."""
    position = node.args.get("position")
    if isinstance(position, exp.Neg) and dialect != "databricks":
        raise Untranslatable("a search from the end (INSTR with a negative position)")


def _split_part(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Part 0 is the first one in Snowflake, and an error in Spark. One behind the last is null in Trino."""
    number = node.args.get("part_index")
    if dialect == "trino" and number is not None:
        parts = exp.Anonymous(this="SPLIT", expressions=[node.this, _literally(node.args["delimiter"])])
        return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[parts, number.copy()])
    if dialect == "snowflake" and isinstance(number, exp.Literal) and number.name == "0":
        node.set("part_index", _number(1))
    return None


def _token(node: exp.Expr, dialect: str) -> exp.Expr:
    """STRTOK: a part of a text between characters that are delimiters, of which none is empty."""
    number = node.args.get("part_index") or _number(1)
    return exp.Anonymous(this="GET", expressions=[_tokens(node.this, node.args.get("delimiter")), _before(number)])


def _before(number: exp.Expr) -> exp.Expr:
    """A number that counts from 1 as one that counts from 0."""
    if isinstance(number, exp.Literal) and number.is_int:
        return _number(int(number.name) - 1)
    return exp.Sub(this=exp.paren(number), expression=_number(1))


def _all_tokens(node: exp.Expr, dialect: str) -> exp.Expr:
    """STRTOK_TO_ARRAY."""
    return _tokens(node.this, node.expression)


def _tokens(text: exp.Expr, delimiters: exp.Expr | None) -> exp.Expr:
    if delimiters is not None and not (isinstance(delimiters, exp.Literal) and delimiters.is_string):
        raise Untranslatable("STRTOK with computed delimiters")
    given = " " if delimiters is None else delimiters.name
    pattern = exp.Literal.string(f"[{_quoted(given)}]")
    parts = exp.Anonymous(this="SPLIT" if given else "ARRAY", expressions=[text.copy(), *([pattern] if given else [])])
    word = exp.column("w")
    filled = exp.Lambda(this=exp.NEQ(this=word, expression=exp.Literal.string("")), expressions=[word.this.copy()])
    return exp.Anonymous(this="FILTER", expressions=[parts, filled])


def _quoted(characters: str) -> str:
    """Characters within the brackets of a regular expression."""
    return "".join(one if one.isalnum() else f"\\{one}" for one in characters)


def _capitals(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """INITCAP: words end at each of some characters, and in Spark at blanks only. The text is cut behind each."""
    if dialect == "databricks":
        return None
    ends = f"[{_WORDS_END_AT}]" if dialect not in ("postgres", "redshift") else "[^\\p{L}\\p{N}]"
    given = node.args.get("expression")
    if given is not None and dialect in ("snowflake", "bigquery"):
        if not isinstance(given, exp.Literal):
            raise Untranslatable("INITCAP with computed delimiters")
        ends = f"[{_quoted(given.name)}]"
    words = exp.Anonymous(this="SPLIT", expressions=[exp.Lower(this=node.this), exp.Literal.string(f"(?<={ends})")])
    word = exp.column("w")
    first = exp.Anonymous(this="UPPER", expressions=[_part(word, _number(1), _number(1))])
    made = exp.Anonymous(this="CONCAT", expressions=[first, _part(word, _number(2), None)])
    each = exp.Lambda(this=made, expressions=[exp.to_identifier("w")])
    changed = exp.Anonymous(this="TRANSFORM", expressions=[words, each])
    return exp.Anonymous(this="ARRAY_JOIN", expressions=[changed, exp.Literal.string("")])


def _joined(node: exp.Expr, dialect: str) -> None:
    """Redshift's CONCAT is null if a value is null, as Spark's is; others take any value, and a null as an empty
    text."""
    if dialect == "redshift":
        node.set("coalesce", False)
    elif node.args.get("coalesce"):
        node.set("expressions", [_as_text(one) for one in node.expressions])


def _as_text(value: exp.Expr) -> exp.Expr:
    text = isinstance(value, exp.Literal) and value.is_string
    return value.copy() if text else exp.cast(value.copy(), "text")


def _bytes(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="OCTET_LENGTH", expressions=[node.this])


def _digest(node: exp.Expr, dialect: str) -> exp.Expr:
    """SHA-2 as bytes, as some warehouses give it; Spark's is a text of hexadecimal digits."""
    bits = node.args.get("length") or _number(256)
    return exp.Unhex(this=exp.Anonymous(this="SHA2", expressions=[node.this, bits]))


def _sha2(node: exp.Expr, dialect: str) -> exp.Expr:
    bits = node.args.get("length") or _number(256)
    return exp.Anonymous(this="SHA2", expressions=[node.this, bits])


def _repeated(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Trino's REPEAT makes an array."""
    if dialect != "trino":
        return None
    return exp.Anonymous(this="ARRAY_REPEAT", expressions=[node.this, node.args["times"]])


def _literally(text: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string("\\Q"), text, exp.Literal.string("\\E")])


def _from_base(node: exp.Expr, dialect: str) -> exp.Expr:
    digits = exp.Anonymous(this="CONV", expressions=[node.this, node.expression, _number(10)])
    return exp.cast(digits, "bigint")


def _day_or_month(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The names of days and months are whole in DuckDB, and three letters in Spark."""
    if dialect != "duckdb":
        return None
    letters = "EEEE" if isinstance(node, exp.Dayname) else "MMMM"
    return exp.Anonymous(this="DATE_FORMAT", expressions=[node.this, exp.Literal.string(letters)])


def _format(node: exp.Expr, dialect: str) -> None:
    """FORMAT of texts by the marks of printf: Java writes doubles by %f, and no decimals, and `,` for groups."""
    if dialect == "duckdb":
        raise Untranslatable("FORMAT with braces (write PRINTF)")
    pattern = node.this
    marks = list(_MARK.finditer(pattern.name)) if isinstance(pattern, exp.Literal) else []
    other = next((one[0] for one in marks if one[2] not in "sdfeEgGoxX%t" or "*" in one[1]), None)
    if other is None and dialect == "bigquery":
        other = next((one[0] for one in marks if one[2] in "gG" and not _DIGITS.fullmatch(one[1])), None)
    if other is not None and dialect in ("bigquery", "postgres", "trino"):
        raise Untranslatable(f"{other} in the pattern '{pattern.name}' of FORMAT")
    values = iter(list(node.expressions))
    for mark in marks:
        value = next(values, None) if mark[2] != "%" else None
        if value is not None and mark[2] in "gG" and dialect == "bigquery":
            value.replace(_shortest(exp.cast(value.copy(), "double"), mark))
        elif value is not None and mark[2] in "feEgG":
            value.replace(exp.cast(value.copy(), "double"))
        elif value is not None and mark[2] == "t":
            value.replace(exp.cast(value.copy(), "text"))
    if marks and dialect == "bigquery":
        pattern.set("this", _MARK.sub(_java_mark, pattern.name))


def printf(given: list[exp.Expr]) -> exp.Expr:
    """DuckDB's PRINTF, which is FORMAT elsewhere."""
    made = exp.Format(this=given[0], expressions=given[1:])
    _format(made, "")
    return made


def _java_mark(mark: re.Match[str]) -> str:
    """A mark of BigQuery's patterns as one of Java's."""
    if mark[2] in "gG":
        return f"%{mark[1].partition('.')[0]}s"
    return f"%{mark[1].replace(chr(39), ',')}{mark[2].replace('t', 's')}"


def _shortest(number: exp.Expr, mark: re.Match[str]) -> exp.Expr:
    """A number by %g: with so many digits, without zeros at the end, and with an exponent where it is far from 1."""
    digits = max(int(mark[1].partition(".")[2] or ("0" if "." in mark[1] else "6")), 1)
    made = filled(_SHORTEST.replace("#last", str(digits - 1)), [number])
    return exp.Upper(this=made) if mark[2] == "G" else made


def _character(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """CHR of a code point; Spark's is of a byte."""
    code = node.expressions[0] if len(node.expressions) == 1 else None
    if code is None or dialect == "databricks" or (isinstance(code, exp.Literal) and int(code.name) <= _LAST_BYTE):
        return None
    digits = exp.Anonymous(this="HEX", expressions=[exp.cast(code.copy(), "bigint")])
    whole = exp.Anonymous(this="LPAD", expressions=[digits, _number(8), exp.Literal.string("0")])
    return exp.Anonymous(
        this="DECODE", expressions=[exp.Anonymous(this="UNHEX", expressions=[whole]), exp.Literal.string("UTF-32")]
    )


def _of_teradata(pattern: exp.Expr) -> exp.Expr:
    """The pattern of Trino's TO_DATE and TO_TIMESTAMP, such as yyyy-mm-dd hh24:mi:ss."""
    if not isinstance(pattern, exp.Literal):
        raise Untranslatable("TO_DATE with a computed pattern")
    parts = "|".join(sorted(_TERADATA, key=len, reverse=True))
    if re.search("[a-z0-9]", re.sub(parts, "", pattern.name.lower())):
        raise Untranslatable(f"the pattern '{pattern.name}' of TO_DATE")
    return exp.Literal.string(re.sub(parts, lambda found: _TERADATA[found[0]], pattern.name.lower()))


def joda(name: str, arguments: list[exp.Expr]) -> exp.Expr | None:
    """Trino's FORMAT_DATETIME and PARSE_DATETIME, whose patterns are those of Joda; None for another function."""
    spark = {"FORMAT_DATETIME": "DATE_FORMAT", "PARSE_DATETIME": "TO_TIMESTAMP"}.get(name)
    if name in ("TO_DATE", "TO_TIMESTAMP") and len(arguments) == 2:
        return exp.Anonymous(this=name, expressions=[arguments[0], _of_teradata(arguments[1])])
    if spark is None or len(arguments) != 2:
        return None
    pattern = arguments[1]
    if not isinstance(pattern, exp.Literal):
        raise Untranslatable(f"{name} with a computed pattern")
    unquoted = "".join(pattern.name.split("'")[::2])
    strange = sorted({one for one in unquoted if one.isalpha()} - _JODA)
    if strange:
        raise Untranslatable(f"{', '.join(strange)} in the pattern '{pattern.name}' of {name}")
    return exp.Anonymous(this=spark, expressions=arguments)


def _parsed(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if dialect == "bigquery" and node.args.get("format"):
        plain = exp.StrToTime(this=node.this, format=node.args["format"])
        return instant(plain, node.args["zone"]) if node.args.get("zone") else plain
    given = [node.this, node.args["format"]] if node.args.get("format") else []
    return joda("PARSE_DATETIME", given) if dialect == "trino" else None


def _sha1(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Unhex(this=exp.Anonymous(this="SHA1", expressions=[node.this]))


def _number_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TO_CHAR of a number, which sqlglot takes for one of a time, and which pads in another way in Spark."""
    zone, pattern = node.args.get("zone"), node.args.get("format")
    if zone is not None and dialect == "bigquery":
        node.set("zone", None)
        node.set("this", clock_time(node.this, zone))
    text = str(node.meta.get("pattern", pattern.name if isinstance(pattern, exp.Literal) else ""))
    if dialect not in ("postgres", "redshift") or not _OF_NUMBER.fullmatch(text):
        return None
    made = text_of_number(node.this, text)
    if made is None:
        raise Untranslatable(f"TO_CHAR of a number by the pattern '{text}' (write spark__format_number)")
    return made


def _split(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """BigQuery's SPLIT by an empty text: the characters. Trino's SPLIT into so many parts."""
    limit = node.args.get("limit")
    if dialect == "trino" and limit is not None:
        return exp.Anonymous(this="SPLIT", expressions=[node.this, _literally(node.expression), limit])
    if dialect != "bigquery" or not isinstance(node.expression, exp.Literal) or node.expression.name:
        return None
    return filled(_CHARACTERS, [node.this])


def _plain(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """BigQuery's STRING of JSON, which is the text without its quotes."""
    if node.this.unnest().meta.get("json"):
        return filled(_TEXT_OF_JSON, [node.this])
    return exp.cast(node.this, "text") if is_json(node.this) else None


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Substring: _substring,
    exp.Left: _end,
    exp.Right: _end,
    exp.StrPosition: _from_the_end,
    exp.SplitPart: _split_part,
    exp.Strtok: _token,
    exp.StrtokToArray: _all_tokens,
    exp.Repeat: _repeated,
    exp.Split: _split,
    exp.String: _plain,
    exp.ByteLength: _bytes,
    exp.Initcap: _capitals,
    exp.Concat: _joined,
    exp.SHA2Digest: _digest,
    exp.SHA2: _sha2,
    exp.FromBase: _from_base,
    exp.Dayname: _day_or_month,
    exp.Monthname: _day_or_month,
    exp.Format: _format,
    exp.Chr: _character,
    exp.ParseDatetime: _parsed,
    exp.SHA1Digest: _sha1,
    exp.TimeToStr: _number_text,
}
