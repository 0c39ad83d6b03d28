"""One query in the SQL of another warehouse, as Spark's SQL.

Invariants: a construct that Spark cannot say is an error that names it, never another answer. Names in backquotes, as
dbt renders relations here, are names in every dialect. Names are compared without regard to case here, so names
without quotes become lower case where their warehouse folds them, and stay as they are where it does not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

_FOLDING = ("snowflake", "redshift", "postgres", "trino")


def translate(sql: str, dialect: str, columns_of: Columns | None = None) -> str:
    """Spark's SQL of a query in a dialect. Raises DbtRuntimeError that names what cannot be translated.

    columns_of: the columns of a table, by the parts of its name.
    """
    from sqlglot import ErrorLevel, errors

    from dbt.adapters.tablestore.dialect.aliases import inline_aliases
    from dbt.adapters.tablestore.dialect.corrections import corrected

    try:
        tree = _query(sql, dialect)
        inline_aliases(tree, dialect, columns_of)
        tree = corrected(tree, dialect)
        if dialect in _FOLDING:
            _fold(tree)
        return str(tree.sql("spark", pretty=True, unsupported_level=ErrorLevel.RAISE))
    except errors.ParseError as error:
        raise _refused(dialect, _where(error)) from None
    except errors.TokenError as error:
        raise _refused(dialect, str(error)) from None
    except (errors.UnsupportedError, Untranslatable, AttributeError, TypeError, ValueError) as error:
        raise _refused(dialect, " ".join(str(error).split())) from None


def _query(sql: str, dialect: str) -> exp.Expr:
    """The tree of the one query in a text."""
    import sqlglot
    from sqlglot import exp

    trees = [one for one in sqlglot.parse(sql, read=_source(dialect)) if one is not None]
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise Untranslatable("the text is not one query")
    return trees[0]


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


def _where(error: Any) -> str:
    """The first position at which a text is not of its dialect: `line 3: select a b [c] d`."""
    if not error.errors:
        return str(error)
    first = error.errors[0]
    before = (first.get("start_context") or "")[-40:]
    after = (first.get("end_context") or "")[:20]
    context = " ".join(f"{before}>>>{first.get('highlight') or ''}<<<{after}".split())
    return f"{str(first.get('description')).rstrip('.')}, in line {first.get('line')}: {context}"


def _refused(dialect: str, what: str) -> DbtRuntimeError:
    return DbtRuntimeError(
        f"This text in the dialect '{dialect}' cannot be translated to Spark's SQL: {what.rstrip('.')}. "
        "Write it in another way, or the model in Spark's SQL with `dialect: spark`."
    )
