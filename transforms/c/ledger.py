"""What the transforms of C assume of code that they cannot see: the ledger of C.

The families name the entries on which their transforms rest. Each entry has its programs in
`tests/transforms/c/test_ledger.py`. Nothing is assumed of undefined behaviour: an event that may be undefined
keeps its place.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Final, get_args

from codeaudit.transforms.assumptions import Assumption, first_lines, ledger, signs_of
from codeaudit.transforms.records import Evidence
from codeaudit.transforms.remembering import FILES

DISJOINT: Final = frozenset({"analysis (fields disjoint)", "analysis (macros hygienic, fields disjoint)"})
"""The evidences of edits under the relation `disjoint`."""
LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        Assumption(
            id="macros-hygienic",
            assumed="A macro of a header stands for a word, an operand or a whole statement, names no "
            "variable of its users, has no name that one gets, uses an argument as a function does, and does "
            "not jump.",
            shown="The file defines a macro that is none such, or the macro is `assert` or `offsetof`.",
            refused="The names that the macro touches stay, and statements that use it keep their order.",
            reach="place",
            example="a header has `#define ADD(n) (sum += (n))`, and the local `sum` of a function with "
            "`ADD` becomes `total`",
            of_headers=True,
            settled_by=frozenset({"analysis", "analysis (fields disjoint)"}),
        ),
        Assumption(
            id="fields-disjoint",
            assumed="Under `--dependence disjoint` fields of other names are different memory, no plain name "
            "means a field, and no structure is used as a whole while a part of it is stored, or stored as a "
            "whole while a part is used.",
            shown="The file, or a header that is found, has a union with a field of this name, or a "
            "structure of this name.",
            refused="Stores to such a field keep their order.",
            reach="place",
            example="`p->whole = 1` and `p->part = 2` change places, and a header declares both in one union",
            settled_by=frozenset(get_args(Evidence)) - DISJOINT,
        ),
        Assumption(
            id="positions-unread",
            assumed="No program acts on the numbers of its lines, such as those in messages of `assert`.",
            shown="The file uses `__LINE__` or `__COUNTER__`.",
            sign=r"\b__LINE__\b|\b__COUNTER__\b|\b__builtin_LINE\b",
            words=("__LINE__", "__COUNTER__", "__builtin_LINE"),
            of_text=True,
            example="a blank line is inserted, and a macro of a header stores `__LINE__`",
        ),
        Assumption(
            id="text-unread",
            assumed="No program reads the text of its functions: no macro of a header makes a string of code "
            "whose blanks, signs or words an edit changes.",
            shown="The file defines a macro with `#` before a parameter.",
            sign=r"(?m)^[ \t]*#[ \t]*define\b[^\n]*\([^\n]*\)(?:[^\n\\]|\\.|\\\n)*?"
            r"(?<!#)#(?!#)[ \t]*[A-Za-z_]",
            words=("define",),
            of_text=True,
            example="`a+b` becomes `a + b` in an argument, and a macro of a header prints its argument",
        ),
        Assumption(
            id="later-than-c89",
            assumed="The compiler knows declarations behind statements and comments that begin with `//`, as "
            "C99 and GNU C do.",
            shown="A command of the project names C89 for the file, as `-std=c89` and `-ansi` do.",
            refused="Declarations stay before statements, and no such comment is inserted.",
            reach="place",
            of_text=True,
            example="the file is compiled with `-std=c89`, and a comment `// next part` is inserted",
        ),
        Assumption(
            id="nobody-between",
            assumed="No other thread, signal handler or device looks at memory between two statements, and "
            "to read a name that a header declares runs no code.",
            shown="The file has the word `volatile`, or a type or function of the library for threads.",
            sign=r"\b(?:(?:__)?volatile(?:__)?|_Atomic)\b|\b(?:atomic|__atomic|__sync|pthread|thrd|mtx|cnd)_\w|"
            r"\bstd::(?:atomic|j?thread|(?:shared_)?mutex|condition_variable)\b",
            words=("volatile", "_Atomic", "atomic_", "__sync_", "pthread_", "thrd_", "mtx_", "cnd_", "std::"),
            example="`a = flag` and `b = data` change places, and a header declares both as `volatile`",
        ),
        Assumption(
            id="fractions-plain",
            assumed="No program asks for the flags of fractions, or sets how they are rounded.",
            shown="The file uses the functions of `fenv.h`, or what sets the registers behind them.",
            sign=r"\bfe(?:set|test|clear|raise|hold|update|enable)\w|"
            r"\bFENV_ACCESS\b|_MM_SET_|_FPU_SETCW|ldmxcsr|_mm_setcsr",
            words=("fe", "FENV_ACCESS", "_MM_SET_", "_FPU_SETCW", "ldmxcsr", "_mm_setcsr"),
            example="`a = x / y` passes a call that sets `FE_UPWARD`",
        ),
        Assumption(
            id="warnings-allowed",
            assumed="No warning of the compiler stops the build.",
            of_text=True,
            example="`int spare = 0;` is inserted, and the file is compiled with `-Werror=unused-variable`",
        ),
    )
)

NAMES: Final = ("macros-hygienic",)
"""Of edits that change what variables are called."""
CODE: Final = ("macros-hygienic", "positions-unread", "text-unread", "later-than-c89", "warnings-allowed")
"""Of edits that change the code."""
COMPUTED: Final = (*CODE, "fractions-plain")
"""Of edits that compute what was not computed."""
EFFECTS: Final = (*COMPUTED, "fields-disjoint", "nobody-between")
"""Of edits that change the order of statements."""
LAYOUT: Final = ("macros-hygienic", "positions-unread", "text-unread")
"""Of edits that change what the text looks like."""

shown_in: Final = lru_cache(maxsize=FILES)(partial(first_lines, signs_of(LEDGER)))
"""The entries that a file shows not to hold, by what is written in it; comments and strings count."""
