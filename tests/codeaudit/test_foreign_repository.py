"""In a user's repository with packages named `audit`, `transforms`, `reports` and `tests`, theirs and ours both work.

codeaudit is on the path as an installation puts it there: one package, with its entry points, and no checkout.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import ROOT

NAMES = ("audit", "transforms", "reports")
OWN_PACKAGE = '"""The user\'s own."""\nfrom .words import WORDS\n'
MODEL = """\
import audit, reports, transforms
from audit.words import WORDS


def predict(queries):
    import transforms.words

    return [[transforms.words.WORDS[0], WORDS[0], reports.WORDS[0]] for query in queries]
"""
ENTRY_POINTS = """\
[console_scripts]
codeaudit = codeaudit.cli.main:main

[pytest11]
codeaudit = codeaudit.pytest_plugin
"""
COMMAND = (sys.executable, "-c", "import sys; from codeaudit.cli.main import main; sys.exit(main())")
"""What an installer writes into the script `codeaudit`: the working directory is not on the path."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for `PYTHONPATH` that holds codeaudit as `pip install` would, and nothing else."""
    site = tmp_path_factory.mktemp("site")
    (site / "codeaudit").symlink_to(ROOT / "codeaudit", target_is_directory=True)
    metadata = site / "codeaudit-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: codeaudit\nVersion: 0.1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return site


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose packages have the names of our folders, with a model that imports them."""
    for name in (*NAMES, "tests"):
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text(OWN_PACKAGE, encoding="utf-8")
        (package / "words.py").write_text(f"WORDS = [{name!r}]\n", encoding="utf-8")
    (tmp_path / "my_model.py").write_text(MODEL, encoding="utf-8")
    source = tmp_path / "src"
    source.mkdir()
    functions = [
        f"def add_{number}(left, right):\n    total = left + {number}\n    more = right\n    return total, more\n"
        for number in range(80)  # suites of more than about 60 samples are made by worker processes
    ]
    (source / "adding.py").write_text("\n\n".join(functions), encoding="utf-8")
    return tmp_path


def finished(
    words: Sequence[str], folder: Path, site: Path, *, before: str = ""
) -> subprocess.CompletedProcess[str]:
    """A finished process in `folder`, with codeaudit installed in `site`."""
    path = os.pathsep.join(filter(None, [before, str(site)]))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "."], ids=["installed", "PYTHONPATH=."])
def test_a_callable_is_audited_with_worker_processes(repository: Path, installed: Path, before: str) -> None:
    words = ("run", "--model", "py/my_model:predict", "--corpus", "src/", "--limit", "0", "--workers", "2")
    done = finished([*COMMAND, *words, "--out", "out"], repository, installed, before=before)
    assert done.returncode == 0, done.stderr
    assert "raised" not in done.stdout + done.stderr
    assert (repository / "out" / "summary.json").is_file()


@pytest.mark.slow
def test_python_m_codeaudit_works(repository: Path, installed: Path) -> None:
    words = ("run", "--model", "py/my_model:predict", "--corpus", "src/", "--limit", "0", "--workers", "2")
    done = finished([sys.executable, "-m", "codeaudit", *words, "--out", "out"], repository, installed)
    assert done.returncode == 0, done.stderr
    assert "raised" not in done.stdout + done.stderr


@pytest.mark.slow
def test_pytest_starts_where_the_plugin_is_installed_and_unused(repository: Path, installed: Path) -> None:
    (repository / "tests" / "test_own.py").write_text(
        "from audit.words import WORDS\n\n\ndef test_own():\n    assert WORDS == ['audit']\n",
        encoding="utf-8",
    )
    done = finished([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], repository, installed)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_plugins_fixture_meets_the_users_packages(repository: Path, installed: Path) -> None:
    (repository / "tests" / "test_model.py").write_text(
        "from pathlib import Path\nimport reports\nfrom my_model import predict\n\n\n"
        "def test_names_do_not_matter(assert_invariant):\n"
        "    assert reports.WORDS == ['reports']\n"
        "    assert_invariant(predict, [Path('src')], transforms=['rename'], variants=1)\n",
        encoding="utf-8",
    )
    done = finished([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], repository, installed)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_pre_commit_hook_runs(repository: Path, installed: Path) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = next(line.split(":", 1)[1].split() for line in hook.splitlines() if "entry:" in line)
    assert entry[0] == "python"
    (repository / "codeaudit.toml").write_text(
        '[run]\nmodel = "py/my_model:predict"\ncorpus = "src/"\nlimit = 0\n\n[gate]\nmax_violation_rate = 0.0\nallow_insensitive = true\n',
        encoding="utf-8",
    )
    done = finished([sys.executable, *entry[1:]], repository, installed)
    assert done.returncode == 0, done.stdout + done.stderr


def test_installing_the_users_packages_overwrites_nothing_of_ours(repository: Path, tmp_path: Path) -> None:
    """Both in one site-packages: no path is in both, and both import."""
    ours = {path.name for path in (ROOT / "codeaudit").iterdir()}
    assert {"audit", "transforms", "reports"} <= ours
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "codeaudit").symlink_to(ROOT / "codeaudit", target_is_directory=True)
    for name in (*NAMES, "tests"):  # what `pip install .` of the repository copies
        (repository / name).rename(site / name)
    program = (
        "import audit, reports, transforms, codeaudit.audit.run, codeaudit.reports.records, "
        "codeaudit.transforms.perturb as ours; print(audit.WORDS[0], reports.WORDS[0], transforms.WORDS[0], ours.__name__)"
    )
    done = finished([sys.executable, "-c", program], repository, site)
    assert done.stdout.split() == ["audit", "reports", "transforms", "codeaudit.transforms.perturb"], (
        done.stderr
    )


def test_the_working_directory_is_on_the_path_for_the_models_imports_only(
    repository: Path, installed: Path
) -> None:
    program = (
        "import os, sys\n"
        "sys.path.remove('')\n"
        "from codeaudit.audit.models.callable import load\n"
        "from codeaudit.transforms.permission import permit\n"
        "from codeaudit.audit.models.provider import Settings\n"
        "from codeaudit.audit.records import Query\n"
        "permit('py/my_model:predict')\n"
        "model = load('my_model:predict', Settings())\n"
        "print(os.getcwd() in sys.path)\n"
        "print(model.predict([Query(task='function-name', language='python', source='')])[0].answer)\n"
        "print(os.getcwd() in sys.path)\n"
    )
    done = finished([sys.executable, "-c", program], repository, installed)
    assert done.stdout.split("\n")[:3] == ["False", "('transforms', 'audit', 'reports')", "False"], (
        done.stderr
    )
