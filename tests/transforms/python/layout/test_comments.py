"""Comments that come and go; what stays is the tree, and what tools read."""

import io
import tokenize

import pytest

from codeaudit.transforms.python.layout.lines import (
    AFTER_BACKSLASH,
    ENCODING,
    FOR_A_TOOL,
    INSERT_COMMENTS,
    PHRASES,
    REMOVE_COMMENTS,
    directive,
)
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import outcome, reasons, untouched, variants

REMOVED = {
    "on a line of its own: the line goes": ("a = 1\n# b\nc = 2\n", "a = 1\nc = 2\n"),
    "at the end of a line: the blanks before it go": ("a = 1  # b\nc = 2\n", "a = 1\nc = 2\n"),
    "inside brackets": ("a = [  # b\n    # c\n    1,  # d\n]\n", "a = [\n    1,\n]\n"),
    "behind a string over lines": ('a = """#\n  # """  # b\n', 'a = """#\n  # """\n'),
    "at the end of the text": ("def f():\n    return 1\n    # b", "def f():\n    return 1\n"),
    "between blocks": ("if a:\n    b()\n  # c\nelse:\n    d()\n", "if a:\n    b()\nelse:\n    d()\n"),
    "a sign in a string is none": ("a = '#'  # b\n", "a = '#'\n"),
    "an f-string": ("a = f'#{b}#'  # c\n", "a = f'#{b}#'\n"),
    "carriage returns": ("a = 1  # b\r\n# c\r\nd = 2\r\n", "a = 1\r\nd = 2\r\n"),
    "beside a tab": ("if a:\n\tb()\t# c\n", "if a:\n\tb()\n"),
    "wide characters": ("a = 'é€'  # é\n", "a = 'é€'\n"),
    "above a method": ("class _:\n    # a\n    def f(self): pass\n", "class _:\n    def f(self): pass\n"),
    "an encoding far from the head": ("a = 1\n# b\n# coding: x\n", "a = 1\n# coding: x\n"),
}

KEPT = {
    "a type": ("a = []  # type: list\n", FOR_A_TOOL),
    "noqa": ("a = b  # noqa: F821\n", FOR_A_TOOL),
    "pragma": ("a = b  # pragma: no cover\n", FOR_A_TOOL),
    "pylint": ("# pylint: disable=all\na = b\n", FOR_A_TOOL),
    "fmt": ("# fmt: off\na = b\n", FOR_A_TOOL),
    "the begin of a part that a generator copies": ("###{standalone\na = b\n", FOR_A_TOOL),
    "a region of an editor": ("# region helpers\na = b\n", FOR_A_TOOL),
    "a cell": ("# %% first\na = b\n", FOR_A_TOOL),
    "a mark of one's own behind code": ("a = b  # [START part]\n", FOR_A_TOOL),
    "an encoding": ("# -*- coding: utf-8 -*-\na = b\n", FOR_A_TOOL),
    "an interpreter": ("#!/usr/bin/python\na = b\n", FOR_A_TOOL),
    "what would bring an encoding to the second line": (
        "# a\n\n# b\n# vim: set fileencoding=x :\n",
        ENCODING,
    ),
    "the end of a continued line": ("a = 1 \\\n# b\n", AFTER_BACKSLASH),
}


@pytest.mark.parametrize("case", REMOVED)
def test_removed(case: str) -> None:
    before, after = REMOVED[case]
    edit = outcome(REMOVE_COMMENTS, before)
    assert isinstance(edit, Perturbed), edit
    assert edit.source == after
    assert edit.evidence == "compiled"


@pytest.mark.parametrize("case", KEPT)
def test_kept(case: str) -> None:
    before, reason = KEPT[case]
    assert reason in reasons(REMOVE_COMMENTS, before)
    assert untouched(REMOVE_COMMENTS, before)


def test_a_comment_is_inserted_above_or_at_the_end() -> None:
    texts = variants(INSERT_COMMENTS, "def f(a):\n    return a\n")
    assert len(texts) == 3 * len(PHRASES)
    assert f"def f(a):\n    # {PHRASES[0]}\n    return a\n" in texts
    assert f"def f(a):\n    return a  # {PHRASES[0]}\n" in texts
    assert f"def f(a):  # {PHRASES[0]}\n    return a\n" in texts


NOWHERE = {
    "in a string over lines": 'a = """\nb\n"""  # c\n',
    "in an f-string over lines": 'a = f"""\n{b}\n"""  # c\n',
    "behind a backslash": "a = 1 + \\\n    2  # c\n",
    "above an encoding": "# coding: utf-8\na = 1  # c\n",
    "above an interpreter": "#!/usr/bin/python\na = 1  # c\n",
    "in the line above a method": "class _:\n    def f(self): pass  # c\n",
}


@pytest.mark.parametrize("case", NOWHERE)
def test_nothing_is_inserted(case: str) -> None:
    assert variants(INSERT_COMMENTS, NOWHERE[case]) == set()


def test_brackets_over_lines_take_comments_at_the_ends_of_lines() -> None:
    texts = variants(INSERT_COMMENTS, "a = [\n    1,\n]  # c\n")
    assert texts == {
        text.replace("@", f"  # {phrase}")
        for phrase in PHRASES
        for text in ("a = [@\n    1,\n]  # c\n", "a = [\n    1,@\n]  # c\n")
    }


def test_a_directive_stays_right_above_its_line() -> None:
    texts = variants(INSERT_COMMENTS, "a = 1  # c\n# pylint: disable=all\nb = 2\n")
    assert texts == {f"a = 1  # c\n# pylint: disable=all\nb = 2  # {phrase}\n" for phrase in PHRASES}


def test_no_phrase_is_taken_for_an_order() -> None:
    for phrase in PHRASES:
        assert not directive(f"# {phrase}")
        assert not phrase.startswith((">>>", "..."))
        tokens = tokenize.generate_tokens(io.StringIO(f"# {phrase}\n").readline)
        assert next(tokens).string == f"# {phrase}"
