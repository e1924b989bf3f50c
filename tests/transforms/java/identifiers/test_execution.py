"""Renamed programs are compiled and run: they print what they printed before."""

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.identifiers.merging import RENAME_MERGING
from codeaudit.transforms.java.identifiers.rename import (
    RENAME,
    RENAME_CANONICAL,
    RENAME_MISLEADING,
    RENAME_PARAMETERS,
    RENAME_RANDOM,
    RENAME_SHUFFLE,
)
from codeaudit.transforms.java.parsing import callables, read
from codeaudit.transforms.java.witnesses import find
from codeaudit.transforms.patches import Edit, splice
from tests.support.java_programs import PROGRAMS

TRANSFORMS = (
    RENAME,
    RENAME_PARAMETERS,
    RENAME_RANDOM,
    RENAME_SHUFFLE,
    RENAME_MISLEADING,
    RENAME_CANONICAL,
)


def rewritten(source: str, transform: object, seed: int) -> tuple[str, int]:
    """A file with each of its methods rewritten, and how many of them were."""
    reading = read(source)
    edits = []
    for node in callables(reading):
        text = reading.text(node)
        try:
            moves = transform.propose(text, Random(seed))  # type: ignore[attr-defined]
        except SourceError:
            continue
        if isinstance(moves, Refused):
            continue
        edit = transform.apply(text, moves)  # type: ignore[attr-defined]
        assert not isinstance(edit, Refused), edit
        edits.append(Edit(node.start, node.end, edit.source))
    return splice(reading.source, edits).decode(), len(edits)


@pytest.mark.weekly
def test_programs_print_what_they_printed(tmp_path: Path) -> None:
    java = shutil.which("java")
    javac = find()
    if java is None or javac is None:
        pytest.skip("no Java")
    files, counts = {}, {}
    for name, source in PROGRAMS.items():
        files[f"before/{name}.java"] = f"package before;\n{source}"
        for transform in TRANSFORMS:
            for seed in range(2):
                package = f"{transform.name}_{seed}".replace("-", "_")
                text, count = rewritten(source, transform, seed)
                counts[name, transform.name] = count
                files[f"{package}/{name}.java"] = f"package {package};\n{text}"
    assert javac.errors(files, classes=tmp_path) == {}
    assert min(counts.values()) >= 2
    classes = sorted(file.removesuffix(".java").replace("/", ".") for file in files)
    (tmp_path / "All.java").write_text(_ALL)
    done = subprocess.run(
        [java, "-cp", str(tmp_path), str(tmp_path / "All.java"), *classes],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    printed: dict[str, str] = {}
    for part in done.stdout.split("\f")[1:]:
        name, _, output = part.partition("\n")
        printed[name] = output
    assert printed.keys() == set(classes)
    for name, output in printed.items():
        kind = name.rpartition(".")[2]
        assert output == printed[f"before.{kind}"], f"{name}:\n{files[name.replace('.', '/') + '.java']}"
        assert len(output) > 20


@pytest.mark.slow
def test_the_control_compiles_too() -> None:
    javac = find()
    if javac is None:
        pytest.skip("no Java compiler")
    source = "class A {\n static int f(int a, int b) { int c = a + b; int d = c * a; if (d > b) return a; return c + d; }\n}"
    text, count = rewritten(source, RENAME_MERGING, 0)
    assert (count, text != source) == (1, True)
    assert javac.errors({"A.java": text}) == {}
    assert javac.errors({"A.java": text.replace("return", "retrun")}).keys() == {"A.java"}


_ALL = """\
public class All {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            System.out.print("\\f" + name + "\\n");
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }
}
"""
