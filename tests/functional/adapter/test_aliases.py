import pytest
from dbt.tests.adapter.aliases import fixtures
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentDatabases,
    BaseSameAliasDifferentSchemas,
)

STRING_LITERAL = """
{% macro string_literal(s) -%}
  cast('{{ s }}' as string)
{%- endmacro %}
"""


class SparkCast:
    """The suite's macro casts to Postgres's `text`."""

    @pytest.fixture(scope="class")
    def macros(self):
        return {"cast.sql": STRING_LITERAL, "expect_value.sql": fixtures.MACROS__EXPECT_VALUE_SQL}


@pytest.mark.conformance
class TestAliases(SparkCast, BaseAliases):
    pass


class TestAliasErrors(BaseAliasErrors):
    pass


class TestSameAliasDifferentSchemas(SparkCast, BaseSameAliasDifferentSchemas):
    pass


@pytest.mark.conformance
class TestSameAliasDifferentDatabases(SparkCast, BaseSameAliasDifferentDatabases):
    pass
