"""Functions of other warehouses that sqlglot leaves as they are, as expressions of Spark's.

`lookup` is the door: it looks a function up by its name, in `templates`, which has Spark's text for those of a fixed
number of arguments, and in `composed`, which builds the others. `arrays` and `times` are rules for functions that
sqlglot knows. Imports `refusal` of the room above, and the rules of JSON.
"""
