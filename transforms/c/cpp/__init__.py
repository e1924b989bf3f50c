"""C++ (11 to 23), the second dialect of C's package: what it has beyond C, and what it means otherwise."""

from typing import Final

CPP: Final = "cpp"
