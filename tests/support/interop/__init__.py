"""Other readers of the format as seen from the tests: programs that serve them, tables for them, and comparisons."""
