"""Statements put first into the units of a file, to see whether tests execute them: one file a language."""
