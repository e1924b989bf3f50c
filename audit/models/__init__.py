"""Adapters: each makes one kind of model answer queries."""
