"""What the transforms of Python assume of code that they cannot see: the ledger of Python.

The families name the entries on which their transforms rest; the tuples below are what several of them
share. Each entry has its programs in `tests/transforms/python/test_ledger.py`: one that an edit breaks
because another file does not keep to the entry, and those that show this themselves, so that the edit is
refused.
"""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.assumptions import Assumption, ledger

LEDGER: Final[Mapping[str, Assumption]] = ledger(
    (
        # ── what names mean ──
        Assumption(
            id="builtins-meant",
            assumed="Names of builtins and of standard modules mean what they say in every file.",
            shown="It binds such a name: by a definition, a star import, a store to `builtins`, a patch.",
            refused="Calls of that name may do anything, and rules that would write or read it leave the "
            "function.",
            example="`len(xs)` and `len(ys)` change places, and another file has replaced `builtins.len`",
        ),
        Assumption(
            id="definitions-kept",
            assumed="No other file binds a function, class or import anew that this file binds once.",
            shown="It binds the name again, or replaces it by `global`, `setattr`, its namespace or a patch.",
            refused="Calls of that name may do anything.",
            reach="callers",
            example="`clean(a)` and `clean(b)` change places, and a test has replaced `tools.clean`",
        ),
        Assumption(
            id="lookups-exist",
            assumed="Globals, attributes of modules and of `self`, and imported modules exist where they "
            "are looked up.",
            shown="The function tests what exists (`try`, `hasattr`) or may swallow the exception (`with`); "
            "the file deletes a global or an attribute of that name.",
            refused="Nothing passes the look-up.",
            reach="function",
            example="`limit = LIMIT` passes `self._done = True`, and another file has deleted `LIMIT`",
        ),
        Assumption(
            id="calls-by-position",
            assumed="Callers pass the parameters that get another name by position.",
            shown="It calls the function with a keyword, or hands it on and passes such a keyword elsewhere.",
            refused="The parameter keeps its name.",
            reach="function",
            of_text=True,
            example="`def f(value)` becomes `def f(item)`, and another file calls `f(value=1)`",
        ),
        Assumption(
            id="definition-names-unread",
            assumed="No other file names a private function or class of this one, and nobody reads what "
            "an inner function is called.",
            shown="It finds names as text (`getattr`, `globals`, `pickle`), or prints names of functions "
            "(`__name__`, `%(funcName)s`).",
            refused="Functions and classes keep their names.",
            of_text=True,
            example="`_half` becomes `_report`, and another file calls `tools._half`",
        ),
        # ── what objects do ──
        Assumption(
            id="looks-quiet",
            assumed="To read, compare, calculate with, hash, test or print an object of another file "
            "changes nothing.",
            shown="One of its classes has a property or a method of the data model that does more than look.",
            refused="Looking at any object may do anything.",
            example="`n = self._n` and `x = a.size` change places, and `size` is a property that counts "
            "in `_n`",
        ),
        Assumption(
            id="attributes-plain",
            assumed="Private attributes of `self` are plain, as are public ones of a class whose bases "
            "stand in the file.",
            shown="The class has a property, a descriptor, a `__setattr__`, a decorator, or a base from "
            "elsewhere.",
            refused="Storing an attribute of `self` may do anything.",
            reach="class",
            example="`self._a = 1` and `self._b = 2` change places, and a derived class has a `__setattr__`",
        ),
        Assumption(
            id="annotations-hold",
            assumed="A parameter that is annotated with builtin types gets such a value and no object of "
            "a derived class, and the keys of `**kw` are plain texts.",
            shown="It binds the name in the annotation anew, or one of its classes has a method of the data "
            "model that does more than look.",
            refused="To iterate over the parameter, or to convert it, may do anything.",
            example="a loop over `xs: list[int]` passes `n = self._n`, and `xs` counts its loops there",
        ),
        Assumption(
            id="identity-unread",
            assumed="Nobody tells equal numbers or texts apart: by `is`, `id`, or the sign of a NaN.",
            shown="It asks for the identity or the sign of a number: `is`, `id`, `copysign`.",
            refused="The expression stays.",
            example="`a + b` becomes `b + a`, both are NaN, and a caller asks for `copysign(1, result)`",
        ),
        # ── what nobody looks at ──
        Assumption(
            id="frames-unread",
            assumed="No other file reads or binds the variables of a frame, or reads the names in a code "
            "object, and nobody reads the name in the message of a NameError.",
            shown="It mentions a reader: `locals`, `f_locals`, `co_varnames`, a text that is evaluated, such "
            'as in `frame.query("size > @limit")`, or a `NameError` that it catches to look at it.',
            refused="Variables keep their names and places, and no variable is added.",
            reach="callers",
            of_text=True,
            example="`total` becomes `found`, and a callee in another file prints "
            "`sys._getframe(1).f_locals`",
        ),
        Assumption(
            id="positions-unread",
            assumed="No program acts on line numbers of frames, tracebacks, code objects, warnings and "
            "log records.",
            shown="It reads them: `tb_lineno`, `extract_stack`, `co_firstlineno`, `%(lineno)d`.",
            refused="What such a reader may describe stays on its line, and no line is added or removed.",
            of_text=True,
            example="a blank line is inserted, and another file compares `tb_lineno` with a constant",
        ),
        Assumption(
            id="source-unread",
            assumed="No program reads the text of the source: comments, layout, names and spelling.",
            shown="It asks for the text (`getsource`, `help`, `extract_tb(…)[0].line`), opens itself, takes "
            "a traceback apart (`format_exc().splitlines()`), or a comment is one that tools read.",
            refused="No text of the file changes; a comment for tools stays.",
            of_text=True,
            example="a comment is inserted, and another file compiles `inspect.getsource(f)` again",
        ),
        Assumption(
            id="notes-unread",
            assumed="No other file reads docstrings, annotations or the order of keyword-only parameters.",
            shown="It reads `__doc__`, `__annotations__` or a signature, or a decorator gets the function.",
            refused="The docstring, the annotation or the order stays.",
            reach="function",
            of_text=True,
            example="a docstring is removed, and another file prints `f.__doc__` as help",
        ),
        Assumption(
            id="release-unseen",
            assumed="Nobody sees in which order values are dropped, or how many references there are.",
            shown="It drops a value on purpose (`del file`, `file = None`), has a `__del__`, a generator "
            "with a `finally` or a weak reference, or counts references.",
            refused="The statement that drops the value keeps its place.",
            example="`a = n` and `b = n` change places, and the old values print in their `__del__`",
        ),
        Assumption(
            id="namespaces-unlisted",
            assumed="No other file lists modules, classes or objects in the order in which their names "
            "were bound.",
            shown="It lists them: `vars`, `__dict__`, `__subclasses__`, a metaclass, base or decorator "
            "from elsewhere.",
            refused="Definitions and stores keep their order.",
            example="two methods change places, and another file prints `list(vars(C))`",
        ),
        Assumption(
            id="imports-independent",
            assumed="Nobody sees in which order two standard modules are first imported.",
            shown="It changes how modules are imported (`sys.meta_path`, `sys.path_hooks`), or mentions "
            "`sys.modules`.",
            refused="Imports keep their order.",
            example="`import json` and `import csv` change places, and another file has an import hook "
            "that prints",
        ),
        # ── what happens in between ──
        Assumption(
            id="nobody-between",
            assumed="No other thread, signal handler or tracer looks between two statements of a function.",
            shown="It mentions threads, sets a signal handler or a tracer.",
            refused="What others may see keeps its order.",
            example="`self._rows = rows` and `self._ready = True` change places, and another thread waits "
            "for `_ready`",
        ),
        Assumption(
            id="runs-through",
            assumed="Loops and calls end, memory and stack suffice, and nothing interrupts.",
            shown="It mentions `MemoryError`, `RecursionError` or `KeyboardInterrupt`, or sets a limit.",
            refused="Stores and calls keep their order.",
            example="`self._a = 1` passes `clean(1)`, and the stack ends in that call",
        ),
        # ── beyond the analysis ──
        Assumption(
            id="parts-unordered",
            assumed="No part of a call or display raises, keys differ, and nobody sees the order of "
            "keywords, of a dict or set, or of comparisons with its items.",
            shown="A part acts, keys are equal, or the file defines a function that lists its keywords.",
            refused="The parts keep their order.",
            reach="place",
            further=True,
            example="`show(x=1, y=2)` becomes `show(y=2, x=1)`, and `show` lists its `**kw`",
        ),
        Assumption(
            id="operands-commute",
            assumed="Operators of numbers commute, comparisons have mirrors, and no operand raises.",
            shown="An operand acts, or one of its classes defines such an operator.",
            refused="The operands keep their order.",
            reach="place",
            further=True,
            example="`a * b` becomes `b * a`, and both are matrices",
        ),
    )
)

LOCAL_NAMES: Final = ("source-unread", "frames-unread")
"""Of edits that change what variables are called."""
LAYOUT: Final = ("source-unread", "positions-unread")
"""Of edits that change what the text looks like."""
VALUES: Final = (
    *LAYOUT,
    *("builtins-meant", "definitions-kept", "lookups-exist", "looks-quiet", "attributes-plain"),
    *("annotations-hold", "runs-through"),
)
"""Of edits that evaluate expressions in another form."""
EFFECTS: Final = (*VALUES, "frames-unread", "nobody-between")
"""Of edits that let statements, or parts of them, happen in another order."""
