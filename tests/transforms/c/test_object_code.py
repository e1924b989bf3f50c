"""Object code as a witness: a renamed or newly laid out function compiles to the same bytes.

Real C is taken from the folder that `CODEAUDIT_C_SOURCES` names, where there is one; none is part of the project.
"""

import os
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.c.language import C
from codeaudit.transforms.c.parsing import places
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten, is_surrounded, placed
from codeaudit.transforms.registry import transform_for
from tests.support.c_running import needs_gcc, object_code
from tests.transforms.c.random_programs import PRELUDE, program

SOURCES = os.environ.get("CODEAUDIT_C_SOURCES", "")
HEAD = "int printf(const char *, ...);\n" + PRELUDE
SAME = [
    name
    for name, entry in C.transforms.items()
    if entry.kind == "preserving" and entry.family in ("identifiers", "layout")
]
"""The transforms of names and of layout, which change no instruction."""


def rewritten(text: str, name: str, seed: int, file: str = "") -> tuple[str, int]:
    """A file with each function rewritten, and how many were; what lies beside `file` is known."""
    source, count = text.encode(), 0
    transform = transform_for(name, "c")
    if is_surrounded(transform):
        transform = transform.within(placed(text, file))
    for place in reversed(list(places(source))):
        own = source[place.start : place.end].decode()
        try:
            moves = transform.propose(own, Random(seed))
        except SourceError:
            continue
        if isinstance(moves, Refused):
            continue
        edit = transform.apply(own, moves)
        if isinstance(edit, Rewritten):
            source = source[: place.start] + edit.source.encode() + source[place.end :]
            count += 1
    return source.decode(), count


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("optimised", ["-O0", pytest.param("-O2", marks=pytest.mark.slow)])
def test_random_functions_compile_to_the_same_code(optimised: str) -> None:
    text = HEAD + "\n".join(program(seed).replace("int f(", f"int f{seed}(") for seed in range(6))
    before = object_code(text, optimised)
    assert before is not None
    unused = set()
    for name in SAME:
        after, count = rewritten(text, name, 0)
        assert object_code(after, optimised) == before, name
        if not count:
            unused.add(name)
    assert unused <= {"join-lines", "remove-blank-lines", "join-strings"}


@needs_gcc
@pytest.mark.skipif(not SOURCES, reason="CODEAUDIT_C_SOURCES names no folder with C")
@pytest.mark.slow
def test_real_functions_compile_to_the_same_code() -> None:
    compared = 0
    for path in sorted(Path(SOURCES).rglob("*.c")):
        text = path.read_text(encoding="utf-8", errors="replace")
        flags = ("-I", str(path.parent.resolve()))
        if (before := object_code(text, "-O2", *flags)) is None:
            continue
        after, count = rewritten(text, "rename-parameters", 0, str(path.resolve()))
        assert object_code(after, "-O2", *flags) == before, path
        compared += count
    assert compared
