"""One query in the SQL of another warehouse, as Spark's SQL.

Invariants: a construct that Spark cannot say is an error that names it, never another answer. Names in backquotes, as
dbt renders relations here, are names in every dialect. Names are compared without regard to case here, so names
without quotes become lower case where their warehouse folds them, and stay as they are where it does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable
from dbt.adapters.tablestore.dialect.source_text import Piece, piece_between, piece_of

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

_FOLDING = ("snowflake", "redshift", "postgres", "trino")
NEXT = "Write it in another way, or the model in Spark's SQL with `dialect: spark`."
_TIMES = ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "TIMESTAMPLTZ", "DATETIME")
_LITERAL = 3  # tokens: DATE '2024-01-01' ::
_AT = re.compile(r" (?:from|at) (?:line )?(\d+)[:,] ?(?:col(?:umn)? )?(\d+)")


@dataclass(frozen=True)
class Translation:
    """A translated text, and the tree that it is of, whose nodes know their positions in the source.

    subject: what the text is of, for messages, as in `Model 'orders'`.
    """

    subject: str
    dialect: str
    source: str
    tree: exp.Expr
    text: str


def translate(sql: str, dialect: str, columns_of: Columns | None = None) -> str:
    """Spark's SQL of a query in a dialect. Raises DbtRuntimeError that names what cannot be translated."""
    return translation_of("This text", sql, dialect, columns_of).text


def translation_of(subject: str, sql: str, dialect: str, columns_of: Columns | None = None) -> Translation:
    """The translation of a query. Raises DbtRuntimeError that names what cannot be translated.

    columns_of: the columns of a table, by the parts of its name.
    """
    from sqlglot import ErrorLevel, errors

    from dbt.adapters.tablestore.dialect.aliases import inline_aliases
    from dbt.adapters.tablestore.dialect.array_queries import read_arrays_by_functions, read_structs_as_rows
    from dbt.adapters.tablestore.dialect.named_unions import unite_by_name
    from dbt.adapters.tablestore.dialect.rules.tree import corrected
    from dbt.adapters.tablestore.dialect.variants import keep_variant_paths

    tree: exp.Expr | None = None
    try:
        tree = _query(sql, dialect)
        inline_aliases(tree, dialect, columns_of)
        unite_by_name(tree, dialect, columns_of)
        read_arrays_by_functions(tree, dialect)
        read_structs_as_rows(tree, dialect)
        if dialect == "databricks":
            keep_variant_paths(tree, columns_of)
        tree = corrected(tree, dialect)
        if dialect in _FOLDING:
            _fold(tree)
        text = str(tree.sql("spark", pretty=True, unsupported_level=ErrorLevel.RAISE))
        return Translation(subject, dialect, sql, tree, text)
    except errors.ParseError as error:
        what, where = _unparsed(error, sql)
    except errors.TokenError as error:
        what, where = _cut_off(str(error), sql)
    except Untranslatable as error:
        what, where = str(error), None if error.node is None else piece_of(error.node, sql)
    except errors.UnsupportedError as error:
        what, where = str(error), _culprit(tree, sql)
    except (AttributeError, TypeError, ValueError, LookupError):
        what, where = "sqlglot cannot write a part of it", _culprit(tree, sql)
    raise refused(subject, dialect, what, where) from None


def refused(subject: str, dialect: str, what: str, where: Piece | None) -> DbtRuntimeError:
    """The error about a construct that cannot be translated."""
    reason = " ".join(what.split()).rstrip(".")
    return DbtRuntimeError(
        f"{subject} in the dialect '{dialect}' cannot be translated to Spark's SQL: {reason}"
        f"{'' if where is None else f', in {where}'}. {NEXT}"
    )


