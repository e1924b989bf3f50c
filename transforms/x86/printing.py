"""Instructions as AT&T text in the manner of LLVM, so that LLVM's tools read them as they were."""

from functools import cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.x86.catalogue import formatter

_COMPARES: Final = ("cmp", "vcmp", "vpcmp", "vpcom")
"""Mnemonics that swallow a predicate: `cmpeqps` for `cmpps $0`."""


def att_text(instruction: iced.Instruction) -> str:
    """One instruction on one line, without a margin."""
    full, short = _printers()
    text = full.format(instruction)
    if text.startswith(_COMPARES):
        text = short.format(instruction)
    return " ".join(text.split())


@cache
def _printers() -> tuple[iced.Formatter, iced.Formatter]:
    full = formatter("att")
    full.use_pseudo_ops = False
    return full, formatter("att")
