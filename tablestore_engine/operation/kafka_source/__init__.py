"""Changes from a Kafka topic into a table: each message counts once, because its offset is committed with its rows.

Knows `table_commands`, by which it writes, what lies below it, and the room `kafka`.
"""
