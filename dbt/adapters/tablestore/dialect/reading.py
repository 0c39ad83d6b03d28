"""Reading a text in the SQL of another warehouse: its one query as a tree of sqlglot."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, build_formatted_time
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.casts import number_type

_TIMES: Final = ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "TIMESTAMPLTZ", "DATETIME")
_BEHIND_INTERVAL: Final = (["INTERVAL", "STRING", "PLUS"], ["INTERVAL", "STRING", "DASH"])
_FRAME_ENDS: Final = (["PRECEDING"], ["FOLLOWING"], ["ROW"])
_LITERAL: Final = 3  # tokens: DATE '2024-01-01' ::
_DECIMAL: Final = re.compile(r"[+-]?(\d*)(?:\.(\d*))?")
_WORDS: Final = {
    "CAST": TokenType.VAR, "AS": TokenType.ALIAS, "(": TokenType.L_PAREN, ")": TokenType.R_PAREN, ",": TokenType.COMMA,
}  # fmt: skip
_DEPTHS: Final = ("1", "2")
_HOURS: Final = re.compile(r'"[^"]*"|((?<!FM)hh(12|24)?)', re.IGNORECASE)
_OVER_LISTS: Final = re.compile(r"(?:LIST|ARRAY|APPLY|FILTER|REDUCE|TRANSFORM|MAP)(?![A-Z])", re.IGNORECASE)
# Functions that are another one by a second name, which sqlglot does not know.
_SAME: Final[Mapping[str, Mapping[str, str]]] = {
    "snowflake": {
        **dict.fromkeys(("TRY_TO_TIMESTAMP_NTZ", "TRY_TO_TIMESTAMP_LTZ", "TRY_TO_TIMESTAMP_TZ"), "TRY_TO_TIMESTAMP"),
        "TO_TIMESTAMP_TZ": "TO_TIMESTAMP_LTZ",
    },
    "redshift": {"GET_ARRAY_LENGTH": "ARRAY_SIZE", "ISNULL": "COALESCE"},
    "duckdb": {
        "ARRAY_AGGREGATE": "LIST_AGGREGATE", "LIST_AGGR": "LIST_AGGREGATE", "ARRAY_UNIQUE": "LIST_UNIQUE",
        "ARRAY_TRANSFORM": "LIST_TRANSFORM", "ARRAY_APPLY": "LIST_TRANSFORM", "LIST_APPLY": "LIST_TRANSFORM",
        "APPLY": "LIST_TRANSFORM", "ARRAY_REDUCE": "LIST_REDUCE", "REDUCE": "LIST_REDUCE",
        "ARRAY_VALUE": "LIST_VALUE", "LIST_PACK": "LIST_VALUE", "ARRAY_EXTRACT": "LIST_EXTRACT",
        "LIST_ELEMENT": "LIST_EXTRACT", "ARRAY_HAS_ANY": "LIST_HAS_ANY", "ARRAY_ZIP": "LIST_ZIP",
        "ARRAY_INDEXOF": "LIST_POSITION", "LIST_INDEXOF": "LIST_POSITION", "LIST_SLICE": "ARRAY_SLICE",
        "LIST_CAT": "LIST_CONCAT", "ROW": "STRUCT",
        "JSON_TRANSFORM": "FROM_JSON", "MEAN": "AVG",
    },
}  # fmt: skip


def _named(name: str) -> Callable[[Sequence[Any]], exp.Expr]:
    return lambda given: exp.Anonymous(this=name, expressions=list(given))


def _time_to_text(given: Sequence[Any], dialect: Dialect) -> exp.Expr:
    """TO_CHAR, with its pattern as it is written: sqlglot's has not the case of letters."""
    if len(given) < len(("time", "pattern")) or not given[1].is_string:
        return build_formatted_time(exp.TimeToStr)(list(given), dialect)  # type: ignore[no-any-return]
    pattern = _HOURS.sub(lambda found: found[0] if found[1] is None else f"HH{found[2] or 12}", given[1].name)
    made: exp.Expr = build_formatted_time(exp.TimeToStr)([given[0], exp.Literal.string(pattern)], dialect)
    made.meta["pattern"] = pattern
    return made


