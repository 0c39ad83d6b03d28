"""Reading JSON of changes: records as Arrow columns of the table's types, each that cannot be read with its reason."""
