"""Configuration: what a model asks of its table by config keys, options, contracts and configs of other adapters.

Knows `dialect`, and of the engine its options, schemas, types as text and the sources of `operation.kafka_source`.
Reads no table: everything here is decided from the model alone.
"""
