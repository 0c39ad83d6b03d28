"""ALTER TABLE as a pure function: schema changes, applied to a schema, give the next one.

`apply_changes` folds the changes, `draft` is the schema in the making, `edit_fields` edits columns and the fields
inside of them by path, `computed_column_changes` changes the columns that are evaluated on read, `column_options` knows
which options name columns, `partition_fields` changes what new rows are partitioned by, `refused_changes` says what a
table cannot change. Knows the sub-rooms below it, and reads no file.
"""
