"""The only room that touches files: file access, the names of files, time and processes; in `stores`, what is stored.

Knows metadata and schema, whose values it stores.
"""
