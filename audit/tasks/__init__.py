"""What can be asked of a model, and when two answers are the same."""
