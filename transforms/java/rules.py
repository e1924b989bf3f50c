"""Java's transforms that follow a strategy, by the name of the strategy; the families list them."""

from typing import Final

from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.strategies import (
    assignments,
    branches,
    conditions,
    dead_code,
    declarations,
    layout,
    literals,
    logic,
    loops,
    operands,
    switches,
)  # fmt: skip
from codeaudit.transforms.strategies.dialect import CodeStrategy

_RULES: Final = {
    name: Rewriting.of(strategy)
    for module in (assignments, branches, conditions, dead_code, declarations, layout, literals, logic, loops,
                   operands, switches)
    for name, strategy in vars(module).items()
    if isinstance(strategy, CodeStrategy)
}  # fmt: skip


def __getattr__(name: str) -> Rewriting:
    """The strategy of this name as a transform of Java, such as `rules.DE_MORGAN`.

    Raises:
        AttributeError: there is no such strategy.
    """
    if name in _RULES:
        return _RULES[name]
    raise AttributeError(f"no strategy {name!r}")
