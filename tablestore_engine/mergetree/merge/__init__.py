"""Merging records of one key: order, folds, retractions and sequence groups, on Arrow. Pure."""
