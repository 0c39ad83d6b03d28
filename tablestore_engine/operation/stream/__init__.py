"""Reading a table as a stream: where a stream is, what comes next, and how that is cut into pieces for tasks.

Knows `changelog` and what lies below it; no Spark.
"""
