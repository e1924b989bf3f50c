"""Comments that may mark a section bound what moves; comments about a statement move with it."""

import re
from itertools import islice
from random import Random

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python import control_flow, order
from codeaudit.transforms.python.comments import marks_section
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.registry import TRANSFORMS

MARKS = (
    "###{standalone", "###}", "# region x", "#region", "# endregion", "# isort: off", "# fmt: off", "# fmt:on",
    "# type: ignore", "# pragma: no cover", "# pylint: disable=all", "# noqa", "# %%", "#%%", "# In[3]:",
    "# ---- helpers", "# Helpers --------", "##########", "## Helpers", "# {{{", "# }}}", "# [START x]",
    "# tag::x[]", "# BEGIN generated", "# end of x", "# yapf: disable", "# ruff: noqa", "# mypy: strict",
    "# /// script", "# -*- mode", "# <snippet>", "# DO NOT EDIT", "# this text is auto-generated",
    "# docs: start", "# @formatter:off", "# snippet-start:[x]", "#!x", "# nosec",
)  # fmt: skip
WORDS = (
    "# the total", "#the total", "# TODO: sort", "# Note: it is x", "#: what it is", "# - item", "# (see there)",
    "# x = 1", "# `f` is one", "# Ends here", "# Type of x", "# version: 3", "# 1. first", "#",
)  # fmt: skip

PROGRAMS = {
    "statements": "def f():\n    a = 101\n    b = 102\n    MARK\n    c = 103\n    d = 104\n    return a, b, c, d\n",
    "nested": "def f(x):\n    if x:\n        a = 101\n        b = 102\n        MARK\n        c = 103\n        d = 104\n"
    "        return a, b, c, d\n    return 105\n",
    "imports": "import re  # 101\nimport json  # 102\nMARK\nimport abc  # 103\nimport ast  # 104\n",
    "first import": "MARK\nimport abc  # 103\nimport ast  # 104\n",
    "imports in a function": "def f():\n    import re  # 101\n    import json  # 102\n    MARK\n    import abc  # 103\n"
    "    import ast  # 104\n    return re, json, abc, ast\n",
    "functions": "def a():\n    return 101\n\n\ndef b():\n    return 102\n\n\nMARK\ndef c():\n    return 103\n\n\n"
    "def d():\n    return 104\n",
    "methods": "class C:\n    def a(self):\n        return 101\n\n    def b(self):\n        return 102\n\n    MARK\n"
    "    def c(self):\n        return 103\n\n    def d(self):\n        return 104\n",
    "except": "def f():\n    try:\n        return g()\n    except AttributeError:\n        return 101\n    MARK\n"
    "    except OSError:\n        return 102\n    except NameError:\n        return 103\n",
    "cases": "def f(x):\n    y = len(str(x is None))\n    match y:\n        case 1:\n            return 101\n        MARK\n"
    "        case 2:\n            return 102\n        case 3:\n            return 103\n",
    "branches": "def f(x):\n    y = len(str(x is None))\n    if y == 4:\n        return 101\n    MARK\n    elif y == 5:\n"
    "        return 102\n    elif y == 6:\n        return 103\n    return 104\n",
    "an else": "def f(x):\n    if x is None:\n        y = 101\n    MARK\n    else:\n        y = 102\n    return y\n",
    "behind an if": "def f(x):\n    if x is None:\n        return 101\n    MARK\n    y = 102\n    return y\n",
}  # fmt: skip
MOVING = tuple(name for family in (order.FAMILY, control_flow.FAMILY) for name in family.transforms)


def above(text: str, mark: str) -> set[str]:
    """The numbers that stand above a mark."""
    return set(re.findall(r"\b10\d\b", text.partition(mark + "\n")[0]))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("mark", MARKS)
def test_nothing_moves_past_what_may_mark_a_section(mark: str) -> None:
    for title, program in PROGRAMS.items():
        source = program.replace("MARK", mark)
        for name in MOVING:
            rule = TRANSFORMS.get(name)
            for seed in range(2):
                moves = rule.propose(source, Random(seed))
                if isinstance(moves, Refused):
                    break
                rewritten = rule.apply(source, moves)
                assert not isinstance(rewritten, Refused), (name, rewritten)
                assert above(rewritten.source, mark) == above(source, mark), (title, name, rewritten.source)


@pytest.mark.parametrize("title", ["statements", "nested", "imports", "functions", "methods"])
def test_on_either_side_of_a_mark_statements_still_move(title: str) -> None:
    name = {"imports": "reorder-imports", "functions": "reorder-functions", "methods": "reorder-methods"}
    rule = TRANSFORMS.get(name.get(title, "reorder"))
    for mark in MARKS:
        assert not isinstance(rule.propose(PROGRAMS[title].replace("MARK", mark), Random(1)), Refused)


@pytest.mark.parametrize("words", WORDS)
def test_a_comment_of_words_moves_with_the_statement_below(words: str) -> None:
    source = PROGRAMS["statements"].replace("MARK", words)
    texts = set()
    for moves in islice(REORDER.every(source), 30):
        rewritten = REORDER.apply(source, moves)
        assert not isinstance(rewritten, Refused)
        assert f"{words}\n    c = 103" in rewritten.source
        texts.add(rewritten.source)
    assert len(texts) > 20


@pytest.mark.parametrize("title", ["statements", "imports", "functions", "methods"])
def test_a_comment_that_stands_alone_bounds_too(title: str) -> None:
    source = re.sub("MARK\n", "# What follows is something else.\n\n", PROGRAMS[title])
    mark = "# What follows is something else."
    assert mark in source
    for name in MOVING:
        rule = TRANSFORMS.get(name)
        moves = rule.propose(source, Random(0))
        if not isinstance(moves, Refused):
            rewritten = rule.apply(source, moves)
            assert not isinstance(rewritten, Refused)
            assert above(rewritten.source, mark) == above(source, mark), (name, rewritten.source)


def test_marks_and_words_are_told_apart() -> None:
    assert [mark for mark in MARKS if not marks_section(mark)] == []
    assert [words for words in WORDS if marks_section(words)] == []
