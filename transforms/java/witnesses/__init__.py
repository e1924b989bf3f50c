"""Independent parsers and compilers that check the results of transforms."""
