"""Sketches for approximate counts, as binary values that Paimon's readers understand. Pure."""
