"""What is known of a C function: its variables, its effects, its macros."""
