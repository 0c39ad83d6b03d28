"""Texts that are compared without their line breaks."""

from __future__ import annotations


def one_line(text):
    """A text with one space wherever it has white space."""
    return " ".join(text.split())
