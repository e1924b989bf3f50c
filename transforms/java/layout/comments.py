"""Comments that say nothing of what the code does come and go."""

import re
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.dead_code.insertions import gaps
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import JavaSource
from codeaudit.transforms.patches import Patch, Site

FOR_A_TOOL: Final = "comment is for a tool"
DOCUMENTATION: Final = "comment is documentation"
PHRASES: Final = (
    "next part", "as described above", "see the notes", "keep this in mind", "to be continued below",
    "part of the same step", "this was discussed before", "nothing special here", "one step further",
    "same as usual",
)  # fmt: skip
"""They fit everywhere, and no tool takes them for an order."""
_DIRECTIVE: Final = re.compile(
    r"/[/*]\s*(?:noinspection|CHECKSTYLE|NOPMD|NOSONAR|NOLINT|\$NON-NLS|@formatter|language=|spotless|"
    r"SPOTLESS|CSOFF|CSON|region|endregion|lgtm|codeql|fall[\s-]?through|\$FALL)",
    re.IGNORECASE,
)


def _insert(code: JavaSource) -> Iterator[Site | Refused]:
    for row in gaps(code):
        for gap in row:
            at = gap.before.start
            options = [
                (Patch(at, at, (f"// {phrase}{code.newline}{gap.indentation}",)),) for phrase in PHRASES
            ]
            end = gap.before.end
            if not code.source[end:].partition(b"\n")[0].strip() and b"\n" in code.source[end:]:
                options += [(Patch(end, end, (f" // {phrase}",)),) for phrase in PHRASES]
            yield Site(tuple(options), "comment", code.line(gap.before))


def _remove(code: JavaSource) -> Iterator[Site | Refused]:
    for _, start, end in code.reading.comments:
        text = code.source[start:end].decode()
        if _DIRECTIVE.match(text):
            yield Refused(FOR_A_TOOL)
            continue
        if text.startswith("/**") and not code.unit.start <= start < code.unit.end:
            yield Refused(DOCUMENTATION)
            continue
        line = code.source.count(b"\n", 0, start) + 1
        rest = code.source[end:]
        blank = len(rest) - len(rest.lstrip(b" \t\r"))
        last = rest[blank : blank + 1] == b"\n"
        if code.starts_line(start) and last:
            begin = code.source.rfind(b"\n", 0, start) + 1
            change = Patch(begin, end + blank + 1, ())
        elif last:
            change = Patch(len(code.source[:start].rstrip(b" \t")), end, ())
        else:
            change = Patch(start, end, (" ",))
        yield Site(((change,),), "comment", line)


INSERT_COMMENTS: Final = Rewriting(
    name="insert-comments", find=_insert, nothing="no line to comment", proof="tree"
)
REMOVE_COMMENTS: Final = Rewriting(name="remove-comments", find=_remove, nothing="no comment", proof="tree")
