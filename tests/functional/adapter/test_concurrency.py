from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency, seeds__update_csv
from dbt.tests.util import (
    check_relations_equal,
    check_table_does_not_exist,
    rm_file,
    run_dbt,
    run_dbt_and_capture,
    write_file,
)


class TestConcurrency(BaseConcurrency):
    pass
