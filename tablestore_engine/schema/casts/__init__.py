"""Values of one type as another: which casts a column of an old file takes, and casts of Arrow arrays.

`cast_old_columns` decides how a column of an older type is read. `cast_arrays` makes the values exactly as Spark's ANSI
cast does, and null where that would fail, by `numbers`, `times`, `to_text` and `of_text`; `cast_bounds` casts
statistics. Knows `types`. No table, no file.
"""
