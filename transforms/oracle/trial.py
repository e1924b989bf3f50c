"""In a contained child: runs one program with its tests, and tells whether they passed.

Tests are a text of Python that is executed after the program, where the program's names are known; they pass
if nothing is raised. Both are foreign. A program shares the process with what watches it, so one that is made
to deceive can: what is shown is that a program passes, not that it means well.
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
    """Before the doors close: what every job needs."""
    run({"source": "def f(a):\n    return [a]", "tests": "assert f(1) == [1]"}, 0, lambda answer: None)


def prepare(job: dict[str, Any]) -> None:
    """Nothing: the texts are foreign, and only their child may read them."""


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Answer once: `passed`, or the name of the type of what was raised in `kind`."""
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
    except BaseException as error:  # also where the program wants to leave
        told = {"kind": type(error).__name__}
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    answer(json.dumps(told))
