"""What the metadata of a data file says about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.files import meta


@pytest.mark.parametrize(
    ("name", "kind"),
    [("data-1-0.parquet", "parquet"), ("data-1-0.orc", "orc"), ("data-1.2-0.avro", "avro"), ("data", "parquet")],
)
def test_the_end_of_the_name_is_the_format(name, kind):
    assert meta(name).format == kind


def test_a_file_is_in_its_bucket_unless_it_is_elsewhere():
    assert meta("f").path_in("/t/bucket-0") == "/t/bucket-0/f"
    assert replace(meta("f"), external_path="/elsewhere/f").path_in("/t/bucket-0") == "/elsewhere/f"
