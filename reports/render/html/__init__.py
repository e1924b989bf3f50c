"""Writes a report as one self-contained HTML page."""
