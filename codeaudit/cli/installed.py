"""What this program was installed from, as pip recorded it (PEP 610), and what another machine can install.

Nothing here is imported or started but git, which is asked about the checkout that this program runs from.
"""

import json
import re
import shlex
import subprocess
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from codeaudit.transforms.distribution import NAME, NAMESAKE, version_of
from codeaudit.transforms.errors import UsageError

SECONDS: Final = 10.0
"""Largest number of seconds that git may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledFrom:
    """Where the installed program came from. At most one of `requirement` and `path` is filled."""

    requirement: str = ""
    """What pip installs it from on every machine: a URL with its commit or hash, or a pinned version."""
    path: Path | None = None
    """A wheel or a folder on this machine."""
    editable: bool = False
    """Whether the folder is used as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installable:
    """What another machine can install."""

    spec: str
    """An argument of `pip install`, without credentials; empty if there is none."""
    remarks: tuple[str, ...] = ()
    """What the user has to do so that it can be installed."""


def origin() -> InstalledFrom:
    """Where the installed program came from; the checkout, where it is not installed."""
    try:
        text = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        root = Path(__file__).resolve().parents[2]
        return (
            InstalledFrom(path=root, editable=True)
            if (root / "pyproject.toml").is_file()
            else InstalledFrom()
        )
    if text is None:
        return InstalledFrom(requirement=f"{NAME}=={version_of()}")
    try:
        return _recorded(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError):  # no tool that follows PEP 610 wrote it
        return InstalledFrom()


def _recorded(record: Mapping[str, Any]) -> InstalledFrom:
    """The origin that `direct_url.json` records.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it does not follow PEP 610.
    """
    url = without_credentials(record["url"])
    _check_addresses(url)
    fragments = [f"subdirectory={record['subdirectory']}"] if "subdirectory" in record else []
    if "vcs_info" in record:
        vcs = record["vcs_info"]
        return InstalledFrom(requirement=_with(f"{vcs['vcs']}+{url}@{vcs['commit_id']}", fragments))
    if (parts := urlsplit(url)).scheme == "file":
        editable = record.get("dir_info", {}).get("editable") is True
        return InstalledFrom(path=Path(url2pathname(parts.path)), editable=editable)
    hashes = record["archive_info"].get("hashes", {})
    fragments += [f"sha256={hashes['sha256']}"] if "sha256" in hashes else []
    return InstalledFrom(requirement=_with(url, fragments))


def _with(url: str, fragments: list[str]) -> str:
    return f"{NAME} @ {url}" + ("#" + "&".join(fragments) if fragments else "")


def installs_again() -> str:
    """The arguments of `pip install`, quoted for a shell, that install on this machine what is here now."""
    source = origin()
    if source.path is not None:
        return f"{'--editable ' if source.editable else ''}{shlex.quote(str(source.path))}"
    return shlex.quote(source.requirement or NAME)


# ── what another machine can install ─────────────────────────────────────────────────────────────────────


def for_others(project: Path) -> Installable:
    """What a machine with a copy of the folder `project` can install: what is installed here, if possible.

    A wheel is named where it is. A folder is named if it belongs to the project, and otherwise stands for
    the commit that is checked out in it.
    """
    source = origin()
    if source.requirement:
        return Installable(spec=source.requirement, remarks=_reach(source.requirement))
    if source.path is None:
        return Installable(spec="")
    if source.path.is_dir() and (commit := _commit(source.path)) is not None:
        return commit
    within = _within(source.path, project)
    if within:
        return Installable(spec=within, remarks=(f"commit {within}, because CI installs it",))
    if source.path.is_dir():
        return Installable(spec="")
    move = f"copy it into this project and name it there, such as ./wheels/{source.path.name}"
    return Installable(
        spec=str(source.path), remarks=(f"CI must reach the file {str(source.path)!r}: {move}",)
    )


def _within(path: Path, project: Path) -> str:
    """The path as the project's own files name it; empty if it is elsewhere."""
    with suppress(ValueError):
        return f"./{path.resolve().relative_to(project.resolve()).as_posix()}"
    return ""


