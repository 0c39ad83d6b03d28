"""The engine on PySpark. Besides these rooms, only the front door and the rooms of `sql` that handle rows import it."""
