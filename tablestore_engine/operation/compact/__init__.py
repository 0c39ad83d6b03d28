"""Compaction: plans, tasks, automatic runs after a write, and the schedule that other processes carry out.

Knows every other room of `operation`.
"""
