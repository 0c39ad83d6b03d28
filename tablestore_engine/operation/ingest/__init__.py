"""Changes from a Kafka topic into a table: each message counts once, because its offset is committed with its rows.

Knows `commands`, by which it writes, what lies below it, and the room `log`.
"""
