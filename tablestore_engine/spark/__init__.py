"""The engine on PySpark: the only rooms of the house that import it."""
