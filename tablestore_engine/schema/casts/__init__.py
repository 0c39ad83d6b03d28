"""Values of one type as another: Arrow arrays, exactly as Spark's ANSI cast makes them, and null where it would fail.

`cast_arrays` chooses, `numbers`, `times`, `to_text` and `of_text` cast. Knows `types`. No table, no file.
"""
