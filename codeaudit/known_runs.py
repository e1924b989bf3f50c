"""Remembers the summaries of runs that this machine made or checked, so that none is checked twice.

A gate does not believe a run folder: it judges each verdict again from the answers beside it, and computes
the summary anew. For a large run that takes seconds, and always gives the same. So the summary is kept in the
user's cache under the digest of the manifest, which covers all files that the gate reads, and the state of
the code. A file that was edited has another hash, and a manifest that was edited has another digest: such a
run is unknown, and is checked.
"""

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from codeaudit.audit.cache import default_folder
from codeaudit.audit.integrity import DIGEST
from codeaudit.audit.registry import TASKS
from codeaudit.audit.store import Manifest, RunFolder
from codeaudit.reports.records import Summary
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.registry import TRANSFORMS

FOLDER: Final = "checked-runs"
"""Its name in the cache."""
MOST: Final = 200
"""Summaries that are kept, the newest ones."""


def remember(manifest: Manifest, summary: Summary) -> None:
    """Keep the summary that follows from the verdicts of a run, if that is possible."""
    path = _path(manifest)
    if path is None:
        return
    # It only saves time, so a full disk or a read-only home is no error.
    with suppress(OSError, RunError):
        path.parent.mkdir(parents=True, exist_ok=True)
        RunFolder(path.parent).write_text(path.name, summary.to_json())
        files = sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in files[MOST:]:
            old.unlink()


def recall(manifest: Manifest) -> Summary | None:
    """The summary of a run whose files were compared with this manifest; `None` if it is not known."""
    path = _path(manifest)
    if path is None:
        return None
    try:
        return Summary.from_json(path.read_text(encoding="utf-8"))
    # There is none, or it was cut.
    except (OSError, UnicodeDecodeError, RunError):
        return None


def _path(manifest: Manifest) -> Path | None:
    digest = manifest.get(DIGEST)
    transforms = manifest.get("transforms")
    if not isinstance(digest, str) or not isinstance(transforms, list):
        return None
    # The code of a plug-in can change while ours stays.
    ours = TASKS.plain(str(manifest.get("task"))) in TASKS.built_in and TRANSFORMS.built_in.keys() >= set(
        transforms
    )
    if not ours:
        return None
    key = hashlib.sha256(f"{digest} {_code()}".encode()).hexdigest()
    return default_folder() / FOLDER / f"{key}.json"


@cache
def _code() -> str:
    """A hash of the files that judge verdicts and compute summaries."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*root.glob("*.py"), *root.glob("audit/**/*.py"), *root.glob("reports/**/*.py")]):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
