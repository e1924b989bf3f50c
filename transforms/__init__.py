"""Engines that rewrite code without changing its meaning, and controls that do change it."""
