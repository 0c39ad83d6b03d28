"""What a model is configured to be: keys, options, contracts, compaction, configs of other adapters.

Knows `connection`. Touches no table.
"""
