"""Configuration: what a model asks of its table by config keys, options, contracts and configs of other adapters.

Knows `dialect` and the engine's options. Reads no table: everything here is decided from the model alone.
"""
