"""A process that takes messages into a table, and kills itself at a step.

python syncer.py <table> <brokers> <topic> <step>
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from support.fault.die import die

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.kafka_source import sync_topic
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.table_commands import arrow_write


def main(path, servers, topic, step):
    table = Catalog(os.path.dirname(os.path.dirname(path))).load_table("default", os.path.basename(path))
    if step == "read":
        sync_topic.write_arrow = die
    if step == "written":
        arrow_write.publish = die
    if step == "committed":
        arrow_write.follow = die
    sync_topic.sync_from_kafka(table.state, KafkaSource(topic, servers), sync_topic.SyncRules())


if __name__ == "__main__":
    main(*sys.argv[1:])
