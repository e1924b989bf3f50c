"""The command line: the one place that sees everything, and that nothing imports."""
