"""Statements inserted at the start of units, to see whether tests execute them; one module per language."""
