"""The small environment of `requirements-light.txt`: it has what its commands import, and no more."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.commands import ROOT, environment
from tests.support.endpoints import Act, Asked, says, serving

LIGHT = ROOT / "requirements-light.txt"
LARGEST = 490 * 10**6
"""Bytes that the whole environment may have on the disk after its commands ran."""
MOST = 25
"""Distributions of the whole environment, with codeaudit and what the environment starts with."""


def script(asked: Asked) -> Act:
    """A model that reads the names in the code, so that renaming changes some answers."""
    return says("[total] [count]" if "total" in asked.text else "[left] [right]")


def listed() -> dict[str, Requirement]:
    """The requirements that count on this system, by canonical name."""
    lines = [line.strip() for line in LIGHT.read_text("utf-8").splitlines()]
    needs = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {
        canonicalize_name(need.name): need for need in needs if need.marker is None or need.marker.evaluate()
    }


def the_commands(url: str) -> list[list[str]]:
    """Everything that the small environment is for."""
    endpoint = ["--base-url", url, "--workers", "1"]
    return [
        ["--help"],
        ["run", "--model", "openai/tiny", *endpoint, "--corpus", "sources", "--out", "first"],
        [
            *("gate", "first", "--max-violation-rate", "100%", "--allow-insensitive"),
            *("--write-limits", "limits.toml"),
        ],
        ["report", "first", "--html", "page.html", "--baseline", "main.parquet", "--junit", "first.xml"],
        ["run", "--model", "fake/hash", "--model", "fake/length", "--corpus", "sources", "--out", "second"],
        ["compare", "first", "second"],
        ["explain", "first", "--model", "openai/tiny", *endpoint[:2]],
        ["view", "first", "--no-browser"],
        ["doctor"],
    ]


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────


def test_every_version_is_exact_and_one_that_the_project_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    allowed = {canonicalize_name(need.name): need for need in map(Requirement, project["dependencies"])}
    for name, need in listed().items():
        (pin,) = need.specifier
        assert pin.operator == "==", name
        if name in allowed:
            assert allowed[name].specifier.contains(pin.version), name
    assert len(listed()) + 3 <= MOST, "with codeaudit, pip and setuptools"


PROGRAM = """\
import json, sys
from importlib.abc import MetaPathFinder

ALLOWED = set(json.loads(sys.argv[1]))

class Small(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        # The settings of the build are the standard library's, too, and have no fixed name.
        own = top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        if not own and top not in ALLOWED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Small())
