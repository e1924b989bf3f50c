"""Takes the documentation of a unit out of its text: a docstring of Python, elsewhere a comment in front.

Each language names its function in its record (`LanguageAudit.documentation`). `summary_of` gives what says
what the unit does, as CodeSearchNet takes it (Husain et al. 2019, section 2): the first paragraph, without
parameters, results and examples.
"""

import ast
import re
from typing import Final, NamedTuple

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import FunctionNode, content, first_line, parse


class Documented(NamedTuple):
    """A unit whose documentation stands apart."""

    source: str
    """The text without it."""
    words: str
    """The documentation as written, with the marks of comments. Empty: there is none."""


_COMMENTS: Final = re.compile(r"(?:\s*(?:/\*.*?\*/|//[^\n]*(?:\n|$)))+\s*", re.DOTALL)
"""Comments at the beginning of a text. There no string and no macro can begin with the same signs."""
_HASHES: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)+")
_ABOVE: Final = re.compile(
    r"(?:/\*(?:(?!\*/).)*\*/|(?://[^\n]*\n[ \t]*)*//[^\n]*)[ \t]*\n?[ \t]*$", re.DOTALL
)
"""A comment at the end of a text: a block, or lines of one."""
_MARKS: Final = re.compile(r"^\s*(?:/\*+!?|\*+/|\*(?!/)|//+!?|#+)?\s?|\s*\*+/\s*$")
_DETAILS: Final = re.compile(
    r"\s*(?:@\w+|\\(?:param|return|brief)\b|:\w[\w ]*:|>>>|\.\. |-{3,}|={3,}|```"
    r"|(?:args?|arguments|parameters|params|returns?|raises|throws|yields|examples?|notes?)\s*:)",
    re.IGNORECASE,
)
"""The beginning of a line that tells details: parameters, results, examples."""
_BRIEF: Final = re.compile(r"\s*[@\\]brief\s+")
_WORD: Final = re.compile(r"\w+")


def of_python(source: str) -> Documented | None:
    """The last function of a text and its docstring; `None` if the docstring cannot be taken out."""
    try:
        body = parse(source).body
    except SourceError:
        return None
    functions = [node for node in body if isinstance(node, FunctionNode)]
    if not functions:
        return None
    node = functions[-1]
    # Comments above the first statement describe it.
    skipped = _HASHES.match(source) if first_line(body[0]) == first_line(node) else None
    begin = skipped.end() if skipped else 0
    first = node.body[0]
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)) or not isinstance(
        first.value.value, str
    ):
        return Documented(source[begin:], source[:begin].strip())
    lines = source.split("\n")
    end = first.end_lineno or first.lineno
    before = lines[first.lineno - 1].encode()[: first.col_offset]
    behind = lines[end - 1].encode()[first.end_col_offset :]
    if before.strip() or behind.strip():
        return None  # another statement shares its line
    stripped = "\n".join([*lines[: first.lineno - 1], *lines[end:]])[begin:]
    # A second text would become the docstring, and a function of nothing else has no body.
    same = len(node.body) > 1 and content(stripped) == content(source)
    return Documented(stripped, ast.get_docstring(node) or "") if same else None


def of_comments(source: str) -> Documented:
    """A text in a language with comments `/* … */` and `// …`, and the comments at its beginning."""
    found = _COMMENTS.match(source)
    return Documented(source, "") if found is None else Documented(source[found.end() :], found.group())


def comment_above(text: str, line: int) -> str:
    """The comment that ends directly above a line of a file, counted from 1; empty if there is none."""
    found = _ABOVE.search("".join(text.splitlines(keepends=True)[: line - 1]))
    return found.group() if found else ""


def summary_of(words: str) -> str:
    """The first paragraph of a documentation in one line, without the marks of comments and without details;
    empty if there is none."""
    kept: list[str] = []
    for line in words.strip().splitlines():
        plain = _BRIEF.sub("", _MARKS.sub("", line)).strip()
        if _DETAILS.match(plain) or (not plain and kept):
            break
        if plain:
            kept.append(plain)
    return " ".join(" ".join(kept).split())


def shows(source: str, summary: str) -> bool:
    """Whether a text contains the words of a summary in their order, in any layout."""
    words = " ".join(words_of(summary))
    return f" {words} " in f" {' '.join(words_of(source))} "


def words_of(text: str) -> list[str]:
    """The lower-cased words of a text, without punctuation."""
    return _WORD.findall(text.lower())
