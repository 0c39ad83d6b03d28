"""A file system that fails at a chosen step, the actions it fails in, and a process that races others."""
