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
    bodies = set()
    for seed in range(12):
        moves = rule.propose(source, Random(seed))
        assert not isinstance(moves, Refused), moves
        bodies |= {_body(rule, source, (move,), head) for move in moves}
    return bodies


def refused(rule: Rewriting, text: str, head: str = HEAD) -> str:
    """Why a rule does nothing to a body."""
    refusal = rule.propose(method(text, head), Random(0))
    assert isinstance(refusal, Refused), refusal
    return refusal.reason


def _body(rule: Rewriting, source: str, moves: tuple[Move, ...], head: str) -> str:
    rewritten = rule.apply(source, moves)
    assert isinstance(rewritten, Rewritten), rewritten
    assert rewritten.source.startswith(head)
    return " ".join(rewritten.source[len(head) :].strip().removeprefix("{").removesuffix("}").split())


def alone(rule: Rewriting, text: str, head: str = HEAD) -> set[str]:
    """The bodies after each option of each site, one at a time, and the reasons of all refusals."""
    source = method(text, head)
    places = list(rule.sites(source))
    bodies = {place.reason for place in places if isinstance(place, Refused)}
    sites = [place for place in places if not isinstance(place, Refused) and place.options]
    for number, site in enumerate(sites):
        for option in range(len(site.options)):
            move = Move(kind=rule.name, site=number, value=(option,), note="")
            bodies.add(_body(rule, source, (move,), head))
    return bodies
