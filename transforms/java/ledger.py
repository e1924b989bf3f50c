"""What the transforms of Java assume of code that they cannot see: the ledger of Java.

The families name the entries on which their transforms rest; the tuples below are what several of them
share. Each entry has its programs in `tests/transforms/java/test_ledger.py`. Nothing is assumed of `equals`,
`hashCode`, `compareTo` and `toString` of foreign objects: they may do anything.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from codeaudit.transforms.assumptions import Assumption, blanked, first_lines, ledger, signs_of
from codeaudit.transforms.remembering import FILES


def _inside(depth: int) -> str:
    """A pattern of text in a block, with blocks in it up to a depth."""
    return rf"(?:[^{{}}]|\{{{_inside(depth - 1)}*\}})" if depth else r"[^{}]"


LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        # ── what names mean ──
        Assumption(
            id="types-meant",
            assumed="Names of well-known types mean those of the JDK: no type inherits such a name from "
            "outside of the project.",
            shown="The file, its package, its imports or a supertype in its project declares a type of "
            "that name.",
            refused="A method that uses the name keeps its text.",
            reach="function",
            example="`Math.abs(a)` and `Math.abs(b)` change places, and a base class elsewhere declares a "
            "`Math`",
        ),
        Assumption(
            id="names-by-custom",
            assumed="Before a dot, a name that begins with an upper-case letter is a type, and one that "
            "begins with a lower-case letter a variable; a method whose name is a question (`isEmpty`, "
            "`contains`) gives a boolean.",
            shown="The file declares a type with a small letter, or such a method with a type parameter.",
            sign=r"(?<![.\w])(?:class|interface|enum|record)\s+[a-z_]\w*\s*[(<{\w]",
            words=("class", "interface", "enum", "record"),
            example="`foo.size` passes `this.a`, and `foo` is a class whose initialiser stores to `a`",
        ),
        # ── what objects do ──
        Assumption(
            id="fields-plain",
            assumed="Where the file of a method is not known, a field that is named alone or behind "
            "`this` holds an object of its declared type.",
            shown="The file is known, and the class inherits the field from a generic class.",
            refused="Nothing that others see passes a use of the field.",
            reach="class",
            example="`Integer y = value` passes `this.a = n`, and an unchecked cast has put a text into "
            "`value`",
        ),
        Assumption(
            id="bounds-reference",
            assumed="No type variable is bounded by a type such as `Integer`, to which Java unboxes.",
            shown="The method, its class or a class around declares such a bound.",
            sign=r"\bextends\s+(?:java\.lang\.)?"
            r"(?:Integer|Long|Short|Byte|Character|Boolean|Float|Double)\b",
            words=("extends",),
            example="`int b = n` passes `this.a = 1`, `n` has a type variable bounded by `Integer`, and "
            "is null",
        ),
        Assumption(
            id="initialisation-unseen",
            assumed="Nobody sees when classes of the JDK are initialised, or in which order one `switch` "
            "initialises several enums.",
            shown="Another class of the file is named, whose initialiser may run.",
            refused="Nothing passes such a use.",
            reach="place",
            example="two `switch` change places, and the initialisers of their enums print",
        ),
        Assumption(
            id="identity-unread",
            assumed="Nobody asks for the identity or the class of a text, a boxed number or a lambda.",
            shown="The file asks for an identity or a kind of class: `==` between texts, "
            "`identityHashCode`, `isAnonymousClass`.",
            sign=r"\b(?:isAnonymousClass|isSynthetic|isHidden|identityHashCode)\b",
            words=("isAnonymousClass", "isSynthetic", "isHidden", "identityHashCode"),
            example="an anonymous class becomes a lambda, and a caller prints "
            "`getClass().isAnonymousClass()`",
        ),
        # ── what nobody looks at ──
        Assumption(
            id="positions-unread",
            assumed="No program acts on line numbers in stack traces.",
            shown="The file reads them or whole stack traces: `getStackTrace`, `StackWalker`, or "
            "`printStackTrace` into a text.",
            sign=r"\b(?:getLineNumber|getStackTrace|StackWalker|StackTraceElement)\b"
            r"|\b(?:StringWriter|CharArrayWriter|ByteArrayOutputStream)\b.*\bprintStackTrace\s*\(\s*[^)\s]",
            words=("getLineNumber", "tackTrace", "StackWalker"),
            of_text=True,
            example="a blank line is inserted, and a caller prints `getStackTrace()[0].getLineNumber()`",
        ),
        Assumption(
            id="source-unread",
            assumed="No program reads the text of the source: comments, layout, names and spelling.",
            shown="A comment is one that tools read.",
            refused="The comment stays.",
            reach="place",
            of_text=True,
            example="a comment is inserted, and another program prints the file",
        ),
        Assumption(
            id="debug-names-unread",
            assumed="No program reads the names of local variables: in the text of a "
            "NullPointerException, in tables for debuggers, in names of synthetic fields.",
            shown="The file catches a NullPointerException and uses it: it reads its message, prints it or "
            "passes it on.",
            sign=r"\bcatch\s*\([^)]*\bNullPointerException\b[^)]*?\b(?P<null>\w+)\s*\)\s*\{"
            rf"(?:{_inside(5)}|\{{)*?\b(?P=null)\b",
            words=("NullPointerException",),
            of_text=True,
            example="`values` becomes `lower`, and a caller prints the message of the NullPointerException",
        ),
        Assumption(
            id="parameter-names-unread",
            assumed="No program reads the names of parameters by reflection, or which of them are final.",
            shown="The file calls `getParameters`; an annotation that may read a name keeps it.",
            sign=r"\bgetParameters\b|\bjava\.lang\.reflect\.Parameter\b",
            words=("getParameters", "reflect.Parameter"),
            of_text=True,
            example="`f(int value)` becomes `f(int rate)`, and a framework finds `value` by `getParameters`",
        ),
        Assumption(
            id="members-unlisted",
            assumed="No program reads members in the order in which reflection gives them, or the numbers "
            "in names of anonymous classes, and a class that is serialised declares its "
            "`serialVersionUID`.",
            shown="The file lists members: `getDeclaredMethods`, `getDeclaredFields`.",
            sign=r"\bget(?:Declared)?(?:Methods|Fields|Constructors|Classes)\b",
            words=("Methods", "Fields", "Constructors", "Classes"),
            example="two constants change places, and another class prints `getDeclaredFields()`",
        ),
        # ── what happens in between ──
        Assumption(
            id="nobody-between",
            assumed="No other thread looks between two statements of a method.",
            shown="The file has a `volatile` field or a `VarHandle`.",
            sign=r"\b(?:volatile|VarHandle)\b",
            words=("volatile", "VarHandle"),
            example="`this.a = n` and `this.ready = true` change places, and another thread waits for "
            "`ready`",
        ),
        Assumption(
            id="runs-through",
            assumed="Loops end, and memory and stack suffice: a VirtualMachineError does not count.",
            shown="The file catches such an error.",
            sign=r"\bcatch\s*\([^)]*\b(?:OutOfMemory|StackOverflow|VirtualMachine)Error\b",
            words=("OutOfMemory", "StackOverflow", "VirtualMachine"),
            example="`this.a = n` passes `new int[n]`, and the memory does not suffice",
        ),
    )
)

LOCAL_NAMES: Final = ("source-unread", "debug-names-unread")
"""Of edits that change what variables are called."""
LAYOUT: Final = ("source-unread", "positions-unread")
"""Of edits that change what the text looks like."""
VALUES: Final = (
    *LAYOUT,
    *("types-meant", "names-by-custom", "fields-plain", "bounds-reference", "initialisation-unseen"),
    "runs-through",
)
"""Of edits that evaluate expressions in another form."""
EFFECTS: Final = (*VALUES, "nobody-between")
"""Of edits that let statements happen in another order."""

_HIDDEN: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL
)
"""Texts, characters and comments."""
_SIGNS: Final = signs_of(LEDGER, re.DOTALL)


@lru_cache(maxsize=FILES)
def shown_in(file: str) -> Mapping[str, int]:
    """The entries that a file shows not to hold, by what is written in it outside of texts and comments."""
    return first_lines(_SIGNS, _HIDDEN.sub(blanked, file))
