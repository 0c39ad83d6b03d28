"""Tables with deletion vectors that cannot be written: the reason, and a way out that is one."""

from __future__ import annotations

import pytest
from support.tables import schema_of

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.table.deletion_vector_rules import check_vectors_written

VECTORS = {"deletion-vectors.enabled": "true"}
LOG = {"log.system": "kafka", "log.kafka.bootstrap.servers": "localhost:9092", "log.kafka.topic": "t"}


def schema(keys, partitions, options):
    return schema_of({"p": "INT", "id": "INT", "v": "INT"}, keys, partitions, options)


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (("id",), LOG),
        ((), LOG),
        (("id",), {"compaction.schedule.enabled": "true"}),
    ],
)
def test_one_of_two_options_is_to_be_left_out(keys, options):
    with pytest.raises(OptionError, match=next(iter(options))) as caught:
        check_vectors_written(schema(keys, (), {**VECTORS, **options}))
    assert caught.value.hint == "Leave one of these two options out."
    check_vectors_written(schema(keys, (), VECTORS))
    check_vectors_written(schema(keys, (), options))


def test_another_engine_is_to_be_used():
    with pytest.raises(OptionError, match="'first-row', which replaces no row, nor by Paimon") as caught:
        check_vectors_written(schema(("id",), (), {**VECTORS, "merge-engine": "first-row"}))
    assert "with a primary key 'deduplicate', 'partial-update' or 'aggregation'" in caught.value.hint
    for engine in ("deduplicate", "partial-update", "aggregation"):
        check_vectors_written(schema(("id",), (), {**VECTORS, "merge-engine": engine}))


def test_tables_that_are_written():
    check_vectors_written(schema((), (), VECTORS))
    check_vectors_written(schema(("id",), (), {**VECTORS, "sequence.field": "v"}))


def test_the_producer_is_to_be_another_one():
    with pytest.raises(OptionError, match=r"'full-compaction', nor by Paimon\.") as caught:
        check_vectors_written(schema(("id",), (), {**VECTORS, "changelog-producer": "full-compaction"}))
    assert "'changelog-producer' = 'lookup'" in caught.value.hint
    for producer in ("none", "input", "lookup"):
        check_vectors_written(schema(("id",), (), {**VECTORS, "changelog-producer": producer}))


def test_the_key_is_to_be_the_whole_one():
    with pytest.raises(OptionError, match="leaves a partition column out") as caught:
        check_vectors_written(schema(("id",), ("p",), VECTORS))
    assert "add the partition columns" in caught.value.hint
    check_vectors_written(schema(("p", "id"), ("p",), VECTORS))
