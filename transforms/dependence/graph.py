"""The dependence graph between the lines of a function: what networks and reports get of the relation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DependenceGraph:
    """The dependences between the lines of a function. The graph has no cycle: edges run with the text."""

    predecessors: tuple[int, ...]
    """Bit u of mask v is set iff there is an edge u -> v: line v depends on line u, and u < v."""

    @property
    def n(self) -> int:
        """The number of lines."""
        return len(self.predecessors)

    def edges(self) -> tuple[tuple[int, int], ...]:
        """All edges (u, v), sorted."""
        return tuple(
            (before, line)
            for before in range(self.n)
            for line in range(before + 1, self.n)
            if self.predecessors[line] >> before & 1
        )
