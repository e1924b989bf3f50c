"""What surrounds the code: metadata, citation, forms, workflows, changelog. They promise what is done, and no more."""

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.commands import ROOT

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CHANGES: Final = ROOT / ".changes"
TYPES: Final = ("security", "added", "changed", "fixed", "removed", "upgrading")
LONGEST_SECTION: Final = 80
SCHEMAS: Final = {
    "CITATION.cff": "citation-file-format",
    ".github/ISSUE_TEMPLATE/bug.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    ".github/ISSUE_TEMPLATE/feature.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/unsound-edit.yml": "github-issue-forms",
    ".github/actions/gate/action.yml": "github-actions",
    ".github/workflows/ci.yml": "github-workflows",
    ".github/workflows/release.yml": "github-workflows",
}
"""The files that GitHub reads, each with the name of its schema."""


def _read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


CI: Final = _read(".github/workflows/ci.yml")
RELEASE: Final = _read(".github/workflows/release.yml")


# ── what is promised, and what CI runs ───────────────────────────────────────────────────────────────────


def _tested() -> list[str]:
    versions: list[str] = CI["jobs"]["gate"]["strategy"]["matrix"]["python"]
    return versions


def test_the_metadata_names_the_versions_that_ci_runs() -> None:
    versions = [
        match[1]
        for text in PROJECT["project"]["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text))
    ]
    assert versions == _tested() == RELEASE["jobs"]["try"]["strategy"]["matrix"]["python"]
    assert PROJECT["project"]["requires-python"] == f">={_tested()[0]}"


def test_the_metadata_names_the_systems_that_ci_runs() -> None:
    systems = {"ubuntu": "POSIX :: Linux", "macos": "MacOS", "windows": "Microsoft :: Windows"}
    runners = {job["runs-on"].partition("-")[0] for job in CI["jobs"].values()}
    named = [text for text in PROJECT["project"]["classifiers"] if text.startswith("Operating System")]
    assert named == [f"Operating System :: {systems[runner]}" for runner in sorted(runners)]


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_the_pages_name_the_versions_that_ci_runs(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert f"(CI tests {_tested()[0]} to {_tested()[-1]})" in text


# ── files that GitHub reads ──────────────────────────────────────────────────────────────────────────────


def test_every_file_that_github_reads_has_a_schema() -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in (ROOT / ".github").rglob("*.yml")]
    assert sorted({*paths, "CITATION.cff"}) == sorted(SCHEMAS)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("schema", sorted(set(SCHEMAS.values())))
def test_they_fit_their_schema(schema: str) -> None:
    pytest.importorskip("check_jsonschema")
    paths = [str(ROOT / path) for path, name in SCHEMAS.items() if name == schema]
    words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("workflow", [CI, RELEASE], ids=["ci", "release"])
def test_a_workflow_has_no_more_rights_than_it_needs(workflow: Any) -> None:
    """Only the jobs that need a right to write have it; these check out nothing that could use it."""
    for name, job in workflow["jobs"].items():
        rights = job.get("permissions", workflow["permissions"])
        writing = [right for right, kind in rights.items() if kind == "write"]
        actions = [step["uses"] for step in job["steps"] if "uses" in step]
        assert job["timeout-minutes"] <= 120
        assert all("@" in action for action in actions)
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name
            # The name of a tag or a branch is a stranger's text: no part of a script.
            assert "${{" not in step.get("run", ""), name
        if "id-token" in writing:
            assert not any("run" in step for step in job["steps"]), f"{name} runs nothing of the repository"


def test_what_is_published_was_built_once_and_tried() -> None:
    jobs = RELEASE["jobs"]
    assert [
        name
        for name, job in jobs.items()
        if any(step.get("run") == "python -m build" for step in job["steps"])
    ] == ["build"]
    chain = {name: job.get("needs") for name, job in jobs.items()}
    assert chain == {
        "build": None,
        "try": "build",
        "attest": "try",
        "publish": "attest",
        "announce": "publish",
    }


def test_the_citation_names_this_version_and_the_five_papers() -> None:
    cited = _read("CITATION.cff")
    project = PROJECT["project"]
    assert (str(cited["version"]), cited["license"]) == (project["version"], project["license"])
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    papers = readme.partition("codeaudit implements five papers.")[2].partition("What was measured")[0]
    assert len(cited["references"]) == 5
    for paper in cited["references"]:
        names = ", ".join(author["family-names"] for author in paper["authors"])
        assert f"- {names}: [{paper['title']}](" in papers


# ── changelog and release ────────────────────────────────────────────────────────────────────────────────


def _section(text: str) -> list[str]:
    return text.partition("\n## ")[2].partition("\n## ")[0].splitlines()


def test_the_newest_section_of_the_changelog_can_be_read() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert 10 < len(_section(text)) <= LONGEST_SECTION
    assert _section(text)[0].startswith(PROJECT["project"]["version"])


def test_the_types_of_changes_are_those_that_contributors_are_told() -> None:
    configured = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
    section = (
        (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("\n## Changes\n")[2].partition("\n## ")[0]
    )
    assert configured == re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(TYPES)


@pytest.mark.thinned(60)
@pytest.mark.parametrize("path", sorted(CHANGES.glob("*")), ids=lambda path: path.name)
def test_a_change_is_short_and_has_a_type(path: Path) -> None:
    """A file of a type that is not known would be left out of the changelog without a word."""
    assert re.fullmatch(rf"\+[\w-]+\.({'|'.join(TYPES)})\.md", path.name)
    text = path.read_text("utf-8")
    assert 0 < len(text.split()) <= 120
    assert not re.search(r"^\s*[#-] ", text, re.MULTILINE), "one paragraph, without a heading or a list"


RELEASED: Final = "0.2.0"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two changes since its last release, and the version of the next one."""
    for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md"):
        text = (ROOT / name).read_text("utf-8").replace(" (unreleased)", " (2026-01-02)")
        own = PROJECT["project"]["version"]
        text = re.sub(
            rf'^(version(?: =|:) "?){re.escape(own)}', rf"\g<1>{RELEASED}", text, flags=re.MULTILINE
        )
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / ".changes").mkdir()
    (tmp_path / ".changes" / "+closed.fixed.md").write_text("A closed stream is no error.\n")
    (tmp_path / ".changes" / "+old.upgrading.md").write_text("Old runs are refused: audit again.\n")
    return tmp_path


def test_a_release_makes_its_section_of_the_changes(repository: Path) -> None:
    pytest.importorskip("towncrier")
    release = runpy.run_path(str(ROOT / ".ci" / "release.py"))
    faults = release["faults"](f"v{RELEASED}", repository)
    assert [fault.partition(" ")[0] for fault in faults] == ["CHANGELOG.md", "fragments"]
    git = shutil.which("git")
    assert git is not None
    subprocess.run([git, "init", "-q"], cwd=repository, check=True)
    words = ["-m", "towncrier", "build", "--yes", "--version", RELEASED, "--date", "2026-02-03"]
    done = subprocess.run([sys.executable, *words], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert release["faults"](f"v{RELEASED}", repository) == []
    notes = release["notes"](RELEASED, repository)
    assert notes.split("\n\n") == [
        "### Fixed", "- A closed stream is no error.", "### Upgrading", "- Old runs are refused: audit again."
    ]  # fmt: skip
    text = (repository / "CHANGELOG.md").read_text("utf-8")
    assert text.index(f"## {RELEASED}") < text.index(f"## {PROJECT['project']['version']}")


def test_a_release_under_another_tag_is_refused(repository: Path) -> None:
    release = runpy.run_path(str(ROOT / ".ci" / "release.py"))
    assert any("the tag is v9" in fault for fault in release["faults"]("v9", repository))
    (repository / "CITATION.cff").write_text("version: 0.0.1\n")
    assert any("CITATION.cff" in fault for fault in release["faults"](f"v{RELEASED}", repository))
    assert release["main"](["check"]) == 2
