"""Which tables a streaming DataFrame reads, however Spark is given their folders."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.stream.streamed_folders import streamed_folders

PROTO = pytest.importorskip("pyspark.sql.connect.proto")


def frame_of(plan):
    session = type("Session", (), {"client": None})()
    kind = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe", "sparkSession": session})
    frame = kind()
    frame._plan = type("Plan", (), {"to_proto": lambda self, client: plan})()
    return frame


def read_of(streaming=True, name="tablestore", **given):
    source = PROTO.Read.DataSource(format=name, **given)
    return PROTO.Relation(read=PROTO.Read(is_streaming=streaming, data_source=source))


def test_folders_of_streams_over_spark_connect(tmp_path):
    paths = {name: str(tmp_path / name) for name in ("given", "option", "batch", "other")}
    reads = [
        read_of(paths=[paths["given"]]),
        read_of(name="TableStore", options={"Path": paths["option"]}),
        read_of(streaming=False, options={"path": paths["batch"]}),
        read_of(name="parquet", options={"path": paths["other"]}),
    ]
    joined = reads[0]
    for one in reads[1:]:
        joined = PROTO.Relation(join=PROTO.Join(left=joined, right=PROTO.Relation(filter=PROTO.Filter(input=one))))
    found = streamed_folders(frame_of(PROTO.Plan(root=joined)))
    assert found == {paths["given"], paths["option"]}
