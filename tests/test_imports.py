"""What an import costs, and where each heavy framework lives."""

import ast
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import environment
from tests.support.source_trees import PACKAGES, imported, trees

HOMES = {
    "torch": (
        "audit/papers/",
        "audit/training/",
        "audit/models/hf/",
        "transforms/columns/",
        "codeaudit/cli/train.py",
    ),
    "scipy": (
        "reports/statistics/",
        "transforms/columns/recovery.py",
        "audit/papers/permutation_equivariance/split.py",
        "audit/papers/spe_attention/baselines.py",
    ),
    "statsmodels": ("reports/statistics/",),
    "scikit_posthocs": ("reports/statistics/",),
    "transformers": ("audit/models/hf/", "audit/papers/permutation_equivariance/"),
    "huggingface_hub": ("audit/models/hf/",),
    "openai": ("audit/models/openai/",),
    "pyarrow": (
        *("audit/store.py", "audit/integrity.py", "audit/corpora/tables.py", "audit/models/predictions.py"),
        "codeaudit/merging.py",
    ),
    "sqlite3": ("audit/cache.py",),
    # Its workers leave Ctrl-C to the parent, and end with it.
    "multiprocessing": ("audit/engines/local.py",),
    "tree_sitter": (
        "transforms/syntax/reader.py",
        "transforms/java/parsing.py",
        "transforms/javascript/parsing.py",
        "transforms/c/parsing.py",
    ),
    "tree_sitter_java": ("transforms/java/parsing.py",),
    "tree_sitter_javascript": ("transforms/javascript/parsing.py",),
    "tree_sitter_typescript": ("transforms/javascript/parsing.py",),
    "tree_sitter_c": ("transforms/c/parsing.py",),
    "tree_sitter_cpp": ("transforms/c/parsing.py",),
    "javalang": ("transforms/java/witnesses.py",),
}

MODULES = (
    "import sys; from codeaudit.cli.main import main; main({words!r}); print(*sys.modules, file=sys.stderr)"
)


def _imported(*words: str) -> set[str]:
    program = MODULES.format(words=list(words))
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    tops = {name.partition(".")[0] for name in done.stderr.split()}
    started = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return tops - {name.partition(".")[0] for name in started.stdout.split()} - set(sys.stdlib_module_names)


def test_help_imports_click_and_ourselves_only() -> None:
    assert _imported("--help") <= {"click", "codeaudit", "colorama"}


def test_version_imports_no_framework() -> None:
    assert _imported("--version") <= {"click", "codeaudit", "colorama"}


def test_listing_imports_no_engine_and_no_framework() -> None:
    assert _imported("list") <= {"click", "codeaudit", "colorama", "typing_extensions"}


def test_a_run_without_a_network_needs_no_torch(sources: Path, tmp_path: Path) -> None:
    words = ("run", "--model", "fake/hash", "--corpus", str(sources), "--out", str(tmp_path / "out"))
    assert not {"torch", "transformers", "scikit_posthocs", "matplotlib"} & _imported(*words)


def test_help_answers_within_a_fifth_of_a_second() -> None:
    assert min(_seconds() for _ in range(5)) < 0.2


def _seconds() -> float:
    """Processor time, which other work on the machine does not lengthen."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "codeaudit", "--help"],
        env=environment(),
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.thinned(3)
@pytest.mark.parametrize("framework", HOMES)
@pytest.mark.slow
def test_a_framework_is_imported_in_its_home_only(framework: str) -> None:
    homes = HOMES[framework]
    strangers = {
        path
        for package in PACKAGES
        for path, tree in trees(package).items()
        if not path.startswith(homes) and framework in {name.partition(".")[0] for name in imported(tree)}
    }
    assert strangers == set()


@pytest.mark.slow
def test_nothing_but_the_command_line_prints() -> None:
    printing = []
    for package in PACKAGES:
        for path, tree in trees(package).items():
            calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
            if any(isinstance(call, ast.Name) and call.id == "print" for call in calls):
                printing.append(path)
    assert [path for path in printing if not path.startswith("codeaudit/cli/")] == []
