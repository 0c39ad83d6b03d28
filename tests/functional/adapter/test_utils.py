import pytest
import yaml
from dbt.tests.adapter.utils import fixture_get_intervals_between
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_float import BaseTypeFloat
from dbt.tests.adapter.utils.data_types.test_type_int import BaseTypeInt
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampAware
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_spine import BaseDateSpine
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import (
    BaseEscapeSingleQuotesBackslash,
    BaseEscapeSingleQuotesQuote,
)
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_generate_series import BaseGenerateSeries
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween
from dbt.tests.adapter.utils.test_get_powers_of_two import BaseGetPowersOfTwo
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_null_compare import BaseMixedNullCompare, BaseNullCompare
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod


class TestAnyValue(BaseAnyValue):
    pass


@pytest.mark.conformance
class TestArrayAppend(BaseArrayAppend):
    pass


@pytest.mark.conformance
class TestArrayConcat(BaseArrayConcat):
    pass


class TestArrayConstruct(BaseArrayConstruct):
    pass


class TestBoolOr(BaseBoolOr):
    pass


class TestCalculateFreshnessMethod(BaseCalculateFreshnessMethod):
    pass


@pytest.mark.conformance
class TestCast(BaseCast):
    pass


@pytest.mark.conformance
class TestCastBoolToText(BaseCastBoolToText):
    pass


@pytest.mark.conformance
class TestConcat(BaseConcat):
    pass


class TestCurrentTimestampAware(BaseCurrentTimestampAware):
    pass


class TestCurrentTimestamps(BaseCurrentTimestamps):
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return None

    @pytest.fixture(scope="class")
    def expected_schema(self):
        return {
            "current_timestamp": "timestamp",
            "current_timestamp_in_utc_backcompat": "timestamp",
            "current_timestamp_backcompat": "timestamp",
        }


@pytest.mark.conformance
class TestDate(BaseDate):
    pass


class TestDateAdd(BaseDateAdd):
    pass


class TestDateDiff(BaseDateDiff):
    pass


class TestDateSpine(BaseDateSpine):
    pass


class TestDateTrunc(BaseDateTrunc):
    pass


@pytest.mark.conformance
class TestEquals(BaseEquals):
    pass


@pytest.mark.conformance
class TestEscapeSingleQuotesBackslash(BaseEscapeSingleQuotesBackslash):
    pass


class TestEscapeSingleQuotesQuote(BaseEscapeSingleQuotesQuote):
    pass


@pytest.mark.conformance
class TestExcept(BaseExcept):
    pass


@pytest.mark.conformance
class TestGenerateSeries(BaseGenerateSeries):
    pass


@pytest.mark.conformance
class TestGetIntervalsBetween(BaseGetIntervalsBetween):
    @pytest.fixture(scope="class")
    def models(self):
        """With dates that Spark reads."""
        model = """
select {{ get_intervals_between("'2023-09-01'", "'2023-09-12'", "day") }} as intervals, 11 as expected
"""
        return {
            "test_get_intervals_between.yml": fixture_get_intervals_between.models__test_get_intervals_between_yml,
            "test_get_intervals_between.sql": model,
        }


@pytest.mark.conformance
class TestGetPowersOfTwo(BaseGetPowersOfTwo):
    pass


class TestHash(BaseHash):
    pass


@pytest.mark.conformance
class TestIntersect(BaseIntersect):
    pass


@pytest.mark.conformance
class TestLastDay(BaseLastDay):
    pass


@pytest.mark.conformance
class TestLength(BaseLength):
    pass


class TestListagg(BaseListagg):
    pass


@pytest.mark.conformance
class TestMixedNullCompare(BaseMixedNullCompare):
    pass


@pytest.mark.conformance
class TestNullCompare(BaseNullCompare):
    pass


@pytest.mark.conformance
class TestPosition(BasePosition):
    pass


@pytest.mark.conformance
class TestReplace(BaseReplace):
    pass


@pytest.mark.conformance
class TestRight(BaseRight):
    pass


class TestSafeCast(BaseSafeCast):
    pass


class TestSplitPart(BaseSplitPart):
    pass


@pytest.mark.conformance
class TestStringLiteral(BaseStringLiteral):
    pass


@pytest.mark.conformance
class TestTypeBigInt(BaseTypeBigInt):
    pass


@pytest.mark.conformance
class TestTypeBoolean(BaseTypeBoolean):
    pass


class TestTypeFloat(BaseTypeFloat):
    pass


@pytest.mark.conformance
class TestTypeInt(BaseTypeInt):
    @pytest.fixture(scope="class")
    def seeds(self):
        """A seed's whole numbers are bigint unless it says otherwise."""
        types = {"seeds": [{"name": "expected", "config": {"column_types": {"int_col": "int"}}}]}
        return {"expected.csv": "int_col\n12345678\n", "expected.yml": yaml.safe_dump(types)}


@pytest.mark.conformance
class TestTypeNumeric(BaseTypeNumeric):
    pass


@pytest.mark.conformance
class TestTypeString(BaseTypeString):
    pass


@pytest.mark.conformance
class TestTypeTimestamp(BaseTypeTimestamp):
    pass


class TestValidateSqlMethod(BaseValidateSqlMethod):
    pass
