"""Merge engines as a schema declares them: engine, aggregate functions, sequence groups. Pure."""
