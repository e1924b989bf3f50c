"""Imports and imported names in another order."""

import subprocess
import sys

import pytest

from codeaudit.transforms.python.analysis.builder import SHARED_LINE
from codeaudit.transforms.python.analysis.modules import REGISTERING, SILENT
from codeaudit.transforms.python.order.imports import (
    GUARDED,
    ONE_ORDER,
    REORDER_IMPORT_NAMES,
    REORDER_IMPORTS,
    UNKNOWN,
)
from tests.transforms.python.order.support import agrees, reasons, untouched, variants


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("import os\nimport re\n", "import re\nimport os\n", id="plain"),
        pytest.param(
            "#!/bin/python\n# why\nimport os  # os\nfrom re import (\n    sub,  # sub\n)\n",
            "#!/bin/python\nfrom re import (\n    sub,  # sub\n)\n# why\nimport os  # os\n",
            id="comments",
        ),
        pytest.param(
            "def f():\n    'text'\n    import os\n    import re as r\n    return os, r\n",
            "def f():\n    'text'\n    import re as r\n    import os\n    return os, r\n",
            id="in a function",
        ),
        pytest.param(
            "from __future__ import annotations\nimport os\nimport re\n",
            "from __future__ import annotations\nimport re\nimport os\n",
            id="the future stays first",
        ),
        pytest.param(
            "import a\nimport os\nimport re\nimport b\n",
            "import a\nimport re\nimport os\nimport b\n",
            id="between others",
        ),
        pytest.param("import logging\nimport os\n", "import os\nimport logging\n", id="one that registers"),
        pytest.param(
            "def f(a='''\n#'''):\n    import os\n    import re\n",
            "def f(a='''\n#'''):\n    import re\n    import os\n",
            id="a header that looks like a comment",
        ),
    ],
)
def test_imports(before: str, after: str) -> None:
    assert variants(REORDER_IMPORTS, before) == {after}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("import numpy\nimport os\n", UNKNOWN, id="another package"),
        pytest.param("from . import a\nimport os\n", UNKNOWN, id="relative"),
        pytest.param("from .os import a\nimport os\n", UNKNOWN, id="relative with a standard name"),
        pytest.param("from os import *\nimport re\n", UNKNOWN, id="star"),
        pytest.param("import this\nimport re\n", UNKNOWN, id="a module that prints"),
        pytest.param("import logging\nimport asyncio\n", ONE_ORDER, id="two that register"),
        pytest.param("import re as x\nimport os as x\n", ONE_ORDER, id="one name twice"),
        pytest.param("import os\nimport os.path\n", ONE_ORDER, id="a package and its module"),
        pytest.param(
            "try:\n    import os\n    import re\nexcept ImportError: pass\n", GUARDED, id="in a try"
        ),
        pytest.param("with suppress(ImportError):\n    import os\n    import re\n", GUARDED, id="in a with"),
        pytest.param("import os; import re\n", SHARED_LINE, id="one line"),
        pytest.param(
            "def f(a, b):\n    import os as a\n    import re as b\n    return a, b\n",
            ONE_ORDER,
            id="finalisers of what was held",
        ),
    ],
)
def test_imports_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_IMPORTS, text)
    assert reasons(REORDER_IMPORTS, text) == {reason}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from os import sep, path\n", {"from os import path, sep\n"}),
        ("import os, re as r\n", {"import re as r, os\n"}),
        (
            "from os import (  # a\n    sep,  # b\n    path as p,\n)\n",
            {"from os import (  # a\n    path as p,  # b\n    sep,\n)\n"},
        ),
        ("from os import sep as a, path as a\n", set()),
        ("from numpy import a, b\n", set()),
        ("try:\n    from os import sep, nothing\nexcept ImportError:\n    nothing = 1\n", set()),
    ],
)
def test_names(before: str, after: set[str]) -> None:
    assert variants(REORDER_IMPORT_NAMES, before) == after


def test_what_was_imported_is_the_same() -> None:
    text = "import os.path\nfrom collections import OrderedDict, deque\nimport json as j\n"
    call = "os.path.sep, OrderedDict, deque, j.dumps([1])"
    assert agrees(REORDER_IMPORTS, text, call) == 5 + 1 - 1
    assert agrees(REORDER_IMPORT_NAMES, text, call) == 1


@pytest.mark.slow
def test_the_listed_modules_exist_and_are_silent() -> None:
    """In one fresh interpreter: what all of them together leave behind."""
    program = f"""
import _signal, atexit, builtins, os, sys
def state():
    signals = [repr(_signal.getsignal(number)) for number in range(1, 32)]
    hooks = [repr(x) for x in (sys.displayhook, sys.excepthook, sys.meta_path, sys.path_hooks, sys.path)]
    return signals, hooks, sorted(vars(builtins)), dict(os.environ), atexit._ncallbacks()
before = state()
for name in {sorted(SILENT & sys.stdlib_module_names)!r}:
    try:
        __import__(name)
    except ModuleNotFoundError:
        pass
assert state() == before
for name in {sorted(REGISTERING)!r}:
    __import__(name)
assert state() != before
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not SILENT - sys.stdlib_module_names
    assert not SILENT & REGISTERING
