"""Functions as dbt resources: SQL and Python, with default arguments; aggregates."""

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


class TestDeterministicUDF(DeterministicUDF):
    pass


class TestStableUDF(StableUDF):
    pass


class TestNonDeterministicUDF(NonDeterministicUDF):
    pass


class TestErrorForUnsupportedType(ErrorForUnsupportedType):
    pass


class TestPythonUDFSupported(PythonUDFSupported):
    pass


class TestPythonUDFRuntimeVersionRequired(PythonUDFRuntimeVersionRequired):
    pass


class TestPythonUDFEntryPointRequired(PythonUDFEntryPointRequired):
    pass


class TestPythonUDFVolatilitySupport(PythonUDFVolatilitySupport):
    pass


class TestPythonUDFWithPackagesSupported(PythonUDFWithPackagesSupported):
    pass


class TestSqlUDFDefaultArgSupport(SqlUDFDefaultArgSupport):
    expect_default_arg_support = True


class TestPythonUDFDefaultArgSupport(PythonUDFDefaultArgSupport):
    expect_default_arg_support = True


class TestCanFindScalarFunctionRelation(CanFindScalarFunctionRelation):
    pass


class TestBasicPythonUDAF(BasicPythonUDAF):
    pass


class TestBasicSQLUDAF(BasicSQLUDAF):
    pass


class TestPythonUDAFDefaultArgSupport(PythonUDAFDefaultArgSupport):
    pass
