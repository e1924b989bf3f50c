"""C++ (11 to 23), the second dialect of the package of C: what it has beyond C, and what it means otherwise."""
