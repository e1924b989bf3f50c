"""Each context manager that is said to pass exceptions on is entered, and an exception is raised inside."""

import asyncio
import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from codeaudit.transforms.python.analysis.knowledge import NEVER_SWALLOWING


class OwnError(Exception):
    """What is raised inside."""


class Closing:
    """An object that can be closed."""

    def close(self) -> bool:
        """An answer that would swallow if it were handed on."""
        return True

    async def aclose(self) -> bool:
        """As `close`."""
        return True


MAKERS: dict[str, Callable[[Any, Path, ExitStack], Any]] = {
    **dict.fromkeys(
        ["open", "io.open", "io.FileIO", "tokenize.open"], lambda make, folder, _: make(folder / "text")
    ),
    "os.fdopen": lambda make, folder, _: make(importlib.import_module("os").open(folder / "text", 0)),
    **dict.fromkeys(["fileinput.input", "fileinput.FileInput"], lambda make, folder, _: make([folder / "text"])),
    **dict.fromkeys(
        ["gzip.open", "gzip.GzipFile", "bz2.open", "bz2.BZ2File", "lzma.open", "lzma.LZMAFile", "tarfile.open",
         "tarfile.TarFile", "zipfile.ZipFile"], lambda make, folder, _: make(folder / "new", "w")),
    "wave.open": lambda make, folder, _: make(str(folder / "sound"), "rb"),
    "os.scandir": lambda make, folder, _: make(folder),
    "os.popen": lambda make, *_: make("true"),
    "subprocess.Popen": lambda make, *_: make(["true"]),
    "mmap.mmap": lambda make, *_: make(-1, 10),
    "memoryview": lambda make, *_: make(b"text"),
    "socket.create_server": lambda make, *_: make(("127.0.0.1", 0)),
    "socket.create_connection": lambda make, _, stack: make(
        stack.enter_context(importlib.import_module("socket").create_server(("127.0.0.1", 0))).getsockname()
    ),
    "urllib.request.urlopen": lambda make, folder, _: make((folder / "text").as_uri()),
    "sqlite3.connect": lambda make, _, stack: stack.enter_context(
        importlib.import_module("contextlib").closing(make(":memory:"))
    ),
    **dict.fromkeys(["contextlib.closing", "contextlib.aclosing"], lambda make, *_: make(Closing())),
    **dict.fromkeys(
        ["contextlib.redirect_stdout", "contextlib.redirect_stderr"],
        lambda make, *_: make(importlib.import_module("io").StringIO()),
    ),
    "contextlib.chdir": lambda make, folder, _: make(folder),
    "unittest.mock.patch": lambda make, *_: make("textwrap.dedent"),
    "unittest.mock.patch.object": lambda make, *_: make(Closing, "close"),
    "unittest.mock.patch.dict": lambda make, *_: make({"a": 1}, a=2),
    "unittest.mock.patch.multiple": lambda make, *_: make(Closing, close=None),
    "pytest.warns": lambda make, *_: make(UserWarning),
}  # fmt: skip
"""How the managers are made that need arguments."""


def maker(name: str) -> Any:
    """What a name of the table stands for."""
    parts = (name if "." in name else f"builtins.{name}").replace("np.", "numpy.").split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            target = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            if count == 1:
                pytest.skip(str(error))
            continue
        for part in parts[count:]:
            target = getattr(target, part)
        return target
    raise AssertionError(name)


@pytest.fixture(name="stack")
def _stack(tmp_path: Path) -> Iterator[ExitStack]:
    (tmp_path / "text").write_text("x\n")
    with importlib.import_module("wave").open(str(tmp_path / "sound"), "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
    with ExitStack() as stack:
        yield stack


@pytest.mark.thinned(22)
@pytest.mark.parametrize("name", NEVER_SWALLOWING)
def test_an_exception_leaves_it(name: str, tmp_path: Path, stack: ExitStack) -> None:
    make = maker(name)

    manager = MAKERS.get(name, lambda make, *_: make())(make, tmp_path, stack)
    category = DeprecationWarning if "deprecated" in name else UserWarning

    async def waited() -> None:
        async with manager:
            raise OwnError

    def entered() -> None:
        with manager:
            if name.startswith("pytest."):
                warnings.warn("told", category, stacklevel=1)
            raise OwnError

    with pytest.raises(OwnError):
        asyncio.run(waited()) if hasattr(manager, "__aexit__") else entered()


def test_every_entry_has_a_reason_of_its_own_words() -> None:
    assert all(reason.startswith("it ") for reason in NEVER_SWALLOWING.values())
