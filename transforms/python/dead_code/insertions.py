"""Inserted statements that do not change what a function does.

New variables have names that occur nowhere in the text. They hold constants, or values of types without
references, so that no object lives longer than before. A body that never runs binds nothing but a new
variable: any other name would become local to the function, and a `yield` would make the function a
generator.
"""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Final, TypeAlias
from zlib import crc32

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.dead_code.places import InsertionGap, blocks, inserted, variables
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import REFLECTION, fresh_names, reflects

NO_VARIABLE: Final = "no variable is certainly bound"
_MOST: Final = 6
"""Most gaps of a block that are offered as options."""
_CONSTANTS: Final = ("0", "1", "-1", "2", "10", "100", "0.5", "1.0", "None", "True", "False", '""')
_NEVER: Final = (
    "if False:", "if 0:", "if 0 == 1:", "if not True:", "if None:", "if 1 > 2:", "while False:",
    "while 0:",
)  # fmt: skip
_NOTHING: Final = ("pass", "0", "None", "...", "assert True")
_FORMS: Final = {
    "int": ("{} + 1", "{} * 2", "{} - 1", "-{}", "{} > 0"),
    "float": ("{} * 2.0", "-{}", "{} > 0.0"),
    "bool": ("not {}", "{}"),
    "str": ("not {}", "{}"),
}
"""Expressions over a variable, by its type. None of them can fail or keep an object alive."""

Write: TypeAlias = Callable[[PythonSource, InsertionGap, str, Random], tuple[str, ...] | None]
"""Writes the lines for a gap, given a new name and the random generator; `None` if it has none to offer."""


def _everywhere(code: PythonSource, *, write: Write, note: str, named: bool) -> Iterator[Site | Refused]:
    """One site for each block; its options are the gaps of the block.

    The generator is seeded by the text, so the same text gives the same options. With `named`, a text that
    reflects on its own names is refused, because the new names would be visible there.
    """
    if named and reflects(code):
        yield Refused(REFLECTION)
        return
    # Seeded by the text: `find` must give the same options whenever the same text is read.
    names, rng = fresh_names(code), Random(crc32(code.source))
    for block in blocks(code):
        gaps = list(block.gaps)
        if len(gaps) > _MOST:
            gaps = sorted(rng.sample(gaps, _MOST), key=lambda gap: gap.at)
        name = next(names) if named else ""
        options: list[tuple[Patch, ...]] = []
        for gap in gaps:
            lines = write(code, gap, name, rng)
            if lines is not None:
                options.append(inserted(code, gap, *lines))
        if options:
            yield Site(tuple(options), note, block.body[0].lineno)
        else:
            yield Refused(NO_VARIABLE)


def _constant(_: PythonSource, __: InsertionGap, name: str, rng: Random) -> tuple[str, ...]:
    return (f"{name} = {rng.choice(_CONSTANTS)}",)


def _never(code: PythonSource, gap: InsertionGap, name: str, rng: Random) -> tuple[str, ...]:
    values = [*_CONSTANTS, *variables(code, gap)]
    body = rng.choice(("pass", f"{name} = {rng.choice(values)}", f"{name} = {rng.choice(values)}"))
    return rng.choice(_NEVER), code.step + body


def _nothing(code: PythonSource, gap: InsertionGap, _: str, rng: Random) -> tuple[str, ...]:
    texts = [*_NOTHING, *(f"{name} = {name}" for name in variables(code, gap))]
    return (rng.choice(texts),)


def _computed(code: PythonSource, gap: InsertionGap, name: str, rng: Random) -> tuple[str, ...] | None:
    facts, known = code.facts(gap.before), variables(code, gap)
    if facts is None or not known:
        return None
    variable = rng.choice(known)
    forms = _FORMS.get(facts.types.get(variable) or "", ("{} is None", "{} is not None"))
    return (f"{name} = {rng.choice(forms).format(variable)}",)


UNUSED_LOCALS: Final = PythonRule(
    name="unused-locals",
    find=partial(_everywhere, write=_constant, note="variable that nobody reads", named=True),
    nothing="no block",
)
UNREACHABLE_BRANCHES: Final = PythonRule(
    name="unreachable-branches",
    find=partial(_everywhere, write=_never, note="branch that is never taken", named=True),
    nothing="no block",
)
NO_OP_STATEMENTS: Final = PythonRule(
    name="no-op-statements",
    find=partial(_everywhere, write=_nothing, note="statement without effect", named=False),
    nothing="no block",
)
DEAD_STORES: Final = PythonRule(
    name="dead-stores",
    find=partial(_everywhere, write=_computed, note="computed and never read", named=True),
    nothing="no block",
)
