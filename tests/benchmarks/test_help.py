"""Each file of the benchmarks is a program that answers `--help`, or a part of one."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.commands import ROOT, environment

FOLDER: Final = ROOT / "benchmarks"
TEXTS: Final = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.py"))}
PROGRAMS: Final = {name for name, text in TEXTS.items() if '\nif __name__ == "__main__":' in text}

EACH: Final = """
import contextlib, io, json, runpy, sys
from pathlib import Path

# An editable install has a checkout on the path, where the tests are found by chance.
path = [one for one in sys.path if not (Path(one) / "tests").is_dir()]
found = {}
for name in sys.argv[2:]:
    # As `python benchmarks/X.py` begins: its folder is on the path, and nothing of another program is.
    sys.path[:] = [sys.argv[1], *path]
    for module in [one for one in sys.modules if one.partition(".")[0] in ("tests", "checkout")]:
        del sys.modules[module]
    file = str(Path(sys.argv[1]) / f"{name}.py")
    sys.argv[:], kept = [file, "--help"], list(sys.argv)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(file, run_name="__main__")
        found[name] = "did not end with --help"
    except SystemExit as end:
        found[name] = said.getvalue() if not end.code else f"exit {end.code}"
    except BaseException as error:
        found[name] = repr(error)
    sys.argv[:] = kept
print(json.dumps(found))
"""
"""One process for all: to import torch takes seconds."""


@pytest.mark.weekly
def test_every_program_answers_help(tmp_path: Path) -> None:
    """Where codeaudit is installed and the tests are not."""
    (tmp_path / "codeaudit").symlink_to(ROOT / "codeaudit")
    done = subprocess.run(
        [sys.executable, "-c", EACH, str(FOLDER), *sorted(PROGRAMS)],
        env=environment({"PYTHONPATH": str(tmp_path)}),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    texts = json.loads(done.stdout)
    assert {name: said for name, said in texts.items() if not said.startswith(f"usage: {name}.py")} == {}
    assert texts.keys() == PROGRAMS


@pytest.mark.thinned(17)
@pytest.mark.parametrize("name", TEXTS)
def test_every_file_is_a_program_or_a_part_of_one(name: str) -> None:
    others = [text for other, text in TEXTS.items() if other != name]
    used = any(re.search(rf"^(?:import|from) {name}\b", text, re.MULTILINE) for text in others)
    # A row of a table that is made elsewhere is named on the command line.
    named = any(f"={name}:" in page.read_text("utf-8") for page in (FOLDER / "results").glob("*.md"))
    assert used or named or name in PROGRAMS


def test_pages_call_programs_by_their_files() -> None:
    """`python -m benchmarks.X` works in the root of the checkout alone, and not for all of them."""
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "benchmarks/**/*.md",
        "audit/*/README.md",
        "transforms/*/README.md",
    ):
        for page in sorted(ROOT.glob(pattern)):
            text = page.read_text("utf-8")
            assert "-m benchmarks." not in text, page
            assert set(re.findall(r"python benchmarks/(\w+)\.py", text)) <= PROGRAMS, page