# Functions that are read in another way than by sqlglot.
_OWN: Final[Mapping[str, Mapping[str, Callable[..., exp.Expr]]]] = {
    "snowflake": {name: _named(name) for name in ("MD5_NUMBER_LOWER64", "MD5_NUMBER_UPPER64")},
    "redshift": {"ADD_MONTHS": exp.AddMonths.from_arg_list, "TO_CHAR": _time_to_text},
    "postgres": {"TO_CHAR": _time_to_text, "REGEXP_SUBSTR": exp.RegexpExtract.from_arg_list},
}


def query_of(sql: str, dialect: str) -> exp.Expr:
    """The tree of the one query in a text."""
    source = source_dialect(dialect)
    tokens = _typed_literals_in_parentheses(_with_decimals(source.tokenize(sql), dialect))
    _refuse_lost_literals(tokens)
    trees = [one for one in source.parser().parse(tokens, sql) if one is not None]
    if len(trees) > 1:
        raise Untranslatable("several statements: a model is one query")
    pivot = dialect == "duckdb" and bool(trees) and isinstance(trees[0], exp.Pivot)  # which becomes a query later
    if not trees or not (pivot or isinstance(trees[0], exp.Query)):
        raise Untranslatable(_no_query(trees[0] if trees else None))
    for one in list(trees[0].find_all(exp.Dot)) if dialect == "bigquery" else ():
        if one.this.name.upper() == "SAFE" and isinstance(one.this, exp.Identifier):
            function = sqlglot.parse_one(one.expression.sql("bigquery"), read=source)
            one.replace(exp.SafeFunc(this=function))  # SAFE.SPLIT(…)[OFFSET(0)]
    for whole in list(trees[0].find_all(exp.ParseJSON)) if dialect == "bigquery" else ():
        _read_json_literal(whole)
    for part in list(trees[0].find_all(exp.Bracket)) if dialect in ("postgres", "trino") else ():
        _count_from_zero(part)
    _locate_parameters(trees[0], tokens)
    if dialect == "duckdb":
        _read_lists_of_patterns(trees[0])
        _read_depths(trees[0])
    return _with_json_arrows(trees[0]) if dialect == "duckdb" else trees[0]


def _read_lists_of_patterns(tree: exp.Expr) -> None:
    """DuckDB's STRPTIME(text, [pattern, …]), which takes the first pattern that fits."""
    for node in list(tree.find_all(exp.StrToTime, exp.Anonymous)):
        tried = node.name.upper() == "TRY_STRPTIME" and len(node.expressions) == 2
        if not isinstance(node, exp.StrToTime) and not tried:
            continue
        text, given = node.expressions if tried else (node.this, node.args["format"])
        patterns = given.expressions if isinstance(given, exp.Array) else []
        parsed = [exp.StrToTime(this=text.copy(), format=one.copy(), safe=True) for one in patterns]
        if parsed:
            parsed[-1].set("safe", tried)
            node.replace(exp.Coalesce(this=parsed[0], expressions=parsed[1:]) if parsed[1:] else parsed[0])


def _read_depths(tree: exp.Expr) -> None:
    """DuckDB's UNNEST(list, max_depth := 2) of lists of lists."""
    for node in list(tree.find_all(exp.Explode)):
        for given in node.expressions:
            name = given.this.name.lower() if isinstance(given, exp.PropertyEQ) else ""
            if name != "max_depth" or given.expression.name not in _DEPTHS:
                with about(node):
                    raise Untranslatable(
                        "UNNEST with recursive, or with a depth beyond 2 (write max_depth := 2 for lists of lists, and "
                        "name the fields of structs)"
                    )
            node.set("expressions", [])
            if given.expression.name == "2":
                present = sqlglot.parse_one("list_filter(l, _l -> _l is not null)", read="duckdb")
                present.set("this", node.this.copy())
                node.set("this", exp.Flatten(this=present))


def _locate_parameters(tree: exp.Expr, tokens: Sequence[Any]) -> None:
    """Note the positions of $1 and @name, which sqlglot does not keep."""
    names = iter([other for one, other in pairwise(tokens) if one.token_type is TokenType.PARAMETER])
    for node in tree.find_all(exp.Parameter, bfs=False):
        found = next((one for one in names if one.text == node.name), None)
        if found is not None:
            node.meta.update({"line": found.line, "col": found.col, "start": found.start, "end": found.end})


