"""Models with their hidden columns in another order: checkpoints that are sealed, and `--wrap columns`."""
