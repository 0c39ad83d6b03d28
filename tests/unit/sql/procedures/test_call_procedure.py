"""How a procedure is called: its arguments by position and by name, its tables, and its answer."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.procedures.call_procedure import (
    PROCEDURES,
    describe_procedure,
    execute_call,
    show_procedures,
)
from tablestore_engine.sql.procedures.procedure import Procedure
from tablestore_engine.sql.statements.show import DescribeProcedure, ShowProcedures
from tablestore_engine.sql.statements.statement import Call

EXAMPLE = "CALL sys.probe(table => 'db.t')"


def call_of(procedure, *positional, **named):
    return Call(sql="CALL …", procedure=procedure, positional=positional, named=named)


@pytest.fixture
def call(monkeypatch):
    """Calls a procedure that answers its arguments, once for each of two tables."""
    probe = Procedure(
        run=lambda table, arguments, context: [(table, *sorted(arguments.items()))],
        parameters=("table", "older_than", "dry_run"),
        required=1,
        columns={"table": "string", "a": "string"},
        example=EXAMPLE,
        tables=lambda arguments, context: ["first", "second"],
        answer=lambda rows: [*rows, ("end",)],
    )
    monkeypatch.setitem(PROCEDURES, "probe", probe)

    def run(*positional, **named):
        return execute_call(call_of("probe", *positional, **named), None)

    return run


@pytest.mark.parametrize(
    ("positional", "named", "arguments"),
    [
        (("t",), {}, {"table": "t"}),
        (("t", 3, True), {}, {"table": "t", "older_than": 3, "dry_run": True}),
        (("t",), {"dry_run": True}, {"table": "t", "dry_run": True}),
        ((), {"dryrun": True, "olderthan": 3, "table": "t"}, {"table": "t", "older_than": 3, "dry_run": True}),
        # NULL is as if it was not given.
        (("t", None), {"dry_run": None}, {"table": "t"}),
    ],
)
def test_arguments(call, positional, named, arguments):
    given = tuple(sorted(arguments.items()))
    result = call(*positional, **named)
    assert result.rows == [("first", *given), ("second", *given), ("end",)]
    assert (result.columns, result.types) == (("table", "a"), ("string", "string"))


@pytest.mark.parametrize(
    ("positional", "named", "message"),
    [
        ((), {}, "sys.probe needs table."),
        (("",), {}, "sys.probe needs table."),
        ((None,), {"dry_run": True}, "sys.probe needs table."),
        (("t", 1, True, 4), {}, "sys.probe takes 3 arguments."),
        (("t",), {"colour": 1, "age": 2}, "sys.probe does not take age, colour."),
    ],
)
def test_wrong_arguments_are_refused(call, positional, named, message):
    with pytest.raises(SqlError) as caught:
        call(*positional, **named)
    assert (caught.value.message, caught.value.hint) == (message, EXAMPLE)


def test_a_procedure_that_is_not_there():
    with pytest.raises(SqlError, match=r"no procedure sys\.compct\. Did you mean 'compact'\?"):
        execute_call(call_of("compct"), None)


@pytest.mark.parametrize("name", PROCEDURES)
def test_each_procedure_explains_itself(name):
    procedure = PROCEDURES[name]
    assert procedure.run.__doc__
    assert procedure.example.startswith(f"CALL sys.{name}(")
    assert procedure.required <= len(procedure.parameters)
    assert procedure.columns


def test_procedures_are_shown_and_described():
    shown = show_procedures(ShowProcedures(sql="", schema="System"), None)
    assert [row[3] for row in shown.rows] == sorted(PROCEDURES)
    assert shown.rows[0][:3] == ("tablestore", ["sys"], "sys")
    lines = [line for (line,) in describe_procedure(DescribeProcedure(sql="", procedure="rollback"), None).rows]
    assert lines == [
        "Procedure:   sys.rollback",
        "Description: Restores the rows of a snapshot or tag, as a new snapshot.",
        f"{'':<13}{SECOND}",
        "Parameters:  table",
        "             [version]",
        "             [snapshot]",
        "             [tag]",
        "Answer:      previous_snapshot_id bigint, rolled_back_snapshot_id bigint, current_snapshot_id bigint",
        "Example:     CALL sys.rollback(table => 'db.t', version => 'year-end')",
    ]
    with pytest.raises(SqlError, match="Did you mean 'compact'"):
        describe_procedure(DescribeProcedure(sql="", procedure="compct"), None)
    with pytest.raises(SqlError, match="tables have no branches yet"):
        describe_procedure(DescribeProcedure(sql="", procedure="create_branch"), None)


SECOND = (
    "`version` is either; `snapshot` and `tag` are explicit. Later snapshots are kept until they expire, so their "
    "readers do not fail, and the rollback can itself be rolled back."
)