def _commit(folder: Path) -> Installable | None:
    """The commit that is checked out in a folder; `None` if the folder is no checkout with a remote."""
    # The remote of a checkout around this folder does not identify this folder.
    top = _git(folder, "rev-parse", "--show-toplevel")
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    remotes = _git(folder, "remote").split()
    if not (top and commit and remotes) or Path(top).resolve() != folder.resolve():
        return None
    remote = "origin" if "origin" in remotes else remotes[0]
    # As it is written: `git remote get-url` may add what the user's own settings put in its place.
    url = _as_url(_git(folder, "config", "--get", f"remote.{remote}.url"), folder)
    try:
        _check_addresses(url)
    except ValueError:
        return None
    spec = f"{NAME} @ git+{url}@{commit}"
    remarks = list(_reach(spec))
    if not _git(folder, "branch", "--remotes", "--contains", commit):
        remarks.append(f"no branch of the remote {remote!r} has the commit {commit[:8]} yet: push it")
    if _git(folder, "status", "--porcelain"):
        remarks.append(f"the changes in {str(folder)!r} that are in no commit stay here")
    return Installable(spec=spec, remarks=tuple(remarks))


def _git(folder: Path, *words: str) -> str:
    """What git says; empty if it fails or is not there."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip()


def _as_url(remote: str, folder: Path) -> str:
    """The address of a remote as a URL without credentials: git also takes `git@HOST:PATH` and paths."""
    if "://" in remote:
        return without_credentials(remote)
    # One letter before the colon is a drive of Windows.
    if short := re.fullmatch(r"((?:[\w.-]+@)?[\w.-]{2,}):(?!/)(.+)", remote):
        return without_credentials(f"ssh://{short[1]}/{short[2]}")
    return (folder / remote).resolve().as_uri()


def _reach(spec: str) -> tuple[str, ...]:
    """What CI needs beside the address; empty for most."""
    if "ssh://" in spec:
        return ("CI needs a key that may read that repository",)
    return ("CI must reach that folder: it is on this machine",) if "file:///" in spec else ()


# ── what a user names ────────────────────────────────────────────────────────────────────────────────────


def named(spec: str) -> Installable:
    """What a user names as an argument of `pip install`.

    Raises:
        UsageError: it is no such argument, or it is the other distribution of the same name.
    """
    clean = without_credentials(spec)
    try:
        _check_addresses(clean)
    except ValueError as error:  # what cannot be cut may be a password, so it is not printed
        raise UsageError(
            "--install holds an address that cannot be read; write HOST, and a port in digits"
        ) from error
    if not spec.strip() or not spec.isprintable():
        raise UsageError(f"{clean!r} is nothing that pip installs; name a file, a URL or {NAME}==VERSION")
    if spec.startswith("-"):
        raise UsageError(
            f"{clean!r} is an option of pip; name what it installs, and set options in PIP_… variables"
        )
    name = re.split(r"[\s\[<>=!~;@]", spec, maxsplit=1)[0]
    if re.sub(r"[-_.]+", "-", name).lower() == NAMESAKE:
        raise UsageError(f"{clean!r} is another program on package indexes; this one is {NAME}")
    remarks = () if clean == spec else ("the credentials in it were left out: give them to CI as a secret",)
    return Installable(spec=clean, remarks=(*remarks, *_reach(clean)))


def without_credentials(text: str) -> str:
    """A text whose URLs have no user, no password and no query. With `ssh` the user stays, as in `git@`."""
    text = re.sub(r"([\w+.-]*)://([^\s/?#]*)@", _without_password, text)
    return re.sub(r"(://[^\s?#]*)\?[^\s#]*", r"\1", text)


def _check_addresses(text: str) -> None:
    """Check that the addresses in a text can be cut into their parts: else a password may still be in them.

    Raises:
        ValueError: one cannot, such as `https://user:a/b@HOST`, or it has signs that look like `:` or `@`.
    """
    flat = unicodedata.normalize("NFKC", text)
    if flat != text and "://" in flat:
        raise ValueError("signs of another width in an address")
    for address in re.findall(r"://[^\s/?#]*", text):
        _ = urlsplit(f"x{address}").port  # it is checked when it is read


def _without_password(match: re.Match[str]) -> str:
    user = match[2].partition(":")[0] + "@" if match[1].endswith("ssh") else ""
    return f"{match[1]}://{user}"
