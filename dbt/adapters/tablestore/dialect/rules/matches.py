"""Rules for regular expressions: what is found, whole matches, groups, flags."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.json_parts import call

# A computed text behind the kept beginning. The numbers of its groups would be others.
_COMPUTED: Final = (
    r"concat('$1', if(:a RLIKE '\\\\[0-9&\\\\]', raise_error('REGEXP_REPLACE by a computed text with groups'), "
    r"regexp_replace(:a, '([\\\\$])', '\\\\$1')))"
)
_WITH_PATTERN: Final = (
    exp.RegexpLike, exp.RegexpILike, exp.RegexpReplace, exp.RegexpExtract, exp.RegexpExtractAll, exp.RegexpCount,
    exp.RegexpInstr, exp.RegexpSplit, exp.RegexpFullMatch, exp.SimilarTo,
)  # fmt: skip
_CLASSES: Final = {
    "digit": r"\d", "space": r"\s", "word": r"\w", "alpha": r"\p{Alpha}", "alnum": r"\p{Alnum}",
    "upper": r"\p{Upper}", "lower": r"\p{Lower}", "punct": r"\p{Punct}", "blank": r"\p{Blank}",
    "cntrl": r"\p{Cntrl}", "graph": r"\p{Graph}", "print": r"\p{Print}", "xdigit": r"\p{XDigit}",
}  # fmt: skip
_CLASS: Final = re.compile(rf"\[:({'|'.join(_CLASSES)}):\]")
_BOUNDARIES: Final = {"y": r"\b", "m": r"\b(?=\w)", "M": r"\b(?<=\w)"}
_NO_ESCAPE: Final = ("snowflake", "trino", "duckdb")
_GROUP: Final = re.compile(r"(?<!\\)(?:\\\\)*\((?!\?)")


def write_for_java(tree: exp.Expr, dialect: str) -> None:
    """Change constant patterns: Java takes [[:alpha:]] for some letters, and a backslash in LIKE for an escape."""
    if dialect == "databricks":
        return
    for node in tree.find_all(*_WITH_PATTERN):
        pattern = node.args.get("expression")
        if isinstance(pattern, (exp.Literal, exp.RawString)):
            text = _CLASS.sub(lambda found: _CLASSES[found[1]], pattern.name)
            if dialect in ("postgres", "redshift"):
                text = re.sub(r"\\([ymM])", lambda found: _BOUNDARIES[found[1]], text)
            if text != pattern.name:
                pattern.set("this", text)
    for node in tree.find_all(exp.Like, exp.ILike) if dialect in _NO_ESCAPE else ():
        pattern = node.expression
        if isinstance(pattern, exp.Literal) and not isinstance(node.parent, exp.Escape):
            pattern.set("this", pattern.name.replace("\\", "\\\\"))


def _found_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The match of a pattern, or null. Spark's REGEXP_EXTRACT gives an empty text for no match, and wants a group."""
    if dialect == "databricks":
        return None
    options = _text(node.args.get("parameters"))
    text, group = node.this, node.args.get("group")
    pattern = _with_flags(node.expression, options.replace("e", ""), "REGEXP_SUBSTR")
    if dialect == "duckdb":  # no match is an empty text, as in Spark
        return call("REGEXP_EXTRACT", text, pattern, group or exp.Literal.number(0))
    plain = group is None or group.name == "0"
    if ("e" in options and plain) or (group is None and dialect == "bigquery" and groups_in(node.expression.name)):
        group = exp.Literal.number(1)
    position, occurrence = _constant(node, "position"), _constant(node, "occurrence")
    if position > 1:
        if node.expression.name.startswith("^"):
            raise Untranslatable("REGEXP_SUBSTR of a pattern with ^ from a position behind the first")
        text = call("SUBSTRING", text, exp.Literal.number(position))
    if occurrence > 1:
        listed = call("REGEXP_EXTRACT_ALL", text, pattern, group or exp.Literal.number(0))
        return call("GET", listed, exp.Literal.number(occurrence - 1))
    return part_of(text, pattern, 0 if group is None else group)


def part_of(text: exp.Expr, pattern: exp.Expr, group: exp.Expr | int) -> exp.Expr:
    """The part of a text that a group of a pattern matches, or null."""
    group = exp.Literal.number(group) if isinstance(group, int) else group
    if group.name == "0":
        return call("REGEXP_SUBSTR", text, pattern)
    part = call("REGEXP_EXTRACT", text.copy(), pattern.copy(), group.copy())
    return call("IF", exp.RegexpLike(this=text, expression=pattern), part, exp.Null())


