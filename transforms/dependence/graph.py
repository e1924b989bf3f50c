"""The dependence graph between lines, as networks and reports see it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DependenceGraph:
    """Dependences between the lines of a function."""

    predecessors: tuple[int, ...]
    """Bit u of mask v is set iff there is an edge u -> v: line v depends on line u, and u < v."""

    @property
    def n(self) -> int:
        """How many lines there are."""
        return len(self.predecessors)

    def edges(self) -> tuple[tuple[int, int], ...]:
        """All edges (u, v), sorted."""
        return tuple(
            (before, line)
            for before in range(self.n)
            for line in range(before + 1, self.n)
            if self.predecessors[line] >> before & 1
        )
