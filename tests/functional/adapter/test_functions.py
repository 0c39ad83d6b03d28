"""Functions as dbt resources: SQL and Python, with default arguments; aggregates."""

import pytest
from dbt.tests.adapter.functions.test_udafs import BasicPythonUDAF, BasicSQLUDAF, PythonUDAFDefaultArgSupport
from dbt.tests.adapter.functions.test_udfs import (
    CanFindScalarFunctionRelation,
    DeterministicUDF,
    ErrorForUnsupportedType,
    NonDeterministicUDF,
    PythonUDFDefaultArgSupport,
    PythonUDFEntryPointRequired,
    PythonUDFRuntimeVersionRequired,
    PythonUDFSupported,
    PythonUDFVolatilitySupport,
    PythonUDFWithPackagesSupported,
    SqlUDFDefaultArgSupport,
    StableUDF,
    UDFsBasic,
)


class TestUDFsBasic(UDFsBasic):
    pass


@pytest.mark.conformance
class TestDeterministicUDF(DeterministicUDF):
    pass


@pytest.mark.conformance
class TestStableUDF(StableUDF):
    pass


@pytest.mark.conformance
class TestNonDeterministicUDF(NonDeterministicUDF):
    pass


class TestErrorForUnsupportedType(ErrorForUnsupportedType):
    pass


class TestPythonUDFSupported(PythonUDFSupported):
    pass


@pytest.mark.conformance
class TestPythonUDFRuntimeVersionRequired(PythonUDFRuntimeVersionRequired):
    pass


@pytest.mark.conformance
class TestPythonUDFEntryPointRequired(PythonUDFEntryPointRequired):
    pass


@pytest.mark.conformance
class TestPythonUDFVolatilitySupport(PythonUDFVolatilitySupport):
    pass


@pytest.mark.conformance
class TestPythonUDFWithPackagesSupported(PythonUDFWithPackagesSupported):
    pass


class TestSqlUDFDefaultArgSupport(SqlUDFDefaultArgSupport):
    expect_default_arg_support = True


@pytest.mark.conformance
class TestPythonUDFDefaultArgSupport(PythonUDFDefaultArgSupport):
    expect_default_arg_support = True


@pytest.mark.conformance
class TestCanFindScalarFunctionRelation(CanFindScalarFunctionRelation):
    pass


class TestBasicPythonUDAF(BasicPythonUDAF):
    pass


class TestBasicSQLUDAF(BasicSQLUDAF):
    pass


@pytest.mark.conformance
class TestPythonUDAFDefaultArgSupport(PythonUDAFDefaultArgSupport):
    pass
