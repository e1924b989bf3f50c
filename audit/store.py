"""The run folder: `manifest.json`, `suite.parquet`, `verdicts.parquet`, `summary.json`.

Every file appears as a whole or not at all, because it is written under another name and then renamed. The
answers of a killed run are in the cache; when it resumes, its tables are written again.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeaudit.transforms.errors import RunError

SCHEMA: Final = 1
MANIFEST: Final = "manifest.json"
SUITE: Final = "suite.parquet"
VERDICTS: Final = "verdicts.parquet"
SUMMARY: Final = "summary.json"
ATTACKS: Final = "attacks.parquet"
EXPLANATIONS: Final = "explanations.jsonl"
PREVIOUS: Final = "previous"
"""A folder inside the run folder, with the finished run that was there before."""

Manifest = Mapping[str, Any]
"""The content of `manifest.json`; `codeaudit.auditing` writes the fields."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run on disk."""

    path: Path

    def reserve(self) -> bool:
        """Make the folder and check that it can be written. Returns whether it is new.

        Raises:
            RunError: it cannot be written, or it holds a manifest of another program.
        """
        new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise RunError(
                f"cannot write to {str(self.path)!r}: {error.strerror or error}; give another --out"
            ) from error
        if not new and (self.path / MANIFEST).exists():
            self.manifest()
        return new

    def manifest(self) -> Manifest:
        """The content of the manifest.

        Raises:
            RunError: there is none, or codeaudit did not write it.
        """
        return read_manifest(self.path / MANIFEST)

    def put_aside(self) -> Path:
        """Move a finished run into the folder `previous`, replacing an earlier one. Returns that folder.

        Raises:
            RunError: it cannot be moved.
        """
        place = self.path / PREVIOUS
        try:
            place.mkdir(exist_ok=True)
            for name in (SUMMARY, SUITE, VERDICTS, ATTACKS, EXPLANATIONS, MANIFEST):
                (place / name).unlink(missing_ok=True)
                if (self.path / name).exists():
                    (self.path / name).replace(place / name)
        except OSError as error:
            raise RunError(f"cannot write to {str(place)!r}: {error.strerror or error}") from error
        return place

    def write_manifest(self, manifest: Manifest) -> None:
        """Write or replace the manifest."""
        self.write_text(MANIFEST, json.dumps(manifest, indent=2, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write or replace a file.

        Raises:
            RunError: the disk is full, or the folder cannot be written.
        """
        with self.replacing(name) as place:
            place.write_text(text, encoding="utf-8")

    @contextmanager
    def replacing(self, name: str) -> Iterator[Path]:
        """A path to write to; at the end of the context it becomes the file, at once.

        Raises:
            RunError: the disk is full, or the folder cannot be written.
        """
        place = self.path / f".{name}.partial"
        try:
            yield place
            with place.open("rb") as file:
                os.fsync(file.fileno())
            place.replace(self.path / name)
        except OSError as error:
            raise RunError(f"cannot write {str(self.path / name)!r}: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                place.unlink(missing_ok=True)


def read_manifest(path: Path) -> Manifest:
    """The content of a manifest.

    Raises:
        RunError: there is none, codeaudit did not write it, or it has another schema.
    """
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(
            f"no run at {str(path.parent)!r}: {MANIFEST} {error.strerror or 'cannot be read'}"
        ) from error
    except ValueError as error:
        raise RunError(f"{str(path)!r} is not JSON: {error}") from error
    if not isinstance(manifest, dict) or "codeaudit" not in manifest:
        raise RunError(f"{str(path)!r} is not the manifest of a codeaudit run; choose another folder")
    if manifest.get("schema") != SCHEMA:
        raise RunError(f"{str(path)!r} has schema {manifest.get('schema')!r}; this version reads {SCHEMA}")
    return manifest