def groups_in(pattern: str) -> int:
    """The number of groups of a pattern that are found by number."""
    return len(_GROUP.findall(pattern))


def _constant(node: exp.Expr, name: str) -> int:
    value = node.args.get(name)
    if value is None:
        return 1
    if not isinstance(value, exp.Literal) or not value.is_int or int(value.name) < 1:
        raise Untranslatable(f"a computed {name} of REGEXP_SUBSTR")
    return int(value.name)


def by_name(name: str, given: list[exp.Expr]) -> exp.Expr | None:
    """Functions of regular expressions that sqlglot does not know; None for another function."""
    if name == "REGEXP_SPLIT_TO_ARRAY" and len(given) == 2:
        return call("SPLIT", *given)
    if name == "REGEXP_MATCHES" and len(given) in (2, 3):
        return _rows_of_matches(*given)
    if name == "REGEXP_MATCH" and len(given) == 2:
        text, pattern = given
        if not isinstance(pattern, exp.Literal):
            raise Untranslatable("REGEXP_MATCH with a computed pattern")
        numbers = range(1, groups_in(pattern.name) + 1) or [0]
        parts = [call("REGEXP_EXTRACT", text.copy(), pattern.copy(), exp.Literal.number(i)) for i in numbers]
        return call("IF", exp.RegexpLike(this=text, expression=pattern), call("ARRAY", *parts), exp.Null())
    return None


def _rows_of_matches(text: exp.Expr, pattern: exp.Expr, flags: exp.Expr | None = None) -> exp.Expr:
    """Postgres' REGEXP_MATCHES: a row for the first match, or by the flag g for each, and none without a match."""
    options = _text(flags)
    if not isinstance(pattern, exp.Literal) or set(options) - set("gi"):
        raise Untranslatable("REGEXP_MATCHES with a computed pattern, or other flags than g and i")
    pattern = exp.Literal.string(f"(?i){pattern.name}") if "i" in options else pattern
    count = groups_in(pattern.name)
    if "g" not in options:
        first = by_name("REGEXP_MATCH", [text, pattern])
        return call("EXPLODE", call("ARRAY_COMPACT", call("ARRAY", *([first] if first is not None else []))))
    if count > 1:
        raise Untranslatable("REGEXP_MATCHES of all matches of several groups (match each group)")
    found = call("REGEXP_EXTRACT_ALL", text, pattern, exp.Literal.number(count))
    one = exp.Lambda(this=call("ARRAY", exp.column("_m")), expressions=[exp.to_identifier("_m")])
    return call("EXPLODE", call("TRANSFORM", found, one))


def _glob(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GLOB by a constant pattern: * is any text, ? a character, and [ab] or [!ab] one of several."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal):
        return None
    parts = re.findall(r"\[!?[^\]]+\]|.", pattern.name, re.DOTALL)
    known = {"*": ".*", "?": "."}
    made = [one.replace("[!", "[^", 1) if len(one) > 1 else known.get(one, re.escape(one)) for one in parts]
    return exp.RegexpLike(this=node.this, expression=exp.Literal.string(f"^(?s:{''.join(made)})$"))


def _matches_any_case(node: exp.Expr, dialect: str) -> exp.Expr:
    pattern = exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string("(?i)"), node.expression])
    return exp.RegexpLike(this=node.this, expression=pattern)


def _replaced_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """All matches are replaced in Spark, and groups are `$1` in the new text."""
    options = _text(node.args.get("modifiers"))
    once = dialect in ("postgres", "duckdb") and "g" not in options
    options = options.replace("g", "") if dialect in ("postgres", "duckdb") else options
    if set(options) - set("cims"):
        raise Untranslatable(f"the parameters '{options}' of REGEXP_REPLACE")
    node.set("modifiers", None)
    if _text(node.args.get("occurrence")) == "0":
        node.set("occurrence", None)
    new = node.args.get("replacement")
    if new is None:
        node.set("replacement", exp.Literal.string(""))
    elif dialect not in ("databricks", "trino") and isinstance(new, (exp.Literal, exp.RawString)):
        added = 1 if once else 0
        groups = re.sub(r"\\(\d)", lambda found: f"${int(found[1]) + added}", new.name.replace("$", r"\$"))
        new.replace(exp.Literal.string(groups))
    if once:
        _replace_first(node)
    node.set("expression", _with_flags(node.expression, options, "REGEXP_REPLACE"))
    return None


