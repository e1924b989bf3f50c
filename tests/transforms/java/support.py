"""What the tests of the catalogue share: statements in a method, and everything a rule makes of them."""

from random import Random

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.records import Move

HEAD = (
    "static int f(int a, int b, long l, double d, char c, boolean p, boolean q, String s, Object o, int[] v)"
)


def method(text: str, head: str = HEAD) -> str:
    """A method with this body on one line, so that results are easy to compare."""
    return f"{head} {{ {text} }}"


def everything(rule: Rewriting, text: str, head: str = HEAD, *, seed: int = 0) -> str:
    """The body after an edit at every site, with blanks and line breaks as one blank each."""
    source = method(text, head)
    moves = rule.propose(source, Random(seed))
    assert not isinstance(moves, Refused), moves
    return _body(rule, source, moves, head)


def variants(rule: Rewriting, text: str, head: str = HEAD) -> set[str]:
    """The bodies after one edit, in every way there is."""
    source = method(text, head)
    found = set()
    for seed in range(12):
        moves = rule.propose(source, Random(seed))
        assert not isinstance(moves, Refused), moves
        found |= {_body(rule, source, (move,), head) for move in moves}
    return found


def refused(rule: Rewriting, text: str, head: str = HEAD) -> str:
    """Why a rule does nothing to a body."""
    found = rule.propose(method(text, head), Random(0))
    assert isinstance(found, Refused), found
    return found.reason


def _body(rule: Rewriting, source: str, moves: tuple[Move, ...], head: str) -> str:
    found = rule.apply(source, moves)
    assert isinstance(found, Rewritten), found
    assert found.source.startswith(head)
    return " ".join(found.source[len(head) :].strip().removeprefix("{").removesuffix("}").split())


def alone(rule: Rewriting, text: str, head: str = HEAD) -> set[str]:
    """The bodies after each option of each site, one at a time, and the reasons of all refusals."""
    source = method(text, head)
    found = list(rule.sites(source))
    bodies = {one.reason for one in found if isinstance(one, Refused)}
    sites = [one for one in found if not isinstance(one, Refused) and one.options]
    for number, site in enumerate(sites):
        for option in range(len(site.options)):
            move = Move(kind=rule.name, site=number, value=(option,), note="")
            bodies.add(_body(rule, source, (move,), head))
    return bodies
