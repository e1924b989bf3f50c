"""Statements and definitions in another order."""
