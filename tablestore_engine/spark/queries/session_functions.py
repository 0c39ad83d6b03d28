"""Functions of the warehouse as temporary functions of a session, under which statements call them.

A function is registered once per session and definition, named `database.function`. Invariant: a name never gets
another meaning, because Spark may analyse a text that calls it again later: another definition gets a numbered name.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.function import PYTHON, Function, Parameter
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.session.session_settings import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ATTRIBUTE = "_tablestore_functions"
_KEPT = 1_000
_BYTES: Final = {
    "TINYINT": 1, "BYTE": 1, "SMALLINT": 2, "SHORT": 2, "INT": 4, "INTEGER": 4, "BIGINT": 8, "LONG": 8
}  # fmt: skip
_BETWEEN: Final = "\x01"
_OF_SESSION: Final = "system.session."  # before the names of its functions, in newer versions of Spark
_built_in: Final[set[str]] = set()  # the names of Spark's own
_lock = Lock()
_Known = RecentlyUsed[tuple[str, str, str], str]


def session_function(spark: SparkSession, function: Function, body: str) -> str:
    """The unquoted name under which a session calls a function; `body` is its body with the names of tables bound.

    Raises SqlError: Spark or Python do not accept the function.
    """
    key = (function.full_name, repr(function), body)
    with _lock:
        known: _Known = vars(spark).setdefault(_ATTRIBUTE, RecentlyUsed(_KEPT))
        name = known.get(key)
        if name is None:
            names = {name: full_name for (full_name, _, _), name in known.items()}
            number = sum(one == function.full_name for one in names.values())
            name = function.full_name if not number else f"{function.full_name}#{number + 1}"
            while name in names:
                number += 1
                name = f"{function.full_name}#{number + 1}"
            _register(spark, function, body, name)
            for dropped in known.put(key, name):
                with translated():
                    spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {quoted_name(dropped)}")
    return name


def is_session_function(spark: SparkSession, name: str) -> bool:
    """Whether a bare name is that of a built-in function, or of one that the session's user made."""
    with translated():
        return bool(spark.catalog.functionExists(quoted_name(name)))


def users_functions(spark: SparkSession) -> frozenset[str]:
    """The names of the functions that the user of a session made, lower-cased, and of others that are not Spark's."""
    with translated():
        return frozenset(str(row[0]).lower() for row in spark.sql("SHOW USER FUNCTIONS").collect())


def registered_functions(spark: SparkSession) -> frozenset[str]:
    """The names of the functions that the user of a session made, lower-cased: those of `users_functions` which are
    not in Spark's own catalog, by fewer calls of the JVM."""
    own = {name.lower() for name in made_here(spark)}
    if is_remote(spark):
        return users_functions(spark) - own
    session: Any = spark
    if not _built_in:
        registry = session._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry
        _built_in.update(registry.functionSet().mkString(_BETWEEN).split(_BETWEEN))
    names = session._jsparkSession.sessionState().functionRegistry().listFunction()
    if names.size() == len(_built_in):
        return frozenset()
    made = set(names.mkString(_BETWEEN).split(_BETWEEN)) - _built_in
    return frozenset(name.lower().removeprefix(_OF_SESSION) for name in made) - own


def made_here(spark: SparkSession) -> frozenset[str]:
    """The names of functions that were registered for the warehouse, as SHOW FUNCTIONS writes them."""
    known: _Known | None = vars(spark).get(_ATTRIBUTE)
    names = [name for _, name in known.items()] if known else []
    return frozenset([*names, *(f"{name}#python" for name in names)])


def _register(spark: SparkSession, function: Function, body: str, name: str) -> None:
    if function.aggregate:
        _register_python(spark, function, name, _grouped(function))
        return
    if function.language == PYTHON:
        inside = f"{name}#python"
        _register_python(spark, function, inside, _in_range(function, python_function(function)))
        # A SQL function around it casts the arguments, and has the defaults and the names of the parameters.
        body = f"{quoted_name(inside)}({', '.join(quoted_name(one.name) for one in function.parameters)})"
    with translated():
        spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {quoted_name(name)}{_signature(function)} RETURN {body}")


