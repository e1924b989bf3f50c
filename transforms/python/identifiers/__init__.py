"""Names: what may be called otherwise, and what it is called then."""
