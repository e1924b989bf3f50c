"""What a contained program can read: the standard library and nothing beside it."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import distribution, files
from pathlib import Path

import pytest

from codeaudit.transforms.oracle.readable import readable
from codeaudit.transforms.oracle.sandbox import Sandbox
from tests.transforms.oracle.test_sandbox import LIMITS, ran

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")

STDLIB = Path(os.__file__).parent
READS = """\
def tried(act, *a, **k):
    try:
        return bool(act(*a, **k) is not None)
    except OSError as error:
        return error.errno
found = {{}}
for path in {paths!r}:
    if os.path.isdir(path):
        found[path] = tried(os.listdir, path)
    else:
        found[path] = tried(lambda: open(path, 'rb').read(1))
print(__import__('json').dumps(found))
"""
IMPORTS = """\
import importlib, sys
found = {{}}
for name in {names!r}:
    try:
        importlib.import_module(name)
    except BaseException as error:
        found[name] = type(error).__name__
sys.__stdout__ = None
print(__import__('json').dumps(found))
"""
STARTED: frozenset[str] = frozenset({"antigravity", "this", "idlelib", "turtledemo"})
"""Modules that act when they are imported."""


@pytest.fixture(scope="module")
def sandboxed() -> Iterator[Sandbox]:
    with Sandbox("codeaudit.transforms.oracle.worker", LIMITS) as sandbox:
        yield sandbox


def printed(sandboxed: Sandbox, body: str) -> dict[str, object]:
    ((kind, answer),) = ran(sandboxed, body)
    assert kind == "seen", answer
    report = json.loads(answer)
    assert report["end"] == "returned", report
    content = json.loads(json.loads(answer)["printed"])
    assert isinstance(content, dict)
    return content


def beside() -> Iterator[Path]:
    """Files that lie beside what a program may read, each of another kind."""
    for name in ("click", "numpy", "pytest"):
        for file in files(name) or ():
            if file.name in ("METADATA", "RECORD", "INSTALLER", "direct_url.json", "__init__.py"):
                yield Path(str(distribution(name).locate_file(file)))
    for key in ("purelib", "platlib"):
        packages = Path(sysconfig.get_path(key))
        yield packages
        yield from packages.glob("*.pth")
        yield from packages.glob("_distutils_hack/__init__.py")
    for packages in (STDLIB / "site-packages", *Path("/usr/lib/python3").glob("dist-packages")):
        yield packages
        yield from sorted(packages.rglob("*"))[:5]
    yield from (STDLIB, Path(sys.prefix), Path(sys.executable).parent, Path.home(), Path.cwd(), Path("/"))
    yield from (Path(__file__), Path("/etc/passwd"), Path("/usr/lib"), Path("/usr/bin/env"), Path("/lib"))
    yield from (Path("/proc/self/environ"), Path("/proc/self/maps"), Path("/usr/lib/os-release"))
    yield from (STDLIB / "sitecustomize.py", Path(sys.prefix, "pyvenv.cfg"))


@pytest.mark.slow
def test_nothing_beside_the_standard_library_can_be_read(sandboxed: Sandbox, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "manifest.json").write_text("{}", encoding="utf-8")
    paths = [str(path) for path in [*beside(), run, run / "manifest.json"] if path.exists()]
    assert len(paths) > 20
    assert any(path.endswith("METADATA") for path in paths)
    errors = printed(sandboxed, READS.format(paths=paths))
    assert errors == dict.fromkeys(paths, 13)


def test_no_path_leads_to_packages_or_around_the_standard_library() -> None:
    root = str(Path(__file__).parents[3])
    text = f"import sys; sys.path.insert(0, {root!r}); from {readable.__module__} import readable"
    clean = [sys.executable, "-S", "-s", "-P", "-c", f"{text}; print(*readable(), sep='\\n')"]
    lines = subprocess.run(clean, capture_output=True, text=True, check=True).stdout.split("\n")
    paths = list(map(Path, filter(None, lines)))
    assert len(paths) > 200
    for path in paths:
        assert "site-packages" not in path.parts
        assert "dist-packages" not in path.parts
        assert path != STDLIB
        assert path not in STDLIB.parents
        if path.is_dir():
            assert path.parent == STDLIB or str(path) in ("/usr/lib/locale", "/usr/share/zoneinfo")


@pytest.mark.slow
def test_every_module_of_the_standard_library_can_still_be_imported() -> None:
    names = sorted(sys.stdlib_module_names - STARTED)
    text = IMPORTS.format(names=names)
    outside = subprocess.run(
        [sys.executable, "-S", "-s", "-P", "-c", text], capture_output=True, text=True, check=True
    )
    with Sandbox("codeaudit.transforms.oracle.worker") as sandboxed:
        assert printed(sandboxed, text) == json.loads(outside.stdout.splitlines()[-1])


def test_what_the_standard_library_reads_can_be_read(sandboxed: Sandbox) -> None:
    body = """\
import inspect, json, locale, sqlite3, ssl, sysconfig, traceback, zoneinfo, encodings.idna, lzma, ctypes
sqlite3.connect(':memory:').execute('select 1').fetchone()
assert inspect.getsource(json.dumps).startswith('def dumps')
assert sysconfig.get_config_var('SOABI')
locale.setlocale(locale.LC_ALL, '')
ctypes.CDLL('libm.so.6').cos
if {zones}:
    zoneinfo.ZoneInfo('Europe/Berlin')
print(json.dumps({{}}))
"""
    zones = os.path.exists("/usr/share/zoneinfo/Europe/Berlin")
    assert printed(sandboxed, body.format(zones=zones)) == {}


def test_packages_are_no_modules_of_a_program(sandboxed: Sandbox) -> None:
    assert importlib.util.find_spec("numpy")
    ((kind, answer),) = ran(sandboxed, "import numpy")
    assert kind == "seen"
    assert '"unfit": "a module is missing"' in answer
