"""Turns verdicts into rates, statistics, tables and files."""