def _read_json_literal(whole: exp.Expr) -> None:
    """JSON '{"a": 1}'.a as the field of a literal; sqlglot reads a literal that is a field."""
    start = whole.this
    while isinstance(start, exp.Dot):
        start = start.this
    if whole.args.get("is_literal") and isinstance(start, exp.Literal) and start is not whole.this:
        start.replace(exp.ParseJSON(this=start.copy(), is_literal=True))
        whole.replace(whole.this)


def _count_from_zero(part: exp.Expr) -> None:
    """The index in (a || b)[1] as that of other arrays: sqlglot takes `||` for a text, whose indexes it leaves."""
    index = part.expressions[0]
    if isinstance(part.this.unnest(), exp.DPipe) and isinstance(index, exp.Literal) and index.is_int:
        kind = part.this.unnest().type
        if kind is not None and not kind.is_type("unknown", "array"):
            index.replace(exp.Literal.number(int(index.name) - 1))


def _with_json_arrows(tree: exp.Expr) -> exp.Expr:
    """DuckDB's coalesce(j->'a', 'none') as the part of a JSON value that it is. sqlglot reads a lambda; but outside of
    functions of lists, one that makes a text of a name is none."""
    for one in list(tree.find_all(exp.Lambda)):
        start = one.this
        while isinstance(start, (exp.JSONExtract, exp.JSONExtractScalar)):
            start = start.this
        over_lists = isinstance(one.parent, exp.Func) and _OVER_LISTS.match(one.parent.sql("duckdb"))
        if over_lists or len(one.expressions) > 1 or not start.is_string:
            continue
        column = exp.column(one.expressions[0].copy())
        part = exp.JSONExtract(this=column, expression=Dialect.get_or_raise("duckdb").to_json_path(start.copy()))
        if start is one.this:
            one.replace(part)
        else:
            start.replace(part)
            one.replace(one.this)
    return tree


def _no_query(tree: exp.Expr | None) -> str:
    if tree is None:
        return "the text is empty"
    word = (tree.name if isinstance(tree, exp.Command) else tree.key).upper()
    return f"the text is not one query that begins with SELECT, WITH or FROM, but {word}"


def _typed_literals_in_parentheses(tokens: Sequence[Any]) -> list[Any]:
    """Parentheses around the date in `date '2024-01-01'::varchar`, where sqlglot would cast the text, not the date, and
    around the text in `interval '1 day' + '2024-01-01'::date`, which it takes for an interval."""
    made: list[Any] = []
    for token in tokens:
        made.append(token)
        if token.token_type is not TokenType.DCOLON or len(made) < _LITERAL:
            continue
        kind, text = made[-3:-1]
        before = made[-4].token_type if len(made) > _LITERAL else None
        typed = kind.token_type.name in _TIMES and text.token_type is TokenType.STRING
        if typed and before is not TokenType.DCOLON:
            made.insert(-1, Token(TokenType.R_PAREN, ")", text.line, text.col, text.start, text.end))
            made.insert(-4, Token(TokenType.L_PAREN, "(", kind.line, kind.col, kind.start, kind.end))
        elif [one.token_type.name for one in made[-5:-2]] in _BEHIND_INTERVAL and text.token_type is TokenType.STRING:
            made.insert(-1, Token(TokenType.R_PAREN, ")", text.line, text.col, text.start, text.end))
            made.insert(-3, Token(TokenType.L_PAREN, "(", text.line, text.col, text.start, text.end))
    return made


def _with_decimals(tokens: Sequence[Any], dialect: str) -> list[Any]:
    """Trino's DECIMAL '1.50' as CAST('1.50' AS DECIMAL(3, 2)): sqlglot's has no digits behind the point."""
    made: list[Any] = []
    for token in tokens:
        made.append(token)
        kinds = [one.token_type.name for one in made[-2:]] if dialect == "trino" else []
        if kinds != ["DECIMAL", "STRING"]:
            continue
        digits = _DECIMAL.fullmatch(token.text.strip())
        if digits is None:
            raise _at(Untranslatable(f"DECIMAL '{token.text}', which is no number"), made[-2], token)
        whole, behind = digits[1].lstrip("0"), digits[2] or ""
        size = ("(", str(max(len(whole) + len(behind), 1)), ",", str(len(behind)), ")")
        words = ("CAST", "(", token, "AS", made[-2], *size, ")")
        made[-2:] = [_token(one, token) if isinstance(one, str) else one for one in words]
    return made


