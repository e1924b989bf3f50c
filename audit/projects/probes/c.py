"""Inserts a declaration at the start of functions of C and C++, which does something when it is reached.

It is a declaration, because a compiler may want statements behind them. It names functions of the C
library by their symbols, so that no header is needed and none contradicts it. It is written for GCC and Clang
on Linux. Functions that a compiler may evaluate get none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.rewriting import is_evaluated
from codeaudit.transforms.c.files import DecodedC, DecodedCpp, places
from codeaudit.transforms.c.parsing import C, read_unit
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import Edit, splice

_DECLARED: Final = "__attribute__((unused)) int codeaudit_probe = __extension__ ({{ {0} 0; }});"
_SYMBOLS: Final = (
    'extern char *codeaudit_getenv(const char *) __asm__("getenv"); '
    'extern void *codeaudit_open(const char *, const char *) __asm__("fopen"); '
    'extern int codeaudit_write(const char *, void *) __asm__("fputs"); '
    'extern int codeaudit_close(void *) __asm__("fclose");'
)
# In a template, GCC forgets the symbol of a local declaration, so those of C++ stand before the file.
_BEFORE: Final = f"#ifndef CODEAUDIT_PROBE\n#define CODEAUDIT_PROBE\n{_SYMBOLS}\n#endif\n#line 1\n"
_NOTING: Final = (
    "static int codeaudit_seen; if (!codeaudit_seen) {{ {0} "
    'void *codeaudit_file = codeaudit_open(codeaudit_getenv("_CODEAUDIT_HITS"), "a"); codeaudit_seen = 1; '
    'if (codeaudit_file) {{ codeaudit_write("{1}\\n", codeaudit_file); codeaudit_close(codeaudit_file); }} }}'
)


@dataclass(frozen=True, slots=True)
class CProbes:
    """The `Probes` of C, or of C++."""

    language: str = C
    raising: str = _DECLARED.format("__builtin_trap();")

    def noting(self, number: int) -> str:
        """A declaration that appends the number to the hits file once per process."""
        return _DECLARED.format(_NOTING.format("" if self.language == CPP else _SYMBOLS, number))

    def with_first(self, data: bytes, statements: Mapping[str, str]) -> bytes:
        """The file with a declaration at the start of each named function; names are those of `places`."""
        try:
            decoded = (DecodedC if self.language == C else DecodedCpp).read(data)
            functions = places(decoded.text, language=self.language)
        except SourceError:
            return data
        source = decoded.text.encode()
        edits: list[Edit] = []
        for place in functions:
            if place.name in statements and place.obstacle is None:
                reading, function = read_unit(source[place.start : place.end].decode(), self.language)
                if self.language == CPP and is_evaluated(reading, function):
                    continue
                first = place.start + function.part("body").start + 1
                edits.append(Edit(first, first, f" {statements[place.name]}"))
        if self.language == CPP and edits and self.raising not in statements.values():
            edits.append(Edit(0, 0, _BEFORE))
        return decoded.write(splice(source, edits).decode())


PROBES: Final = CProbes()
CPP_PROBES: Final = CProbes(CPP)
