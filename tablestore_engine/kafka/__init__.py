"""The log of a table on Kafka: topics, the messages of changes, and transactions that send them; JSON of other tools.

Only this room imports the Kafka client, and only when a table has a log. It knows schemas, options, the hash of buckets
and Arrow, and nothing of files: which snapshots a log lacks is decided in `operation.log_store`.
"""
