"""Hooks. The suite's expected values are Postgres's; ours come from the profile of these tests."""

import pytest
from dbt.tests.adapter.hooks.test_model_hooks import (
    MODEL_POST_HOOK,
    MODEL_PRE_HOOK,
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

FIELDS = (
    "test_state",
    "target_dbname",
    "target_host",
    "target_name",
    "target_schema",
    "target_threads",
    "target_type",
    "target_user",
    "target_pass",
    "run_started_at",
    "invocation_id",
    "thread_id",
)
OUTSIDE = {"sql": "select count(*) from {{ this.schema }}.on_model_hook", "transaction": False}


def check_context(context, state, schema):
    assert context["test_state"] == state
    assert context["target_dbname"] == ""
    assert context["target_host"] == ""
    assert context["target_name"] == "default"
    assert context["target_schema"] == schema
    assert context["target_threads"] == 4
    assert context["target_type"] == "tablestore"
    assert context["target_user"] == "dbt"
    assert context["target_pass"] == ""
    assert context["run_started_at"]
    assert context["invocation_id"]
    assert context["thread_id"].startswith("Thread-") or context["thread_id"] == "MainThread"


class ModelHooks:
    """Reads what the hooks wrote, with Spark's quotes."""

    def get_ctx_vars(self, state, count, project):
        rows = project.run_sql(
            f"select {', '.join(FIELDS)} from {project.test_schema}.on_model_hook where test_state = '{state}'",
            fetch="all",
        )
        assert len(rows) == count
        return [dict(zip(FIELDS, row, strict=True)) for row in rows]

    def check_hooks(self, state, project, host, count=1):
        for context in self.get_ctx_vars(state, count=count, project=project):
            check_context(context, state, project.test_schema)


class TestPrePostModelHooks(ModelHooks, BasePrePostModelHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"test": {"pre-hook": [MODEL_PRE_HOOK, OUTSIDE], "post-hook": [OUTSIDE, MODEL_POST_HOOK]}}}


@pytest.mark.conformance
class TestPrePostModelHooksUnderscores(ModelHooks, BasePrePostModelHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"test": {"pre_hook": [MODEL_PRE_HOOK, OUTSIDE], "post_hook": [OUTSIDE, MODEL_POST_HOOK]}}}


class TestHookRefs(ModelHooks, BaseHookRefs):
    pass


@pytest.mark.conformance
class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


@pytest.mark.conformance
class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


@pytest.mark.conformance
class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


@pytest.mark.conformance
class TestPrePostModelHooksInConfig(ModelHooks, BasePrePostModelHooksInConfig):
    pass


@pytest.mark.conformance
class TestPrePostModelHooksInConfigWithCount(ModelHooks, BasePrePostModelHooksInConfigWithCount):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"test": {"pre-hook": [MODEL_PRE_HOOK, OUTSIDE], "post-hook": [OUTSIDE, MODEL_POST_HOOK]}}}


@pytest.mark.conformance
class TestPrePostModelHooksInConfigKwargs(ModelHooks, BasePrePostModelHooksInConfigKwargs):
    pass


@pytest.mark.conformance
class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestPrePostRunHooks(BasePrePostRunHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "on-run-start": [
                "{{ custom_run_hook('start', target, run_started_at, invocation_id) }}",
                "create table {{ target.schema }}.start_hook_order_test ( id int )",
                "drop table {{ target.schema }}.start_hook_order_test",
                "{{ log(env_var('TERM_TEST'), info=True) }}",
            ],
            "on-run-end": [
                "{{ custom_run_hook('end', target, run_started_at, invocation_id) }}",
                "create table {{ target.schema }}.end_hook_order_test ( id int )",
                "drop table {{ target.schema }}.end_hook_order_test",
                "create table {{ target.schema }}.schemas ( schema string )",
                (
                    "insert into {{ target.schema }}.schemas (schema) values "
                    "{% for schema in schemas %}( '{{ schema }}' ){% if not loop.last %},{% endif %}{% endfor %}"
                ),
                "create table {{ target.schema }}.db_schemas ( db string, schema string )",
                (
                    "insert into {{ target.schema }}.db_schemas (db, schema) values "
                    "{% for db, schema in database_schemas %}"
                    "( {{ \"'\" ~ db ~ \"'\" if db else 'null' }}, '{{ schema }}' )"
                    "{% if not loop.last %},{% endif %}{% endfor %}"
                ),
            ],
            "seeds": {"quote_columns": False},
        }

    def get_ctx_vars(self, state, project):
        rows = project.run_sql(
            f"select {', '.join(FIELDS)} from {project.test_schema}.on_run_hook where test_state = '{state}'",
            fetch="all",
        )
        assert len(rows) == 1
        return dict(zip(FIELDS, rows[0], strict=True))

    def check_hooks(self, state, project, host):
        check_context(self.get_ctx_vars(state, project), state, project.test_schema)


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
