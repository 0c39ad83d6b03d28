"""Tables without a key that take retractions: rows with counts. Pure."""
