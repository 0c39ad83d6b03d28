"""The merge tree: sorted runs over levels, what to compact, and how rows of one key merge."""
