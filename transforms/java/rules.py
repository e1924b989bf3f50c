"""Java's transforms that follow a strategy, by the name of the strategy; the families list them."""

from functools import cache

from codeaudit.transforms.java.rewriting import Rewriting

rule = cache(Rewriting.named)


def __getattr__(name: str) -> Rewriting:
    """The strategy of this name as a transform of Java, such as `rules.DE_MORGAN`.

    Raises:
        AttributeError: there is no such strategy.
    """
    return rule(name)
