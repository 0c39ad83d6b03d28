import pytest
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.util import run_dbt, run_dbt_and_capture
from support.dbt_models import table_of


class TestPersistDocs(BasePersistDocs):
    pass


@pytest.mark.conformance
class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    pass


@pytest.mark.conformance
class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive):
    pass


@pytest.mark.conformance
class TestPersistDocsQuotedDescriptionNotAppliedOnMismatch(BasePersistDocsQuotedDescriptionNotAppliedOnMismatch):
    pass


@pytest.mark.conformance
class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    pass


class TestCommentsOfAllColumnsComeWithTheTable:
    MODEL = "{{ config(materialized='table', persist_docs={'columns': true}) }} select 1 as id, 2 as `b c`, "
    MODEL += "array(named_struct('x', 3)) as plain"
    DOCS = """
models:
  - name: wide
    columns:
      - {name: id, description: it's the key}
      - {name: b c, description: a name with a space, quote: true}
      - {name: plain.x, description: a field}
"""

    @pytest.fixture(scope="class")
    def models(self):
        return {"wide.sql": self.MODEL, "docs.yml": self.DOCS}

    def test_no_schema_more(self, project):
        for _ in range(2):
            run_dbt(["run"])
            table = table_of(project, "wide")
            found = {one.name: one.description for one in table.schema.fields}
            assert found == {"id": "it's the key", "b c": "a name with a space", "plain": None}
            assert table.schema.field("plain").type.element.fields[0].description == "a field"
            assert len(table.schemas.list_ids()) == 1


class TestCommentsOfAView:
    VIEW = "{{ config(materialized='view', persist_docs={'columns': true, 'relation': true}) }} "
    VIEW += "select 1 as id, 2 as `Quoted`, array(named_struct('x', 3)) as plain"
    DOCS = """
models:
  - name: seen
    description: of the view
    columns:
      - {name: ID, description: the key}
      - {name: quoted, description: of another column, quote: true}
      - {name: plain.x, description: a field}
      - {name: missing, description: of no column}
"""

    @pytest.fixture(scope="class")
    def models(self):
        return {"seen.sql": self.VIEW, "docs.yml": self.DOCS}

    def test_fields_have_theirs(self, project):
        _, log = run_dbt_and_capture(["--debug", "run"])
        assert log.count("not present in the database: quoted, missing") == log.count("not present in the database") > 0
        view = project.adapter.catalog.load_view(project.test_schema, "seen")
        assert (view.comment, [one.description for one in view.columns]) == ("of the view", ["the key", None, None])
        assert view.columns[2].type.element.fields[0].description == "a field"
