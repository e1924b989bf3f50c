"""Inside the sandbox: runs a program and its variants one after the other in one child.

A `server.Target`. It asks the oracle's own worker for each observation, so it sees what the oracle sees, but
one process serves all variants of a program. Programs that share a process are no danger here: the grammar
makes them, and `programs.PRELUDE` undoes what they leave.
"""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from codeaudit.transforms.oracle import worker
from tests.support.programs import INPUTS, PRELUDE

_IMPORTED: Final = (
    *re.findall(r"^import (.+)$", PRELUDE, re.MULTILINE)[0].split(", "),
    "json",
    "heapq",
    "string",
)
"""What programs import; each is loaded once."""
_HARMLESS: Final = "def f(*arguments): show(arguments)"


def warm() -> None:
    """Read everything that programs need."""
    worker.warm()
    for name in _IMPORTED:
        import_module(name)
    job: dict[str, Any] = {"sources": [_HARMLESS], "inputs": INPUTS, "setup": PRELUDE}
    prepare(job)
    run(job, 0, lambda answer: None)


def prepare(job: dict[str, Any]) -> None:
    """Compile the setup, which all programs share."""
    worker.prepare(job)


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Answer for each of the texts `sources` on each of the `inputs`, from answer `start` on."""
    done, first = divmod(start, len(job["inputs"]))
    shared = {
        "setup": job["setup"],
        "inputs": job["inputs"],
        "function": "f",
        "tests": None,
        "messages": False,
        "shake": 0,
    }
    for source in job["sources"][done:]:
        worker.run({**shared, "source": source}, first, answer)
        first = 0
