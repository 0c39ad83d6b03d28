"""One query in the SQL of another warehouse, as Spark's SQL.

Invariants: a construct that Spark cannot say is an error that names it, never another answer. Names in backquotes, as
dbt renders relations here, are names in every dialect. Names are compared without regard to case here, so names
without quotes become lower case where their warehouse folds them, and stay as they are where it does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, remembered
from dbt.adapters.tablestore.dialect.source_text import Piece, piece_between, piece_of

if TYPE_CHECKING:
    from sqlglot import exp

_FOLDING = ("snowflake", "redshift", "postgres", "trino")
NEXT = "Write it in another way, or the model in Spark's SQL with `dialect: spark`."
_TOKEN = re.compile(r"<Token token_type: .*?, text: (.*?), line: .*?>", re.DOTALL)
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
    from sqlglot import errors

    from dbt.adapters.tablestore.dialect.aliases import inline_aliases
    from dbt.adapters.tablestore.dialect.array_queries import read_arrays_by_functions, read_structs_as_rows
    from dbt.adapters.tablestore.dialect.array_selects import read_lists_of_queries
    from dbt.adapters.tablestore.dialect.column_kinds import keep_variant_paths, mark_columns, mark_day_counts
    from dbt.adapters.tablestore.dialect.columns.chosen import write_columns_out
    from dbt.adapters.tablestore.dialect.columns.named_unions import unite_by_name
    from dbt.adapters.tablestore.dialect.columns.number_kinds import mark_quotients
    from dbt.adapters.tablestore.dialect.columns.pivots import read_pivots
    from dbt.adapters.tablestore.dialect.columns.recursive_types import cast_recursive_rows
    from dbt.adapters.tablestore.dialect.columns.stars import read_computed_structs, write_stars_out
    from dbt.adapters.tablestore.dialect.columns.whole_rows import read_whole_rows
    from dbt.adapters.tablestore.dialect.reading import query_of
    from dbt.adapters.tablestore.dialect.row_sources import read_row_sources
    from dbt.adapters.tablestore.dialect.rules.tree import corrected
    from dbt.adapters.tablestore.dialect.windows import order_windows

    tree: exp.Expr | None = None
    columns_of = remembered(columns_of)
    try:
        tree = read_pivots(query_of(sql, dialect), dialect, columns_of)
        inline_aliases(tree, dialect, columns_of)
        order_windows(tree, dialect)
        read_whole_rows(tree, dialect, columns_of)
        write_stars_out(tree, columns_of)
        tree = read_computed_structs(tree)
        write_columns_out(tree, dialect, columns_of)
        unite_by_name(tree, dialect, columns_of)
        mark_columns(tree, dialect, columns_of)
        mark_day_counts(tree, dialect, columns_of)
        mark_quotients(tree, dialect, columns_of)
        cast_recursive_rows(tree, dialect, columns_of)
        read_row_sources(tree, dialect, columns_of)
        read_arrays_by_functions(tree, dialect)
        read_lists_of_queries(tree, dialect)
        read_structs_as_rows(tree, dialect)
        if dialect == "databricks":
            keep_variant_paths(tree, columns_of)
        tree = corrected(tree, dialect)
        if dialect in _FOLDING:
            _fold(tree)
        text = _written(tree)
        return Translation(subject, dialect, sql, tree, text)
    except errors.ParseError as error:
        what, where = _unparsed(error, sql)
    except errors.TokenError as error:
        what, where = _cut_off(str(error), sql)
    except Untranslatable as error:
        what, where = str(error), _piece(error, sql)
    except errors.UnsupportedError as error:
        what, where = str(error), _culprit(tree, sql)
    except (AttributeError, TypeError, ValueError, LookupError):
        what, where = "sqlglot cannot write a part of it", _culprit(tree, sql)
    raise refused(subject, dialect, what, where) from None


def _piece(error: Untranslatable, sql: str) -> Piece | None:
    if error.span is not None:
        return piece_between(sql, error.span[0], error.span[1] + 1)
    return None if error.node is None else piece_of(error.node, sql)


def _written(tree: exp.Expr) -> str:
    """Spark's text of a tree. Common table expressions of subqueries stay where they are, as Spark reads them there:
    sqlglot, which writes for Hive, too, would give all of them the names of one query."""
    from sqlglot import ErrorLevel
    from sqlglot.dialects import Spark

    generator = Spark().generator(pretty=True, unsupported_level=ErrorLevel.RAISE)
    generator.EXPRESSIONS_WITHOUT_NESTED_CTES = set()
    return str(generator.generate(tree))


def refused(subject: str, dialect: str, what: str, where: Piece | None) -> DbtRuntimeError:
    """The error about a construct that cannot be translated."""
    reason = " ".join(what.split()).rstrip(".")
    return DbtRuntimeError(
        f"{subject} in the dialect '{dialect}' cannot be translated to Spark's SQL: {reason}"
        f"{'' if where is None else f', in {where}'}. {NEXT}"
    )


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
    what = _TOKEN.sub(r"\1", what)
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
