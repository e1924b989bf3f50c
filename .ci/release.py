"""Checks a release and writes its notes.

`python .ci/release.py check v1.2.3` ends with 1, and a line for each fault, if the tag is not the version of
pyproject.toml and of CITATION.cff, if the changelog has no section for it, or if fragments are left that
belong into that section. `python .ci/release.py notes v1.2.3` prints the section.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
NO_FRAGMENT: Final = "README.md"


def faults(tag: str, root: Path = ROOT) -> list[str]:
    """What is wrong with a release under this tag; nothing if it may go out."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    version = project["project"]["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, and pyproject.toml has the version {version}: tag v{version}")
    cited = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    if cited is None or cited[1].strip("\"'") != version:
        found.append(f"CITATION.cff does not have the version {version}")
    if not notes(version, root):
        found.append(f"CHANGELOG.md has no section {version}: run `towncrier build`")
    if "(unreleased)" in (root / "CHANGELOG.md").read_text("utf-8"):
        found.append(
            "CHANGELOG.md still has a section that says (unreleased): join it with that of the release"
        )
    left = [path.name for path in (root / ".changes").glob("*.md") if path.name != NO_FRAGMENT]
    if left:
        found.append(f"fragments are left ({', '.join(sorted(left))}): run `towncrier build`")
    return found


def notes(version: str, root: Path = ROOT) -> str:
    """The text of a version's section in the changelog; empty if there is none."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def main(arguments: list[str]) -> int:
    """The exit code: 0 done, 1 not to be released, 2 wrong usage."""
    match arguments:
        case ["check", tag]:
            for fault in (found := faults(tag)):
                print(fault, file=sys.stderr)  # noqa: T201 - a program of its own
            return 1 if found else 0
        case ["notes", tag]:
            print(notes(tag.removeprefix("v")))  # noqa: T201 - a program of its own
            return 0
    print("usage: release.py check|notes TAG", file=sys.stderr)  # noqa: T201 - a program of its own
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
