"""What a text may mention, told from its words, and from its tree: whatever the tree shows, the words allow."""

import ast
from collections.abc import Sequence
from random import Random

import pytest

from codeaudit.transforms.python.analysis.capabilities import looks_at_variables, may_look, shown_by
from codeaudit.transforms.python.analysis.mentions import mentions_in, words_of
from tests.support.stdlib import sample

NAMES = ("f_locals", "co_varnames", "__dict__", "locals")


def spellings(name: str) -> Sequence[str]:
    """Texts that are this name, made of constants in the ways that programs use."""
    cut = Random(name).randrange(1, len(name))
    first, second = name[:cut], name[cut:]
    return (
        f"{name!r}",
        f"{first!r} {second!r}",
        f"{first!r} + {second!r}",
        f"({first!r}\n    {second!r})",
        f"''.join([{first!r}, {second!r}])",
        f"''.join(({first!r}, {second!r}))",
        f"'%s%s' % ({first!r}, {second!r})",
        f"'{first}%s' % {second!r}",
        f"'%s{second}' % ({first!r},)",
        f'f"{{{first!r}}}{second}"',
        f'f"{first}{{{second!r}}}"',
        "'" + "".join(f"\\x{ord(letter):02x}" for letter in name) + "'",
        "'" + "".join(f"\\{ord(letter):o}" for letter in name) + "'",
        f"'\\N{{LATIN SMALL LETTER {name[1].upper()}}}{name[2:]}'" if name[1].isalpha() else f"{name!r}",
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_words_hold_every_name_that_the_tree_shows(name: str) -> None:
    for spelled in spellings(name):
        text = f"def f(x):\n    y = 1\n    return getattr(x, {spelled})\n"
        told, words = mentions_in(ast.parse(text)).texts, words_of(text)
        made = {one for one in told if one.isidentifier()}
        assert made, spelled
        assert words is None or made <= words, spelled


@pytest.mark.parametrize("name", ["f_locals", "co_varnames"])
def test_a_name_is_seen_however_its_text_is_made(name: str) -> None:
    for spelled in spellings(name)[:-1]:
        text = f"def f(x):\n    y = 1\n    return getattr(x, {spelled})\n"
        assert shown_by(text), spelled
        assert may_look(text), spelled


def test_whatever_looks_has_a_word_that_says_so() -> None:
    sources = sample(400)
    looking = [one for one in sources if looks_at_variables(ast.parse(one))]
    assert looking
    assert all(map(may_look, looking))
    assert sum(map(may_look, sources)) < len(sources) / 4
