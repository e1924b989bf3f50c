"""Intervals and tests. Every function takes plain numbers and returns a frozen record, never NaN."""
