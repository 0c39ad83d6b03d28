"""The only room that touches files: file access, names, and the stores of snapshots, schemas and manifests.

Knows metadata and schema, whose values it stores.
"""