from codeaudit.cli.main import main
codes = [main(words) for words in json.loads(sys.argv[2])]
print("MODULES", json.dumps([codes, sorted(sys.modules)]))
"""
"""Runs commands where only the modules in its first argument can be imported."""


@pytest.mark.weekly
def test_the_file_lists_exactly_what_its_commands_import(sources: Path, tmp_path: Path) -> None:
    homes: dict[str, set[str]] = {}
    for module, names in packages_distributions().items():
        homes[module] = {str(canonicalize_name(name)) for name in names}
    allowed = {module for module, names in homes.items() if names & listed().keys()}
    with serving(script) as endpoint:
        commands = the_commands(endpoint.url)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps([*allowed, "codeaudit"]), json.dumps(commands)],
            cwd=tmp_path,
            env=environment({"OPENAI_API_KEY": "none"}),
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    codes, modules = json.loads(done.stdout.rpartition("MODULES")[2])
    assert codes == [0] * len(commands), done.stderr[-2000:]
    imported = {name for module in modules for name in homes.get(module.partition(".")[0], ())}
    assert listed().keys() - imported == set(), "nothing imports these"


# ── the action ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("install", "code", "told"),
    [
        ("light", 0, "-m pip install --quiet --no-compile --no-deps -r SOURCE/requirements-light.txt SOURCE"),
        ("full", 0, "-m pip install --quiet SOURCE"),
        ("true", 2, "::error::install is light, full or false, not 'true'"),
    ],
)
def test_the_action_installs_what_is_asked(install: str, code: int, told: str, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text(encoding="utf-8"))
    assert action["inputs"]["install"]["default"] == "light"
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "python").chmod(0o755)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", action["runs"]["steps"][0]["run"]],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "SOURCE": "SOURCE", "INSTALL": install},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.strip()) == (code, told)


# ── the environment ──────────────────────────────────────────────────────────────────────────────────────

BLOCK = "addl %eax, %ebx\nmovl %ecx, %edx\nxorl %esi, %esi\n"
JAVA = "class A { int f(int a) { int b = a; int c = 2; return b + c; } }\n"
MISSING = {
    "run --corpus sources": "torch",
    "run --model spe-checkpoint --corpus sources": "torch",
    "run --model renamer-checkpoint --corpus a.s": "torch",
    "run --model hf/tiny --corpus sources": "torch",
    "run --model ./trained --corpus sources": "torch",
    "run --model fake/hash --wrap columns --corpus sources": "torch",
    "train spe --corpus sources --out trained-here": "torch",
    "seal trained --key key --out sealed": "cryptography",
    "run --model fake/hash --execute --corpus sources": "hypothesis",
    "run --model fake/hash --corpus A.java": "tree-sitter",
    "transform A.java --diff": "tree-sitter",
    "run --model fake/hash --task throughput --corpus a.s": "iced-x86",
    "run --model fake/hash --corpus sources --transform codemod/mine:Mine": "libcst",
    "run --model fake/hash --model fake/length --corpus sources --trials 3": "scikit-posthocs",
    "run --model fake/hash --corpus hfds:some/data@test": "datasets",
    "run --model fake/hash --corpus sources --engine ray": "ray",
}
"""What the small environment cannot do, and the distribution that each needs first."""


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment, made by the documented command."""
    folder = tmp_path_factory.mktemp("light") / "env"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (line,) = re.findall(r"^#     pip (install .*)$", LIGHT.read_text("utf-8"), re.M)
    pip = [str(folder / "bin/python"), "-m", "pip"]
    done = subprocess.run([*pip, *line.split(), "-q"], cwd=ROOT, capture_output=True, text=True)
    if "NewConnectionError" in done.stderr or "Temporary failure in name resolution" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def in_light(light: Path, words: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command of the small environment, which sees nothing of this one."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(light / "bin/codeaudit"), *words],
        cwd=cwd,
        env={**kept, "OPENAI_API_KEY": "none", "CODEAUDIT_CACHE": str(cwd / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.weekly
def test_the_commands_run_in_the_small_environment(light: Path, sources: Path, tmp_path: Path) -> None:
    with serving(script) as endpoint:
        for words in the_commands(endpoint.url):
            done = in_light(light, words, tmp_path)
            assert done.returncode == 0, (words, done.stderr)
    summary = json.loads((tmp_path / "first/summary.json").read_text("utf-8"))
    assert summary["models"][0]["violations"]["total"] > 0
    assert "missing; it would add the bundled models" in done.stdout


@pytest.mark.weekly
def test_what_is_missing_is_told_in_one_line(light: Path, sources: Path, tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(BLOCK)
    (tmp_path / "A.java").write_text(JAVA)
    # Enough for a folder to be taken for a checkpoint of ours.
    (tmp_path / "trained").mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        bundled = ROOT / "audit/checkpoints/spe-checkpoint" / name
        (tmp_path / "trained" / name).write_bytes(bundled.read_bytes())
    for words, name in MISSING.items():
        done = in_light(light, words.split(), tmp_path)
        last = done.stderr.splitlines()[-1]
        assert done.returncode == 3, (words, done.stderr)
        assert "Traceback" not in done.stderr, (words, done.stderr)
        assert re.search(rf"needs (the package )?{name}\b.*pip install", last), (words, last)


@pytest.mark.weekly
def test_the_small_environment_is_small_and_whole(light: Path, sources: Path, tmp_path: Path) -> None:
    with serving(script) as endpoint:
        for words in the_commands(endpoint.url):
            in_light(light, words, tmp_path)  # compiles what they import
    size = sum(path.lstat().st_blocks * 512 for path in light.rglob("*"))
    assert size <= LARGEST, f"{size:,} bytes"
    pip = [str(light / "bin/python"), "-m", "pip"]
    done = subprocess.run([*pip, "list", "--format", "json"], capture_output=True, text=True, check=True)
    names = {canonicalize_name(package["name"]) for package in json.loads(done.stdout)}
    assert len(names) <= MOST, sorted(names)
    assert names - {"codeaudit-ml", "pip", "setuptools"} == listed().keys()
    # Those that are here fit each other.
    wrong = subprocess.run([*pip, "check"], capture_output=True, text=True).stdout.splitlines()
    assert [line for line in wrong if "not installed" not in line and "No broken" not in line] == []
