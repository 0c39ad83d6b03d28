"""Makes `engine_support` importable from every test below."""

from __future__ import annotations
