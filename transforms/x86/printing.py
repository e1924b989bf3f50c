"""Decoded instructions as AT&T text. The style is that of LLVM, so LLVM's tools read the same instruction."""

from functools import cache
from typing import Final

import iced_x86 as iced

from codeaudit.transforms.x86.catalogue import formatter

_COMPARES: Final = ("cmp", "vcmp", "vpcmp", "vpcom")
"""Compares may be written with the predicate in the mnemonic: `cmpeqps` for `cmpps $0`."""


def att_text(instruction: iced.Instruction) -> str:
    """One instruction on one line, without indentation or trailing blanks."""
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
