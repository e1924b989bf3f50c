"""What the program was installed from, and what of it another machine can install."""

import json
import subprocess
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from codeaudit.cli import installed
from codeaudit.cli.installed import for_others, installs_again, named, without_credentials
from codeaudit.cli.main import main
from codeaudit.transforms.distribution import NAME, NAMESAKE
from codeaudit.transforms.errors import UsageError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SECRET = "s3cr3t"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, direct_url: object) -> None:
    """Make this program one that pip installed, with this record of where it came from."""
    info = tmp_path / "site" / "codeaudit_ml-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 0.1.0\n", "utf-8")
    if direct_url is not None:
        text = direct_url if isinstance(direct_url, str) else json.dumps(direct_url)
        (info / "direct_url.json").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(info.parent))


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def checkout(folder: Path, remote: str) -> str:
    """A checkout with one commit, whose hash is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    (folder / "pyproject.toml").write_text("[project]\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return git(folder, "rev-parse", "HEAD")


# ── records of pip ───────────────────────────────────────────────────────────────────────────────────────

GIT = {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"}


@pytest.mark.parametrize(
    ("found", "spec"),
    [
        (None, f"{NAME}==0.1.0"),
        (
            {"url": "https://git.example.com/a.git", "vcs_info": GIT},
            f"{NAME} @ git+https://git.example.com/a.git@{COMMIT}",
        ),
        (
            {"url": f"https://me:{SECRET}@git.example.com/a.git", "vcs_info": GIT},
            f"{NAME} @ git+https://git.example.com/a.git@{COMMIT}",
        ),
        (
            {"url": f"https://{SECRET}@git.example.com/a.git", "vcs_info": GIT, "subdirectory": "sub"},
            f"{NAME} @ git+https://git.example.com/a.git@{COMMIT}#subdirectory=sub",
        ),
        (
            {"url": "ssh://git@git.example.com/a.git", "vcs_info": GIT},
            f"{NAME} @ git+ssh://git@git.example.com/a.git@{COMMIT}",
        ),
        (
            {
                "url": f"https://example.com/ours.whl?token={SECRET}",
                "archive_info": {"hash": "sha256=ab", "hashes": {"sha256": "ab"}},
            },
            f"{NAME} @ https://example.com/ours.whl#sha256=ab",
        ),
        (
            {"url": "file:///somewhere/my%20wheels/ours.whl", "archive_info": {}},
            "/somewhere/my wheels/ours.whl",
        ),
        ({"url": "file:///nowhere/checkout", "dir_info": {"editable": True}}, "/nowhere/checkout"),
        ({"url": "https://example.com/ours"}, ""),
        ({"url": f"https://me:a/{SECRET}@git.example.com/a.git", "vcs_info": GIT}, ""),
        ({}, ""),
        ([], ""),
        ("{", ""),
    ],
)
def test_what_pip_recorded_is_what_ci_installs(
    found: Any, spec: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(monkeypatch, tmp_path, found)
    requirement = for_others(project)
    assert requirement.spec == spec
    assert SECRET not in installs_again()


def test_a_wheel_is_named_where_it_is_and_the_user_is_told(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "my wheels" / "ours.whl"
    wheel.parent.mkdir()
    wheel.touch()
    record(monkeypatch, tmp_path, {"url": wheel.as_uri(), "archive_info": {}})
    assert main(["init", str(project)]) == 0
    assert f"python -m pip install '{wheel}'" in (project / ".github/workflows/codeaudit.yml").read_text(
        "utf-8"
    )
    assert "CI must reach the file" in capsys.readouterr().err
    assert list(project.rglob("*.whl")) == [], "nothing is copied"
    assert installs_again() == f"'{wheel}'"


def test_what_is_in_the_project_is_named_as_its_files_name_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A copy in the project's own repository: that repository's remote says nothing about this program.
    checkout(project, "https://git.example.com/project.git")
    inner = project / "tools" / "codeaudit"
    inner.mkdir(parents=True)
    record(monkeypatch, tmp_path, {"url": inner.as_uri(), "dir_info": {}})
    assert for_others(project).spec == "./tools/codeaudit"
    # A submodule has a remote of its own.
    commit = checkout(inner, "https://git.example.com/codeaudit.git")
    assert for_others(project).spec == f"{NAME} @ git+https://git.example.com/codeaudit.git@{commit}"


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        (f"https://me:{SECRET}@git.example.com/a.git", "https://git.example.com/a.git"),
        ("git@git.example.com:me/a.git", "ssh://git@git.example.com/me/a.git"),
        (f"ssh://git:{SECRET}@git.example.com/a.git", "ssh://git@git.example.com/a.git"),
        ("/somewhere/a.git", "file:///somewhere/a.git"),
    ],
)
def test_a_checkout_stands_for_its_commit(
    remote: str, url: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "checkout"
    commit = checkout(folder, remote)
    (folder / "more.txt").write_text("changed")
    record(monkeypatch, tmp_path, {"url": folder.as_uri(), "dir_info": {"editable": True}})
    requirement = for_others(project)
    assert requirement.spec == f"{NAME} @ git+{url}@{commit}"
    remarks = " ".join(requirement.remarks)
    assert "push it" in remarks
    assert "in no commit" in remarks
    assert ("CI needs a key" in remarks) == ("ssh://" in url)
    assert installs_again() == f"--editable {folder}"


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_a_folder_that_nobody_can_reach_is_a_line_that_fails(
    kind: str,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checkout(tmp_path / "checkout", "")
    record(monkeypatch, tmp_path, {"url": (tmp_path / "checkout").as_uri(), "dir_info": {}})
    assert main(["init", str(project), "--ci", kind]) == 0
    assert "fails until you write in it what to install" in capsys.readouterr().err
    text = "".join(path.read_text("utf-8") for path in project.rglob("*.yml"))
    assert "python -m pip install\n" not in text
    (line,) = (line.strip() for line in text.splitlines() if "write here: python" in line)
    done = subprocess.run(["bash", "-ec", line], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:21]) == (1, "write here: python -m")


def test_a_checkout_that_is_not_installed_stands_for_its_commit(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    commit = checkout(tmp_path / "checkout", "https://git.example.com/a.git")
    monkeypatch.setattr(installed, "distribution", nothing)
    monkeypatch.setattr(installed, "__file__", str(tmp_path / "checkout/codeaudit/cli/installed.py"))
    assert for_others(project).spec == f"{NAME} @ git+https://git.example.com/a.git@{commit}"
    (tmp_path / "checkout/pyproject.toml").unlink()
    assert for_others(project).spec == "", "a copy without a project is nothing that pip installs"


# ── what a user names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "url",
    [
        f"https://me:{SECRET}@example.com/a.git",
        f"https://{SECRET}@example.com/a.git",
        f"git+https://me:{SECRET}@example.com/a.git@main",
        f"{NAME} @ git+https://oauth2:{SECRET}@example.com:8443/a.git@main#subdirectory=b",
        f"https://me:a@{SECRET}@example.com/a.whl",
        f"https://example.com/a.whl?token={SECRET}",
        f"https://example.com/a.whl?a=b&token={SECRET}#sha256=ab",
        f"git+ssh://git:{SECRET}@example.com/a.git",
        f"https://${{{SECRET}}}@example.com/a.whl",
    ],
)
@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_no_credential_is_written(
    url: str, kind: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(project), "--ci", kind, "--install", url]) == 0
    err = capsys.readouterr().err
    assert "the credentials in it were left out" in err
    written = "".join(path.read_text("utf-8") for path in project.rglob("*") if path.is_file())
    assert SECRET not in written + err
    assert "example.com" in written


@pytest.mark.parametrize(
    "spec",
    [
        f"{NAME}[hub]==0.1.0",
        "./wheels/ours.whl",
        f"{NAME} @ git+https://git.example.com/a.git@{COMMIT}#subdirectory=b",
        f"{NAME} @ git+ssh://git@git.example.com/a.git",
        "./codeaudit",
    ],
)
def test_what_has_no_credentials_stays_as_it_is(spec: str) -> None:
    assert without_credentials(spec) == spec == named(spec).spec


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (NAMESAKE, "another program"),
        (f"{NAMESAKE}==1.8.1", "another program"),
        (f"{NAMESAKE}[hub]", "another program"),
        (f"{NAMESAKE} @ git+https://git.example.com/a.git", "another program"),
        ("CodeAudit>=1", "another program"),
        ("--index-url https://example.com", "an option of pip"),
        (" ", "nothing that pip installs"),
        ("ours.whl\nrm -r .", "nothing that pip installs"),
        # A password that ends the host too early, or is behind signs that only look like those of a URL.
        (f"git+https://me:a/{SECRET}@example.com/a.git", "cannot be read"),
        (f"https\uff1a//me\uff1a{SECRET}\uff20example.com/a.whl", "cannot be read"),
        (f"https://me\uff1a{SECRET}\uff20example.com/a.whl", "cannot be read"),
        (f"{NAMESAKE} @ git+https://me:{SECRET}@example.com/a.git", "another program"),
        (f"--index-url https://me:{SECRET}@example.com", "an option of pip"),
    ],
)
def test_what_is_no_argument_of_ours_is_refused(
    spec: str, told: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=told):
        named(spec)
    assert main(["init", str(project), "--install", spec]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert SECRET not in line
    assert list(project.iterdir()) == []
