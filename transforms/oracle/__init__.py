"""Differential execution: two programs on the same inputs, in a contained process."""
