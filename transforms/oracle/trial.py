"""Inside the sandbox: runs one program with its tests, and reports whether they passed.

A `server.Target` for `trials.Trials`. Tests are a Python text, executed after the program in its namespace;
they pass if nothing is raised. Both texts are foreign. A program shares the process with its observer, so a
malicious one can deceive: a pass shows that the program passes, not that it is honest.
"""

import io
import json
import random
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

from codeaudit.transforms.oracle.results import Nowhere

_NAME: Final = "sample"
_SEED: Final = 20_240_229


def warm() -> None:
    """Called in the server before it is closed in: load everything that a job needs."""
    run({"source": "def f(a):\n    return [a]", "tests": "assert f(1) == [1]"}, 0, lambda answer: None)


def prepare(job: dict[str, Any]) -> None:
    """Does nothing: the texts are foreign, and only the child process may read them."""


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Answer once: with `passed`, or the name of the type of the exception in `kind`."""
    warnings.simplefilter("ignore")
    random.seed(_SEED)
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = io.TextIOWrapper(Nowhere(), "utf-8", "backslashreplace")
    module = types.ModuleType(_NAME)
    sys.modules[_NAME] = module
    told: dict[str, Any] = {"passed": True}
    try:
        for text, name in ((job["source"], "<sample>"), (job["tests"], "<tests>")):
            exec(compile(text, name, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:  # SystemExit too
        told = {"kind": type(error).__name__}
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    answer(json.dumps(told))
