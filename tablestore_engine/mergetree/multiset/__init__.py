"""Tables without a key that take retractions: rows and how often each is there."""