def _query(sql: str, dialect: str) -> exp.Expr:
    """The tree of the one query in a text."""
    from sqlglot import exp

    source = _source(dialect)
    tokens = _typed_literals_in_parentheses(source.tokenize(sql))
    _refuse_lost_literals(tokens, dialect)
    trees = [one for one in source.parser().parse(tokens, sql) if one is not None]
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        kinds = ", ".join(one.key.upper() for one in trees)
        raise Untranslatable(f"the text is not one query that begins with SELECT, WITH or FROM, but {kinds or 'empty'}")
    return trees[0]


def _typed_literals_in_parentheses(tokens: Sequence[Any]) -> list[Any]:
    """Parentheses around the date in `date '2024-01-01'::varchar`, where sqlglot would cast the text, not the date."""
    from sqlglot.tokenizer_core import Token, TokenType

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
    return made


def _refuse_lost_literals(tokens: Sequence[Any], dialect: str) -> None:
    """Raise Untranslatable for literals of which sqlglot drops a part: INTERVAL '1 day 02:00', DECIMAL '1.5'."""
    for word, text in pairwise(tokens):
        kinds = (word.token_type.name, text.token_type.name)
        if kinds == ("INTERVAL", "STRING") and re.search(r"[a-z].*:", text.text, re.IGNORECASE):
            raise Untranslatable(f"the interval '{text.text}' (write '{text.text}'::interval, or a sum of two)")
        if kinds == ("DECIMAL", "STRING") and dialect == "trino":
            raise Untranslatable(f"DECIMAL '{text.text}' (write the number)")


@lru_cache(maxsize=16)
def _source(dialect: str) -> Dialect:
    """The dialect that is read, in which backquotes are around names, too."""
    from sqlglot.dialects.dialect import Dialect

    base: Any = type(Dialect.get_or_raise(dialect))
    given = base.tokenizer_class
    if "`" in [one if isinstance(one, str) else one[0] for one in given.IDENTIFIERS]:
        return base()
    tokenizer = type("Tokenizer", (given,), {"IDENTIFIERS": [*given.IDENTIFIERS, "`"]})
    made = type(f"{base.__name__}WithBackquotes", (base,), {"Tokenizer": tokenizer})
    return made()  # type: ignore[no-any-return]


def _fold(tree: exp.Expr) -> None:
    from sqlglot import exp

    for name in tree.find_all(exp.Identifier):
        if not name.args.get("quoted"):
            name.set("this", name.this.lower())


def _unparsed(error: Any, source: str) -> tuple[str, Piece | None]:
    """The reason why sqlglot cannot parse a text, and the piece where: `b c >>>d<<< from t`."""
    if not error.errors:
        return str(error), None
    first = error.errors[0]
    what = re.sub(r"^(Required keyword: '\w+' missing) for .*", r"\1", str(first.get("description")).rstrip("."))
    highlight = first.get("highlight") or ""
    before = (first.get("start_context") or "").rpartition("\n")[2][-40:]
    after = (first.get("end_context") or "").partition("\n")[0][:20]
    line = int(first.get("line") or 1)
    given = source.split("\n")[line - 1] if line <= source.count("\n") + 1 else ""
    column = len(given[: int(first.get("col") or 1)]) - len(highlight) + 1
    return what, Piece(line, max(column, 1), " ".join(f"{before}>>>{highlight}<<<{after}".split()))


def _cut_off(message: str, source: str) -> tuple[str, Piece | None]:
    """The reason about a text that ends within a literal, a name or a comment, and the piece."""
    found = _AT.search(message)
    reason = message.partition("\n")[0]
    if found is None:
        return reason, None
    lines = source.split("\n")
    start = sum(len(one) + 1 for one in lines[: int(found[1]) - 1]) + max(int(found[2]) - 1, 0)
    return reason, piece_between(source, start, len(source))


def _culprit(tree: exp.Expr | None, source: str) -> Piece | None:
    """The innermost part of a tree that sqlglot cannot write as Spark's SQL."""
    from sqlglot import ErrorLevel

    for node in reversed(list(tree.dfs())) if tree is not None else ():
        try:
            node.sql("spark", unsupported_level=ErrorLevel.RAISE)
        except Exception:
            return piece_of(node, source)
    return None
