"""Comments that mark a section of a text, so that no statement may move past them.

Editors, formatters, linters, coverage tools and generators read such comments: regions, cells, switches, and
the braces that some projects write for their own scripts. Any other comment directly above a statement is
about that statement and moves with it.
"""

import re
from collections.abc import Callable
from typing import Final

_WORDS: Final = re.compile(
    r"""(?:
        %%|In\s?\[|<\w*cell>                                                  # cells of notebooks
        |(?:end|end\s|end-|end_)?(?:region|section|block|marker|anchor|snippet|group|editor-fold|fold)\b
        |(?:begin|end|start|stop|resume|pause)\b                              # of whatever
        |(?:noqa|nosec|nopep8|nosonar|noinspection|pragma|nopycln|pycln|codespell|cspell|fmt|isort|yapf|black|ruff
            |flake8|pylint|pylama|mypy|pyright|basedpyright|pyre|pytype|pyrefly|ty|coverage|autopep8|autoflake
            |cython|distutils|vulture|bandit|semgrep|lgtm|sourcery|vim?|emacs|encoding|coding|sphinx
            |jupyter|jupytext|type|skipcq|deepcode|snyk|checkov|dvc|@\w+)(?:\s*[:=\[(-]|\s*$|-)
        |(?:noqa|nosec|nopep8|pragma)\b
        |[\w.-]+\s*:{1,2}\s*(?:on|off|start|begin|end|stop|enable|disable|skip|split|ignore|noqa|next|no)\b
        |[\w.-]+::                                                            # asciidoc: `tag::name[]`
        |.*\b(?:do\s+not\s+(?:edit|modify|change|move|remove|touch|reorder|sort)|auto-?generated|keep\s+sorted
            |generated\s+(?:by|code|from)|above\s+this|below\s+this|(?:above|below)\s*:?\s*$)
        |.*[-=*~_+\#.<>]{4,}\s*$                                              # a rule across the page
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_PLAIN: Final = re.compile(r"""\#:?(?:[ \t]+(?:[\w"'`(]|[-*][ \t])|\w|[ \t]*$)""")
"""How a comment of words begins; `###{`, `# ---`, `#!`, `# [START x]`, `# {{{` do not."""


def marks_section(comment: str) -> bool:
    """Whether a comment may mark a section, which begins or ends there or applies from there on."""
    comment = comment.strip()
    if not _PLAIN.match(comment):
        return True
    return _WORDS.match(comment.lstrip("#: \t")) is not None


def bounds(source: bytes, end: int, start: int) -> bool:
    """Whether a comment that stays between two statements bounds what moves.

    The first statement ends at `end`; the lines of the second one begin at `start`, with its comments. A
    comment of words that is indented deeper than the second belongs to the block above.
    """
    line = source[start : source.find(b"\n", start)]
    indent = len(line) - len(line.lstrip(b" \t\f"))
    for text in source[end:start].splitlines():
        bare = text.lstrip(b" \t\f")
        if bare.startswith(b"#") and (len(text) - len(bare) <= indent or marks_section(bare.decode())):
            return True
    return False


def first_comment(line_of: Callable[[int], bytes], line: int, column: int, above: int) -> int:
    """The first of the comment lines directly above a statement, which move with it; 1-based.

    `line` and `column` are those of the statement; the code before it ends on the line `above`. `line_of`
    gives the text of a line. Comments that are indented deeper belong to the code before.
    """
    while line - 1 > above:
        text = line_of(line - 1)
        bare = text.lstrip(b" \t\f")
        # The comment of a deeper block above must not leave it for this statement.
        if not bare.startswith(b"#") or len(text) - len(bare) > column or marks_section(bare.decode()):
            break
        line -= 1
    return line
