"""What models may read changes."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.change_methods import _refuse_windows


def test_a_microbatch_reads_no_changes():
    """It would replace the rows of its window by those that changed."""
    model = {"unique_id": "model.shop.totals", "config": {"incremental_strategy": "microbatch"}}
    with pytest.raises(DbtRuntimeError, match=r"`changes\(orders\)` in model.shop.totals: .*microbatch.* Use"):
        _refuse_windows("changes(orders)", model)
    _refuse_windows("changes(orders)", {**model, "config": {"incremental_strategy": "changelog"}})
    _refuse_windows("changes(orders)", {"unique_id": "model.shop.totals"})
