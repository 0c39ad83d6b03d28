import os

import pytest
from dbt.tests.adapter.python_model.test_python_model import (
    BasePythonEmptyTests,
    BasePythonIncrementalTests,
    BasePythonMetaGetTests,
    BasePythonModelTests,
    BasePythonSampleTests,
)
from dbt.tests.adapter.python_model.test_spark import (
    PANDAS_MODEL,
    PANDAS_ON_SPARK_MODEL,
    PYSPARK_MODEL,
    BasePySparkTests,
)
from dbt.tests.util import run_dbt


class TestPythonModel(BasePythonModelTests):
    pass


class TestPythonIncremental(BasePythonIncrementalTests):
    pass


@pytest.mark.conformance
class TestPythonMetaGet(BasePythonMetaGetTests):
    pass


class TestPythonEmpty(BasePythonEmptyTests):
    pass


@pytest.mark.conformance
class TestPythonSample(BasePythonSampleTests):
    pass


ARROW_MODEL = """
def model(dbt, session):
    import pyarrow

    return pyarrow.table({"City": ["Buenos Aires"], "Latitude": [-34.58]})
"""


class TestPySpark(BasePySparkTests):
    @pytest.fixture(scope="class")
    def models(self):
        """An Arrow table instead of Koalas, which ended with Spark 3.2."""
        return {
            "pandas_df.py": PANDAS_MODEL,
            "pyspark_df.py": PYSPARK_MODEL,
            "pandas_on_spark_df.py": PANDAS_ON_SPARK_MODEL,
            "arrow_df.py": ARROW_MODEL,
        }


class TestSqlOfTheSession:
    """The session that a model is given reads tables of the warehouse by SQL, as incremental models do."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"m.py": NEXT_MODEL, "source.sql": "select 10 as id"}

    def test_the_next_rows(self, project):
        for _ in range(3):
            results = run_dbt(["run"])
            assert len(results) == 2
        rows = project.run_sql("select id, first, named from {schema}.m order by id", fetch="all")
        assert [tuple(row) for row in rows] == [(1, 10, 10), (2, 10, 10), (3, 10, 10)]


@pytest.mark.skipif("TABLESTORE_SHARED" in os.environ, reason="A session of Spark Connect makes no sessions.")
class TestKindOfTheSession:
    """The session that a model is given is one of PySpark."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"m.py": KIND_MODEL}

    def test_its_name(self, project):
        assert len(run_dbt(["run"])) == 1
        assert project.run_sql("select kind from {schema}.m", fetch="one")[0] == "SparkSession True"


KIND_MODEL = """
def model(dbt, session):
    from pyspark.sql import SparkSession

    kind = f"{type(session.newSession()).__name__} {isinstance(session, SparkSession)}"
    return session.createDataFrame([(kind,)], "kind string")
"""
NEXT_MODEL = """
def model(dbt, session):
    dbt.config(materialized="incremental", unique_key="id")
    source = dbt.ref("source")
    number = 0
    if dbt.is_incremental:
        number = session.sql(f"select max(id) as last from {dbt.this}").first().last
        assert session.table(str(dbt.this)).count() == number
    source.createOrReplaceTempView("in_the_session")
    first = session.sql("select id from in_the_session where id > :least", args={"least": 9}).first().id
    named = session.sql("select id from {frame}", frame=source).first().id
    return session.createDataFrame([(number + 1, first, named)], "id int, first int, named int")
"""
