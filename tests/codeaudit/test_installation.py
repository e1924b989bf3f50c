"""Fresh environments with our wheel, alone and beside another distribution that has our command and our module."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.cli.init import CHECK, GATE, MODEL, PIPELINES, RUN
from codeaudit.transforms.distribution import NAMESAKE
from tests.support.commands import ROOT
from tests.support.pages import blocks
from tests.support.pipelines import carried_out

pytestmark = pytest.mark.slow

UNSTEADY = '''

def predict(queries):
    """Another answer for every other text."""
    return [f"answer_{len(query.source)}" for query in queries]
'''


@dataclass(frozen=True)
class FreshEnvironment:
    """A virtual environment that sees the packages of this one, but nothing named codeaudit."""

    folder: Path

    @property
    def variables(self) -> Mapping[str, str]:
        """What its commands run under: its programs first, no package index, no key, nothing of this checkout."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_NO_COMPILE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "CODEAUDIT_CACHE": str(self.folder / "cache"),
            "OMP_NUM_THREADS": "1",
        }

    def run(self, command: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """A command of a shell."""
        return subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=cwd or self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def install(self, wheel: Path) -> None:
        done = self.run(f"python -m pip install -q --no-deps {shlex.quote(str(wheel))}")
        assert done.returncode == 0, done.stderr


def fresh(folder: Path) -> FreshEnvironment:
    venv.create(folder, symlinks=True, with_pip=False)
    packages = folder / "packages"
    packages.mkdir()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if "codeaudit" not in path.name and path.suffix != ".pth":
                (packages / path.name).symlink_to(path)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n", "utf-8")
    return FreshEnvironment(folder)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel, as `pip wheel .` builds it."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.iterdir()
    return wheel


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up distribution `codeaudit` with our command and our module."""
    wheel = tmp_path_factory.mktemp("foreign") / f"{NAMESAKE}-1.8.1-py3-none-any.whl"
    info = f"{NAMESAKE}-1.8.1.dist-info"
    files = {
        "codeaudit/__init__.py": "def main():\n    print('codeaudit 1.8.1')\n",
        "codeaudit/scanner.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAMESAKE}\nVersion: 1.8.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ncodeaudit = codeaudit:main\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")))
    return wheel


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    shutil.copy(str(shutil.__file__), folder / "src")  # ordinary code, of which controls change enough
    return folder


@pytest.fixture(scope="module")
def installed(ours: Path, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    """An environment with ours alone."""
    environment = fresh(tmp_path_factory.mktemp("installed") / "env")
    environment.install(ours)
    return environment


@pytest.mark.weekly
def test_ours_says_its_name_and_version(installed: FreshEnvironment, ours: Path) -> None:
    done = installed.run("codeaudit --version")
    assert (done.stdout, done.stderr) == ("codeaudit-ml 0.1.0\n", "")
    assert ours.name.startswith("codeaudit_ml-0.1.0-")
    done = installed.run("codeaudit doctor && codeaudit list tasks")
    assert "codeaudit-ml" in done.stdout
    assert "conflict" not in done.stdout
    assert done.stderr == ""


def test_an_extra_is_installed_around_what_is_here(installed: FreshEnvironment) -> None:
    # The remedy of messages: pip keeps ours and looks for the packages of the extra only.
    done = installed.run('python -m pip install --dry-run "codeaudit-ml[emulator]"')
    assert "Requirement already satisfied: codeaudit-ml" in done.stdout
    assert done.returncode == 0 or "No matching distribution found for unicorn" in done.stderr


# ── two distributions of one name ────────────────────────────────────────────────────────────────────────


@pytest.mark.weekly
def test_ours_last_says_so_and_doctor_mends_it(ours: Path, foreign: Path, tmp_path: Path) -> None:
    both = fresh(tmp_path / "env")
    both.install(foreign)
    both.install(ours)
    assert (both.folder / "bin/codeaudit").exists()

    for words in ("--version", "--help"):
        assert both.run(f"codeaudit {words}").stderr == ""
    assert both.run(CHECK).returncode == 0
    for words in ("list tasks", "doctor --format json", "run --help"):
        done = both.run(f"codeaudit {words}")
        assert done.returncode == 0
        (line,) = done.stderr.splitlines()
        assert f"another distribution, {NAMESAKE} 1.8.1," in line
        assert "codeaudit doctor" in line

    printed = both.run("codeaudit doctor").stdout
    assert f"{NAMESAKE} 1.8.1" in printed
    commands = re.search(r"python -m pip uninstall .*", printed)
    assert commands is not None
    assert str(ours) in commands[0]
    done = both.run(commands[0])
    assert done.returncode == 0, done.stderr
    done = both.run("codeaudit --version && codeaudit list tasks")
    assert done.stdout.startswith("codeaudit-ml 0.1.0\n")
    assert done.stderr == ""


@pytest.mark.weekly
def test_the_other_one_last_stops_the_job(ours: Path, foreign: Path, project: Path, tmp_path: Path) -> None:
    both = fresh(tmp_path / "env")
    for kind, (_, text) in PIPELINES.items():
        # The packages of the model bring the other one after ours.
        job = text(str(ours)).replace(str(ours), f"{ours} && python -m pip install {foreign}")
        ended = carried_out(kind, job, project, both.variables)
        assert (ended.code, ended.last.strip()) == (1, CHECK), ended.out
        assert "another program has the command" in ended.out
    assert both.run("codeaudit --version").stdout == "codeaudit 1.8.1\n"
    assert not (project / "codeaudit-runs").exists()


# ── the first path, and the job ──────────────────────────────────────────────────────────────────────────


def test_the_first_path_works_as_printed(installed: FreshEnvironment, project: Path) -> None:
    (printed,) = (
        block.text
        for block in blocks()
        if block.page.name == "README.md" and block.text.startswith("codeaudit init")
    )
    assert printed.split("\n")[:3] == ["codeaudit init", RUN, GATE]
    done = installed.run(" && ".join(printed.strip().splitlines()), project)
    assert done.returncode == 0, done.stderr
    verdicts = list(read_rows(project / "codeaudit-runs/ci/verdicts.parquet"))
    # The model that is written answers: nothing is unjudged for want of an answer.
    assert {row["outcome"] for row in verdicts if row["reason"] != "not asked again"} <= {"held", "violated"}
    assert sum(row["outcome"] == "held" for row in verdicts) > 10
    assert {str(row["model"]) for row in verdicts} == {"py/codeaudit_model:predict"}
    summary = json.loads((project / "codeaudit-runs/ci/summary.json").read_text("utf-8"))
    (model,) = summary["models"]
    assert model["sensitivity"]["count"] > 0, "it reads the code"
    # Under the name that runs have always had, so that old and new ones can be joined and compared.
    manifest = json.loads((project / "codeaudit-runs/ci/manifest.json").read_text("utf-8"))
    assert manifest["versions"]["codeaudit"] == "0.1.0"


@pytest.mark.weekly
def test_the_jobs_do_what_their_pages_say(
    installed: FreshEnvironment, ours: Path, project: Path, tmp_path: Path
) -> None:
    runner = fresh(tmp_path / "runner")
    texts = {}
    for kind, (name, _) in PIPELINES.items():
        done = installed.run(f"codeaudit init --ci {kind}", project)
        assert done.returncode == 0, done.stderr
        assert f"installs {ours}" in done.stderr
        texts[kind] = (project / name).read_text("utf-8")

        ended = carried_out(kind, texts[kind], project, runner.variables)
        assert ended.code == 0, ended.out
        assert "codeaudit-ml 0.1.0" in ended.out
        assert (project / "gate.xml").exists() == (kind == "gitlab")
        shutil.rmtree(project / "codeaudit-runs")

    with (project / MODEL).open("a") as file:
        file.write(UNSTEADY)
    ended = carried_out(kind, texts[kind], project, runner.variables)
    assert ended.code == 1, ended.out
    assert ended.last.startswith(GATE)
