"""Copies a source folder, finds its source files, and perturbs them in parallel.

Called by `codeaudit transform` and, on a copy, by `codeaudit verify`.
"""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Final

from codeaudit.audit.corpora.files import FOREIGN
from codeaudit.audit.projects.languages import file_format, loaded, source_languages
from codeaudit.audit.workers import spread
from codeaudit.transforms.decoding import LARGEST
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Sites
from codeaudit.transforms.source_files import Choice, FileFormat, TransformSeries, UnitRecord, perturb_file

NOT_COPIED: Final = frozenset({".git", "__pycache__"})
"""Names that are never copied."""
FEW: Final = 3
"""Up to this number of files no workers are started, because starting them takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPlan:
    """The transforms for a source folder, by name, because workers cannot receive transform objects."""

    transforms: tuple[str, ...]
    seed: int
    sites: Sites = "auto"

    def series(self, form: FileFormat) -> TransformSeries:
        """The plan for files of one language, with its transforms loaded."""
        transforms = loaded(self.transforms, form.language)
        return TransformSeries(transforms=transforms, seed=self.seed, sites=self.sites)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult:
    """One file before and after the transforms."""

    path: str
    """Relative to the source folder, with `/`."""
    before: bytes
    after: bytes
    records: tuple[UnitRecord, ...]


def copy_tree(
    source: Path, target: Path, *, without: Collection[str] = NOT_COPIED, environments: bool = True
) -> None:
    """Copy a folder with its links, modes and times, but without pipes, sockets and devices.

    Files and folders named in `without` are left out at any depth, virtual environments unless
    `environments`.

    Raises:
        RunError: something cannot be read or written.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        unwanted = {name for name in names if name in without or not _copyable(Path(folder, name))}
        return unwanted if environments else unwanted | {n for n in names if _is_environment(Path(folder, n))}

    try:
        shutil.copytree(source, target, symlinks=True, ignore=left_out, dirs_exist_ok=True)
    except shutil.Error as error:
        _, _, first = error.args[0][0]
        raise RunError(f"cannot copy {str(source)!r}: {first}") from error
    except OSError as error:
        raise RunError(
            f"cannot copy {str(source)!r}: {error.strerror or error}: {error.filename!r}"
        ) from error


def _copyable(path: Path) -> bool:
    mode = path.lstat().st_mode
    return S_ISDIR(mode) or S_ISREG(mode) or S_ISLNK(mode)


def _is_environment(path: Path) -> bool:
    return (path / "pyvenv.cfg").exists()


def source_files(root: Path) -> Iterator[str]:
    """The files below a folder that can be perturbed, as sorted paths relative to it.

    Leaves out hidden folders, virtual environments, build folders (`FOREIGN`) and symbolic links.
    """
    endings = source_languages()
    for folder, folders, names in os.walk(root):
        inside = [name for name in folders if not name.startswith(".") and name not in FOREIGN]
        folders[:] = sorted(name for name in inside if not _is_environment(Path(folder, name)))
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in endings and path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def perturb_files(
    root: Path,
    paths: Iterable[str],
    plan: ProjectPlan,
    *,
    workers: int,
    only: Mapping[str, frozenset[Choice]] | None = None,
) -> Iterator[FileResult]:
    """The files at these paths below `root` after the plan's transforms, in the order of the paths.

    `only` lists by path the allowed pairs of a unit and a transform; files without an entry are left out.
    Nothing is written.

    Raises:
        RunError: a file cannot be read.
    """
    wanted = [(path, None if only is None else only.get(path)) for path in paths]
    pending = [(path, choice) for path, choice in wanted if only is None or choice]
    return spread(partial(_perturbed, root, plan), pending, workers=workers, chunk=1, few=FEW)


def _perturbed(root: Path, plan: ProjectPlan, item: tuple[str, frozenset[Choice] | None]) -> FileResult:
    path, only = item
    before = read_file(root / path)
    known = file_format(path)
    found = perturb_file(
        known, before[: LARGEST + 1], path, plan.series(known), only=only, around=_beside(root / path)
    )
    after = before if len(before) > LARGEST else found.data
    return FileResult(path=path, before=before, after=after, records=found.records)


def _beside(path: Path) -> frozenset[str]:
    """The stems of the other files of the same language in a file's folder."""
    return frozenset(name.stem for name in path.parent.glob(f"*{path.suffix}") if name != path)


def read_file(path: Path) -> bytes:
    """A file's bytes.

    Raises:
        RunError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunError(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file's content atomically and keep its mode. A link is replaced, not followed.

    Raises:
        RunError: it cannot be written.
    """
    place = path.with_name(f".{path.name}.partial")
    try:
        place.write_bytes(data)
        shutil.copymode(path, place)
        place.replace(path)
    except OSError as error:
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