def _token(text: str, near: Any) -> Any:
    kind = TokenType.NUMBER if text.isdigit() else _WORDS[text]
    return Token(kind, text, near.line, near.col, near.start, near.end)


def _at(error: Untranslatable, first: Any, last: Any) -> Untranslatable:
    error.span = (first.start, last.end)
    return error


def _refuse_lost_literals(tokens: Sequence[Any]) -> None:
    """Raise Untranslatable for an INTERVAL '1 day 02:00', of which sqlglot drops a part, and for windows by groups,
    which it reads in another way."""
    _refuse_groups(tokens)
    for word, text in pairwise(tokens):
        kinds = (word.token_type.name, text.token_type.name)
        if kinds == ("INTERVAL", "STRING") and re.search(r"[a-z].*:", text.text, re.IGNORECASE):
            reason = f"the interval '{text.text}' (write '{text.text}'::interval, or a sum of two)"
            raise _at(Untranslatable(reason), word, text)


def _refuse_groups(tokens: Sequence[Any]) -> None:
    """Raise Untranslatable for GROUPS BETWEEN 1 PRECEDING AND …, or GROUPS UNBOUNDED PRECEDING."""
    words = [one.text.upper() for one in tokens]
    for at, word in enumerate(words):
        bound = at + 1 + (words[at + 1 : at + 2] == ["BETWEEN"])
        if word == "GROUPS" and words[bound + 1 : bound + 2] in _FRAME_ENDS:
            reason = (
                "GROUPS in a window (number the groups by dense_rank() in an inner query, and write RANGE over these "
            )
            raise _at(Untranslatable(f"{reason}numbers)"), tokens[at], tokens[bound + 1])


@lru_cache(maxsize=16)
def source_dialect(dialect: str) -> Dialect:
    """The dialect that is read, in which backquotes are around names, too."""
    base: Any = type(Dialect.get_or_raise(dialect))
    parser: Any = base.parser_class
    known = parser.FUNCTIONS
    others = {name: known[other] for name, other in _SAME.get(dialect, {}).items() if other in known}
    unnamed = {name: _named(other) for name, other in _SAME.get(dialect, {}).items() if other not in known}
    functions = {**known, **others, **unnamed, **_OWN.get(dialect, {})}
    arrows = {kind: read for kind, read in parser.LAMBDAS.items() if _has_lambdas(dialect, kind)}
    parts: dict[str, Any] = {"Parser": type("Parser", (parser,), {"FUNCTIONS": functions, "LAMBDAS": arrows})}
    given = base.tokenizer_class
    if "`" not in [one if isinstance(one, str) else one[0] for one in given.IDENTIFIERS]:
        parts["Tokenizer"] = type("Tokenizer", (given,), {"IDENTIFIERS": [*given.IDENTIFIERS, "`"]})
    if dialect in ("postgres", "trino"):
        parts["NUMBERS_CAN_BE_UNDERSCORE_SEPARATED"] = True
    made = type(f"{base.__name__}WithBackquotes", (base,), parts)
    return made()  # type: ignore[no-any-return]


def _has_lambdas(dialect: str, arrow: TokenType) -> bool:
    """Whether an arrow among the arguments of a function may be that of a lambda: in PostgreSQL, j->'a' is JSON."""
    return arrow is not TokenType.ARROW or dialect not in ("postgres", "redshift")


def declared_type(text: str, dialect: str) -> str:
    """The type of a column, as its definition declares it in a dialect, in Spark's words; as written if it is none."""
    try:
        tree = sqlglot.parse_one(f"create table t (c {text})", read=source_dialect(dialect))
    except SqlglotError:
        return text
    found = tree.find(exp.ColumnDef)
    return text if found is None or found.kind is None else str(number_type(found.kind, dialect).sql("spark"))
