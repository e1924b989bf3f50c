"""Independent readers and compilers that judge what an engine did."""
