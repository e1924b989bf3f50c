"""Functions of the standard library as test inputs, the same ones on every run."""

import ast
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MODULES = (
    "argparse", "ast", "asyncio/base_events", "bisect", "calendar", "cmd", "codeop", "collections/__init__",
    "concurrent/futures/thread", "configparser", "contextlib", "copy", "csv", "dataclasses", "datetime",
    "difflib", "dis", "doctest", "email/message", "email/_header_value_parser", "enum", "filecmp", "fnmatch",
    "fractions", "functools", "glob", "heapq", "http/client", "inspect", "json/decoder", "json/encoder",
    "linecache", "mailbox", "pathlib", "pickle", "platform", "plistlib", "pprint", "queue", "random",
    "shlex", "shutil", "sqlite3/dump", "statistics", "string", "subprocess", "tarfile", "tempfile",
    "textwrap", "tokenize", "traceback", "typing", "unittest/mock", "urllib/parse", "uuid", "zipfile",
)  # fmt: skip


@cache
def functions() -> tuple[str, ...]:
    """The text of every function and method of these modules, moved to the left margin."""
    root = Path(ast.__file__).parent
    texts: list[str] = []
    for module in MODULES:
        path = root / f"{module}.py"
        if path.exists():
            texts += _functions(path.read_text(encoding="utf-8"))
    return tuple(texts)


def sample(count: int) -> list[str]:
    """About this many of them, evenly spread."""
    texts = functions()
    return list(texts[:: max(1, len(texts) // count)])


def _functions(text: str) -> Iterator[str]:
    lines = text.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                source = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno])) + "\n"
                try:
                    if len(ast.parse(source).body) == 1:
                        yield source
                except SyntaxError:  # text inside stands further left than the function
                    continue
