"""The papers' networks, one file each, over one trunk."""
