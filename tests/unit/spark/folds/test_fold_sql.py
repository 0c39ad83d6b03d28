"""Folds that Spark's SQL cannot express are refused."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import ExecutionError
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.spark.folds.fold_sql import check_theta


def test_spark_that_has_no_theta_sketches():
    fold = Fold("v", "theta_sketch")
    check_theta(fold, "4.1.0-SNAPSHOT")
    with pytest.raises(ExecutionError, match=r"Column 'v'.*Spark 4\.0\.1 cannot.*to_arrow"):
        check_theta(fold, "4.0.1")
