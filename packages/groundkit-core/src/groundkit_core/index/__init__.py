"""A collection on disk: rows in SQLite, arrays in immutable segment files."""
