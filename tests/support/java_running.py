"""Runs many small Java methods at once: one compiler, one machine, and what each prints, gives and throws."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.support.java_methods import Method

_FRUGAL: Final = ("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g")
_QUIET: Final = ("-proc:none", "-nowarn", "-g:none", "-implicit:none", "-encoding", "UTF-8")
_ERROR: Final = re.compile(r"^(\S+\.java):\d+: error: (.*)$", re.MULTILINE)


def assert_compiles(javac: str | Path, files: Mapping[str, str], folder: Path, *options: str) -> None:
    """Writes files, given by their paths in the folder, and fails where one of them does not compile."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "files").write_text("\n".join(files))
    done = subprocess.run(
        [javac, *(f"-J{option}" for option in _FRUGAL), *_QUIET, "-Xmaxerrs", "1000", *options, "@files"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    wrong = _ERROR.findall(done.stderr)
    assert not wrong, "\n".join(f"{name}: {error}\n{files.get(name, '')}" for name, error in wrong[:5])
    assert done.returncode == 0, done.stderr


def outputs(methods: Mapping[str, Method], folder: Path) -> dict[str, str]:
    """What the calls of each method do, by the name under which it is given: a class of that name is made.

    Skips the test where there is no Java. Fails where a class does not compile.
    """
    java, javac = shutil.which("java"), shutil.which("javac")
    if java is None or javac is None:
        pytest.skip("no Java")
    names = sorted(methods)
    files = {f"{name}.java": _source(name, methods[name]) for name in names}
    files["All.java"] = _ALL
    assert_compiles(javac, files, folder, "-d", ".", "-cp", ".")
    done = subprocess.run(
        [java, *_FRUGAL, "-cp", str(folder), "All"],
        input="\n".join(names), capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    printed: dict[str, str] = {}
    for part in done.stdout.split("\f")[1:]:
        name, _, output = part.partition("\n")
        printed[name] = output
    assert printed.keys() == set(names)
    return printed


def _source(name: str, method: Method) -> str:
    calls = "\n".join(
        f"        try {{ All.gave({call}); }} catch (Throwable error) {{ All.threw(error); }}"
        for call in method.calls
    )
    text = f"{method.members}\n{method.text}".replace("CLASS", name)
    run = f"    public static void main(String[] args) {{\n{calls.replace('CLASS', name)}\n    }}"
    return f"public class {name} {{\n{text}\n{run}\n}}\n"


_ALL = """\
public class All {
    static void gave(Object value) {
        System.out.print(" -> " + value + "\\n");
    }

    static void threw(Throwable error) {
        System.out.print(" !! " + error + "\\n");
    }

    public static void main(String[] args) throws Exception {
        java.util.Scanner names = new java.util.Scanner(System.in);
        java.io.PrintStream out = new java.io.PrintStream(
            new java.io.BufferedOutputStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), 1 << 16),
            false, "UTF-8");
        System.setOut(out);
        while (names.hasNextLine()) {
            String name = names.nextLine();
            out.print("\\f" + name + "\\n");
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
        out.flush();
    }
}
"""
