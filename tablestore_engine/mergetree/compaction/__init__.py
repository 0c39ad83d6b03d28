"""The shape of a merge tree: levels, sorted runs, sections, and which of them to compact. Pure."""
