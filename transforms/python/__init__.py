"""The engine for Python: `ast` for structure, byte splices for edits."""
