"""Temporary views of a session: those that its user made, and those under which statements name tables.

A statement makes a temporary view of a frame, so that its text can name it. Invariant: no two such views of a process
have the same name. A text outlives its statement: a temporary view, a cached query and, over
Spark Connect, every frame are analysed anew when they are read, and threads may share a session. Under a reused name
they would find another table's rows, or the rows that another query left after pruning.

Views of finished statements are dropped when many newer ones have been made, unless they were made to *last*; whether
older statements are unfinished does not matter.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Sequence
from typing import Protocol
from weakref import ReferenceType, ref

from pyspark.sql import DataFrame, SparkSession, functions

from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.errors.own_words import OWN_NAME, TEMP_VIEW_NUMBER, own_words
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.session.session_settings import is_remote

KEPT = 32
KEPT_OVER_CONNECT = 1_000  # where each frame that somebody holds may need one
_ATTRIBUTE = "_tablestore_temp_views"
_DEFINITIONS = "_tablestore_view_definitions"
_VIEW_TEXT = re.compile(r"^View Text: (.*?)\nView (?:Schema Mode|Catalog and Namespace)", re.DOTALL | re.MULTILINE)
_OF_STATEMENT = re.compile(r"(?:.*\..*|__tablestore_\w+)#\d+", re.DOTALL)
_numbers = itertools.count(1)
_lock = threading.Lock()

_Known = list[tuple[str, "ReferenceType[TempViews]"]]


class TempViews:
    """The temporary views of one statement, which is unfinished as long as this object is referenced."""

    def __init__(self, spark: SparkSession, *, lasting: bool = False) -> None:
        self.spark = spark
        self.lasting = lasting
        self._made: list[str] = []

    def add(self, name: str, frame: DataFrame, *, kept: bool = False) -> str:
        """Make a temporary view of a frame, named after the table. Returns the view's name, unquoted.

        `kept`: it is for later statements, too, and the caller drops it.
        """
        view = f"{name}#{next(_numbers)}"
        frame.createOrReplaceTempView(quoted_name(view))
        if kept:
            return view
        if self.lasting:
            self._made.append(view)
            return view
        self._remember(view)
        return view

    def release(self, view: str) -> None:
        """Drop a kept view that no later statement will name. Over Spark Connect, frames that were made from it may
        still be read: it is dropped like the views of a statement."""
        if is_remote(self.spark):
            self._remember(view)
        else:
            self.spark.catalog.dropTempView(view)

    def drop(self) -> None:
        """Drop lasting views, of which no text of Spark's speaks any longer."""
        for view in self._made:
            self.spark.catalog.dropTempView(view)
        self._made.clear()

    def _remember(self, view: str) -> None:
        """Remember a view, and drop old ones."""
        connects = is_remote(self.spark)
        kept = KEPT_OVER_CONNECT if connects else KEPT
        with _lock:
            known: _Known = vars(self.spark).setdefault(_ATTRIBUTE, [])
            known.append((view, ref(self)))
            older = [(one, one[1]() is None) for one in known[:-kept]]
            known[:-kept] = [one for one, finished in older if not finished]
        for (old, _), finished in older:
            if finished:
                self.spark.catalog.dropTempView(old)


def is_temporary(spark: SparkSession, name: str) -> bool:
    """Whether a bare name is that of a temporary view of the session, or of a table in Spark's own catalog."""
    with translated():
        return bool(spark.catalog.tableExists(quoted_name(name)))


def is_session_relation(spark: SparkSession, name: str, is_managed: Callable[[], object]) -> bool:
    """Whether Spark reads a bare name by itself: a temporary view, or a table of its own catalog where no managed table
    or view has this name. `is_managed` says whether one has it."""
    return is_temporary(spark, name) and (not is_managed() or ends_with_session(spark, name))


def ends_with_session(spark: SparkSession, name: str) -> bool:
    """Whether a bare name for which `is_temporary` holds is a temporary view, and no table of Spark's."""
    with translated():
        return bool(spark.catalog.getTable(quoted_name(name)).isTemporary)


def listed_views(spark: SparkSession, schema: str | None, *, described: bool) -> list[tuple[str, str, bool, str]]:
    """The temporary views of the user as Spark lists them, with their schema, which is empty for most: also the global
    ones if `schema` is theirs. Last comes what SHOW TABLE EXTENDED says of them, if it is asked for."""
    inside = "" if schema is None else f" IN {quoted_name(schema)}"
    with translated():
        found = spark.sql(f"SHOW TABLE EXTENDED{inside} LIKE '*'" if described else f"SHOW VIEWS{inside}").collect()
    shown = [tuple(row) for row in found if row[2] and not _OF_STATEMENT.fullmatch(row[1])]
    return [(schema, name, True, own_words("".join(rest))) for schema, name, _, *rest in shown]


class Definition(Protocol):
    """The source of a temporary view of SQL."""

    def is_current(self) -> bool:
        """Whether all that the view reads is as it was when it was made."""

    def make(self) -> object:
        """Make the view over again."""


def remember_definition(spark: SparkSession, name: str, definition: Definition) -> None:
    """Remember what a temporary view was made from."""
    known: dict[str, tuple[Definition, str]] = vars(spark).setdefault(_DEFINITIONS, {})
    known[name.lower()] = (definition, _text_of(spark, name))


def definition_of(spark: SparkSession, name: str) -> Definition | None:
    """The source of a temporary view; None if it was made in another way, or over again since."""
    definition, text = vars(spark).get(_DEFINITIONS, {}).get(name.lower(), (None, ""))
    return definition if definition is not None and _text_of(spark, name) == text else None


def _text_of(spark: SparkSession, name: str) -> str:
    """The text of a temporary view of SQL, in which tables have unique names; empty for a view of a frame."""
    with translated():
        shown = spark.sql(f"SHOW TABLE EXTENDED LIKE {literal(name)}").collect()
    found = (_VIEW_TEXT.search(row[3]) for row in shown if row[2] and row[1].lower() == name.lower())
    return next((one[1] for one in found if one), "")


def remembered(spark: SparkSession, name: str) -> Definition | None:
    """The source with which a temporary view of SQL was made last."""
    definition: Definition | None = vars(spark).get(_DEFINITIONS, {}).get(name.lower(), (None, None))[0]
    return definition


def refresh(spark: SparkSession, name: str) -> None:
    """Make a temporary view over again if its tables have changed: as in Spark, it shows the rows of now."""
    definition = remembered(spark, name)
    if definition is not None and not definition.is_current() and definition_of(spark, name) is definition:
        definition.make()


def named_plan(answer: DataFrame, notes: Sequence[str] = ()) -> DataFrame:
    """The answer of EXPLAIN with the names of tables instead of those of their temporary views, and notes behind it.

    Columns of the engine are without their prefix there.
    """
    (column,) = answer.columns
    text = functions.regexp_replace(functions.regexp_replace(column, TEMP_VIEW_NUMBER, "$1"), OWN_NAME, "$1")
    if notes:
        text = functions.concat(text, functions.lit("\n" + "\n\n".join(notes) + "\n"))
    return answer.select(text.alias(column))
