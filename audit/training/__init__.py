"""From a corpus to a checkpoint."""
