"""Java: what is moved, renamed or rewritten, and how it is known that the meaning stays."""
