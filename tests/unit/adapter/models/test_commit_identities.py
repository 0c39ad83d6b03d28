"""The identity of a write of dbt: a retry sends that of the command which failed, everything else a new one."""

from __future__ import annotations

import json

import pytest

from dbt.adapters.tablestore.models.commit_identities import ORIGIN, RUN_RESULTS, CommitIdentities, origin_of_retry

MODEL = {"unique_id": "model.p.m"}


def results_of(folder, command):
    (folder / RUN_RESULTS).write_text(json.dumps({"metadata": {"invocation_id": command}}))


def test_a_retry_sends_the_identity_of_what_it_retries():
    failed, retry = CommitIdentities("c1"), CommitIdentities("c1")
    one = failed.identity(MODEL, "insert into t select 1", None)
    assert retry.identity(MODEL, "insert into t select 1", None) == one
    assert (one.user.startswith("dbt-c1-"), one.identifier, one.check_duplicate) == (True, 1, True)


@pytest.mark.parametrize(
    ("model", "sql", "again"),
    [
        (MODEL, "create or replace table s.t as select * from s.u", False),
        (MODEL, "set a = 1; create or replace table s.t as select * from s.u;", False),
        (MODEL, "create or replace table s.t as select * from s.t", True),
        (MODEL, "create or replace table s.t as select * from s.u; insert into s.t select 1", True),
        (MODEL, "insert into s.t select * from s.u", True),
        ({**MODEL, "language": "python"}, "create or replace table s.t as select * from a_view", True),
    ],
)
def test_a_retry_makes_tables_anew(model, sql, again):
    """Rows of another table may have been mended after the commit and before the retry."""
    one = CommitIdentities("c1").identity(model, sql, None)
    assert (one.check_duplicate, one.user.startswith("dbt-c1-")) == (again, again)


def test_a_python_model_is_known_by_its_code():
    """Its view has a number of the process, which another command counts anew."""
    model = {**MODEL, "language": "python", "raw_code": "def model(dbt, session): return 1"}
    changed = {**model, "raw_code": "def model(dbt, session): return 2"}
    one, same, other = (
        CommitIdentities("c1").identity(given, f"insert into t select * from __dbt_python_{number}", None)
        for given, number in ((model, 1), (model, 12), (changed, 1))
    )
    assert one == same != other


@pytest.mark.parametrize("language", ["sql", "python"])
def test_an_incremental_model_is_known_by_its_code_also_when_it_makes_its_table(language):
    rows = "__dbt_python_{}" if language == "python" else "select {} as id"
    model = {**MODEL, "language": language, "config": {"materialized": "incremental"}, "raw_code": "model"}
    model["compiled_code"] = "select 1 as id\n"
    making, adding = (f"{verb} {rows.format(1)}" for verb in ("create table t as select * from", "insert into t"))
    made = CommitIdentities("c1").identity(model, making, None)
    assert CommitIdentities("c1").identity(model, adding, None).user == made.user
    hook = "insert into log values (1)"
    assert CommitIdentities("c1").identity(model, hook, None).user != made.user
    changed = {**model, "raw_code": "another", "compiled_code": "select 1 as id, 2 as v"}
    assert CommitIdentities("c1").identity(changed, adding, None).user != made.user


def test_every_other_write_has_another_one():
    writes = CommitIdentities("c1")
    batches = [{**MODEL, "batch": {"id": day}} for day in ("20240101", "20240102")]
    users = [
        writes.identity(model, sql, None).user
        for model, sql in (
            (MODEL, "insert 1"),
            (MODEL, "insert 1"),
            (MODEL, "insert 2"),
            ({"unique_id": "model.p.n"}, "insert 1"),
            *((batch, "insert 1") for batch in batches),
        )
    ]
    users.append(CommitIdentities("c2").identity(MODEL, "insert 1", None).user)
    assert len(set(users)) == len(users)


def test_a_command_that_retries_nothing():
    one = CommitIdentities(None).identity(MODEL, "insert 1", "nightly")
    assert one.user.startswith("nightly_dbt-")
    assert not one.check_duplicate


def test_a_retry_of_a_retry_has_the_first_command_as_its_origin(tmp_path):
    assert origin_of_retry(tmp_path, tmp_path) is None
    results_of(tmp_path, "c1")
    assert origin_of_retry(tmp_path, tmp_path) == "c1"
    command = json.loads((tmp_path / ORIGIN).read_text())["command"]
    results_of(tmp_path, command)
    assert origin_of_retry(tmp_path, tmp_path) == "c1"
    results_of(tmp_path, "c9")  # a run after it
    assert origin_of_retry(tmp_path, tmp_path) == "c9"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"metadata": null}'])
def test_results_that_name_no_command(tmp_path, text):
    (tmp_path / RUN_RESULTS).write_text(text)
    assert origin_of_retry(tmp_path, tmp_path) is None