def _signature(function: Function) -> str:
    parameters = ", ".join(_written(one) for one in function.parameters)
    returns = "" if function.returns_sql is None else f" RETURNS {function.returns_sql}"
    return f"({parameters}){returns}"


def _written(one: Parameter) -> str:
    default = "" if one.default_sql is None else f" DEFAULT {one.default_sql}"
    comment = "" if one.comment is None else f" COMMENT {quoted_text(one.comment)}"
    return f"{quoted_name(one.name)} {one.type_sql}{default}{comment}"


def _register_python(spark: SparkSession, function: Function, name: str, callable_: Callable[..., Any]) -> None:
    from pyspark.sql import functions
    from pyspark.sql.pandas.functions import pandas_udf

    assert function.returns_sql is not None
    with translated():
        if function.aggregate:
            made: Any = cast("Any", pandas_udf)(callable_, function.returns_sql)
        else:
            made = functions.udf(callable_, function.returns_sql)
            made = made.asNondeterministic() if function.deterministic is False else made
        spark.udf.register(name, made)


def check_python(function: Function) -> None:
    """Raise SqlError unless the code can be read, and has the handler. Runs nothing of it."""
    try:
        tree = ast.parse(_code(function))
    except SyntaxError as error:
        raise SqlError(
            f"The Python code of function '{function.full_name}' cannot be read: {error.msg} (line {error.lineno})."
        ) from None
    defined = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
    named = defined.get(_handler(function))
    wanted = ast.ClassDef if function.aggregate else (ast.FunctionDef, ast.ClassDef)
    if not isinstance(named, wanted):
        what = "class" if function.aggregate else "function"
        raise SqlError(
            f"The Python code of '{function.full_name}' has no {what} '{_handler(function)}', which is its HANDLER.",
            hint=f"It defines {', '.join(defined) or 'none'}.",
        )


def python_function(function: Function) -> Callable[..., Any]:
    """The handler of a function in Python. It is sent to the workers as code, so it may use what it imports."""
    module: dict[str, Any] = {"__name__": "__main__"}
    try:
        # Errors name the function by the name of its file (`translate_errors`).
        code = compile(_code(function), f"<function {function.full_name}>", "exec")
        exec(code, module)  # noqa: S102 - the user's code
    except Exception as error:
        raise SqlError(
            f"The Python code of function '{function.full_name}' cannot be run: {type(error).__name__}: {error}."
        ) from error
    found: Callable[..., Any] = module[_handler(function)]
    if not function.aggregate:
        found.__annotations__ = {}  # by some of them PySpark would pass whole columns
    return found


def _in_range(function: Function, called: Callable[..., Any]) -> Callable[..., Any]:
    """The function with an error that names it for an integer that its type cannot hold: Arrow's does not."""
    kind = (function.returns_sql or "").strip().upper()
    size = _BYTES.get(kind)
    if size is None:
        return called
    most, name = 1 << (8 * size - 1), function.full_name

    def checked(*given: Any) -> Any:
        found = called(*given)
        if type(found) is int and not -most <= found < most:
            raise OverflowError(f"Function '{name}' returned {found}, which is no {kind}.")
        return found

    checked.__annotations__ = {}  # as of `python_function`
    return checked


def _grouped(function: Function) -> Callable[..., Any]:
    """The function of an aggregate: it takes the columns of a group."""
    import pandas as pd

    handler = python_function(function)

    def aggregate(*columns: Any) -> Any:
        state = handler()
        for row in zip(*(column.tolist() for column in columns), strict=True):
            state.accumulate(*row)
        return state.finish()

    # By the annotations PySpark knows that it takes columns and returns one value.
    aggregate.__annotations__ = {"columns": pd.Series, "return": float}
    return aggregate


def _handler(function: Function) -> str:
    return function.handler or "_function"


def _code(function: Function) -> str:
    """The module that defines the handler: the body itself, or a function around it."""
    if function.handler is not None:
        return textwrap.dedent(function.body)
    names = ", ".join(one.name for one in function.parameters)
    return f"def _function({names}):\n{textwrap.indent(textwrap.dedent(function.body), '    ')}\n"