def _replace_first(node: exp.Expr) -> None:
    """Only the first match, behind the shortest text from the beginning, which stays."""
    pattern, new = node.expression, node.args["replacement"]
    if not isinstance(pattern, exp.Literal) or re.search(r"\\[1-9]", pattern.name):
        raise Untranslatable("REGEXP_REPLACE of the first match of a computed pattern, or of one that names its groups")
    node.set("expression", exp.Literal.string(rf"^([\s\S]*?)(?:{pattern.name})"))
    if isinstance(new, exp.Literal):
        node.set("replacement", exp.Literal.string(f"$1{new.name}"))
        return
    node.set("replacement", filled(_COMPUTED, [new]))


def _with_flags(pattern: exp.Expr, options: str, name: str) -> exp.Expr:
    """A pattern with the flags of a function; Spark has them in the pattern."""
    if set(options) - set("cims"):
        raise Untranslatable(f"the parameters '{options}' of {name}")
    letters = options.replace("c", "")
    return call("CONCAT", exp.Literal.string(f"(?{letters})"), pattern.copy()) if letters else pattern


def _text(literal: exp.Expr | None) -> str:
    return literal.name if literal is not None else ""


def _similar(node: exp.Expr, dialect: str) -> exp.Expr:
    """SIMILAR TO matches a whole text by a regular expression with the % and _ of LIKE; DuckDB's has not these."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or "\\" in pattern.name:
        raise Untranslatable("SIMILAR TO with a computed or escaped pattern (write a regular expression)")
    text = pattern.name
    if dialect != "duckdb":
        text = "".join({"%": ".*", "_": ".", ".": "[.]", "^": "\\^", "$": "\\$"}.get(one, one) for one in text)
    return exp.RegexpLike(this=node.this, expression=exp.Literal.string(f"^(?s:{text})$"))


def _whole_match(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """REGEXP_LIKE of Snowflake matches whole texts, and Spark's a part of them."""
    flag = node.args.get("flag")
    if node.args.get("full_match"):
        return _whole(node.this, node.expression, _text(flag))
    if flag is None or dialect == "databricks":
        return None
    return exp.RegexpLike(this=node.this, expression=_with_flags(node.expression, _text(flag), "REGEXP_LIKE"))


def _full(node: exp.Expr, dialect: str) -> exp.Expr:
    """DuckDB's REGEXP_FULL_MATCH."""
    return _whole(node.this, node.expression, _text(node.args.get("options")))


def _whole(text: exp.Expr, pattern: exp.Expr, options: str) -> exp.Expr:
    if set(options) - set("cims"):
        raise Untranslatable(f"the parameters '{options}' of REGEXP_LIKE")
    letters = options.replace("c", "")
    opening, closing = (exp.Literal.string(one) for one in (f"(?{letters})" * bool(letters) + "^(?:", ")$"))
    return exp.RegexpLike(this=text, expression=call("CONCAT", opening, pattern, closing))


def _counted(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """REGEXP_COUNT and REGEXP_INSTR of the first match, from the beginning of a text; Spark's have no further
    arguments."""
    if dialect == "databricks":
        return None
    name = "REGEXP_COUNT" if isinstance(node, exp.RegexpCount) else "REGEXP_INSTR"
    for part, plain in (("position", "1"), ("occurrence", "1"), ("option", "0"), ("group", "0")):
        value = node.args.get(part)
        if value is not None and value.name != plain:
            raise Untranslatable(f"the {part} {value.sql()} of {name}")
    options = _text(node.args.get("parameters")).replace("e", "")
    return call(name, node.this, _with_flags(node.expression, options, name))


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.RegexpExtract: _found_text,
    exp.RegexpILike: _matches_any_case,
    exp.RegexpReplace: _replaced_text,
    exp.SimilarTo: _similar,
    exp.Glob: _glob,
    exp.RegexpCount: _counted,
    exp.RegexpInstr: _counted,
    exp.RegexpLike: _whole_match,
    exp.RegexpFullMatch: _full,
}
