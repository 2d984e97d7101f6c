"""Search, and citations that are checked against the source."""
