"""The table of who can look, compared with what callables of the standard library see when they are called.

A spy is a function whose variables, source and lines have names and numbers that occur nowhere else. Each callable
is called by the spy, and with the spy, its frame, its code, its generator and its traceback; what then stands in
results and output was seen. A file that spells such a call must be known to show that.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from codeaudit.transforms.python.analysis.capabilities import LinesRead, Sees, looks_at_variables, shown_by
from codeaudit.transforms.python.analysis.facts import free_names
from codeaudit.transforms.python.parsing import parse

MODULES: Final = (
    "builtins", "contextlib", "copy", "copyreg", "dataclasses", "dis", "doctest", "enum", "functools", "gc",
    "inspect", "linecache", "logging", "marshal", "operator", "pickle", "pprint", "reprlib", "sys", "traceback",
    "types", "typing", "unittest.mock", "warnings", "weakref",
)  # fmt: skip
PROBE: Final = r'''
import contextlib, importlib, io, json, linecache, re, sys, types
LINES = """
def spyname(look, *given):
    spyfirst = 1
    spysecond = 2  # spycomment
    return look(*given)
def spysteps():
    spyfirst = 1
    yield spyfirst
def spyfail():
    spyfirst = 1
    raise ValueError
"""
TEXT = "\n" * 7000 + LINES
linecache.cache["<spy>"] = (len(TEXT), None, TEXT.splitlines(True), "<spy>")
space = {"__name__": "spy"}
exec(compile(TEXT, "<spy>", "exec"), space)
sys.modules["spy"] = module = types.ModuleType("spy")
vars(module).update(space)
spy, steps = space["spyname"], space["spysteps"]
try:
    space["spyfail"]()
except ValueError as error:
    traceback = error.__traceback__.tb_next
SKIPPED = """
    exit quit _exit input help breakpoint breakpointhook interact set_trace settrace setprofile open license credits
    copyright set_debug disable enable freeze main testmod run_docstring_examples testfile debug debug_src script_from_examples
    displayhook excepthook unraisablehook setrecursionlimit setswitchinterval setdlopenflags set_int_max_str_digits
    set_asyncgen_hooks set_coroutine_origin_tracking_depth call_tracing addaudithook activate_stack_trampoline
    shutdown basicConfig captureWarnings simplefilter filterwarnings resetwarnings _debugmallocstats get_objects
    get_referrers get_referents exec eval __import__ compile set_threshold collect print
""".split()
def seen(value, printed):
    text = repr(value) if not isinstance(value, (bytes, str)) else str(value)
    with contextlib.suppress(Exception):
        if not isinstance(value, (str, bytes, int)):
            text += repr(list(value)[:50])
    found = []
    if "spyfirst" in text + printed or "spysecond" in text + printed:
        found.append("LOCALS")
    if "spycomment" in text:
        found.append("SOURCE")
    if not isinstance(value, str) and re.search(r"\b70(?:0\d|1[01])\b", text):
        found.append("LINES")
    return found
results = []
for name in MODULES:
    module = importlib.import_module(name)
    for attribute, value in sorted(vars(module).items()):
        private = attribute.startswith("_") and attribute not in ("_getframe", "_current_frames")
        if private or attribute in SKIPPED or not callable(value):
            continue
        if getattr(value, "__module__", name) not in (name, None, "_" + name, "_operator", "_pickle", "_functools"):
            continue
        def framed(*given, look=value):
            return look(*given)
        def cases():
            generator = steps()
            next(generator)
            yield "", ()
            yield "f", (spy,)
            yield "f.__code__", (spy.__code__,)
            yield "g", (generator,)
            yield "t", (traceback,)
            yield "t.tb_frame", (traceback.tb_frame,)
        for told, given in cases():
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                try:
                    result = spy(value, *given)
                    found = seen(result, out.getvalue())
                except BaseException:
                    continue
            if found:
                results.append((name, attribute, told, found))
sys.__stdout__.write("\nPROBED" + json.dumps(results))
'''


def probed() -> Sequence[tuple[str, str, str, Sequence[str]]]:
    head = f"MODULES = {MODULES!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", head + PROBE], capture_output=True, text=True, timeout=120, check=False
    )
    text = done.stdout.partition("PROBED")[2]
    assert text, done.stderr[-2000:]
    return [tuple(row) for row in json.loads(text)]


def claimed(module: str, name: str, given: str) -> Mapping[str, bool]:
    """What the table says that a file shows in which such a call stands."""
    called = name if module == "builtins" else f"{module}.{name}"
    head = "" if module == "builtins" else f"import {module}\n"
    text = f"{head}def look(f, g, t):\n    first = 1\n    return {called}({given}), first\n"
    sees = shown_by(text)
    tree = parse(text)
    function = tree.body[-1]
    own = looks_at_variables(function, free_names(function))
    return {
        "LOCALS": own or sees.variables,
        "SOURCE": bool(sees & Sees.SOURCE),
        "LINES": own or sees.lines > LinesRead.NONE,
    }


ANNOUNCED: Final = frozenset({("traceback", "format_tb"), ("traceback", "format_stack")})
"""Calls that make texts for people, in which line numbers stand: assumption 5 of `effects`."""


@pytest.mark.slow
def test_no_callable_of_the_library_sees_more_than_the_table_says() -> None:
    rows = probed()
    assert len(rows) > 20
    more = [
        (module, name, given, what)
        for module, name, given, seen in rows
        for what in seen
        if (module, name) not in ANNOUNCED and not claimed(module, name, given)[what]
    ]
    assert not more
