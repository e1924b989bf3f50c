"""Checks that the suite of a finished run is one that codeaudit draws.

Hashes can be computed anew by whoever edits a file, so the contents are checked, too, as far as they
follow from each other. What does not follow, such as a label, only a signature protects
(docs/promises.md).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from codeaudit.audit.bound_files import Table
from codeaudit.audit.checks import is_whole, shown
from codeaudit.audit.integrity import restored
from codeaudit.audit.store import MANIFEST, REPEATS, Manifest, TableRow, is_extra, read_rows
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import KEEPS_TEXT
from codeaudit.transforms.registry import kind_of

COLUMNS: Final = ("seed", "sample", "transform", "kind", "variant", "status", "input", "draw")


def check_suite(suite: Table, folder: Path, manifest: Manifest) -> None:
    """Check a suite against itself, the registered transforms and the manifest.

    - A transform is of the kind that is registered for it.
    - A control and a meaning-keeping variant are other texts than the original; kinds that keep the text
      do not.
    - In a suite that the run drew itself, each sample stands under every transform with all variants,
      applied or not. A sample that was drawn in addition has all variants of the transforms that it was
      drawn for.
    - Trials are those of the manifest, and so are the models that the command asked for.

    Raises:
        RunError: one of these does not hold.
    """
    for told in _faults(suite, manifest):
        raise RunError(f"{told}; {restored(folder)}")


def _faults(suite: Table, manifest: Manifest) -> Iterator[str]:
    place = f"{str(suite)!r}"
    asked = manifest.get("options", {}).get("model") or []
    if isinstance(asked, list) and asked and len(asked) != len(manifest.get("models", ())):
        yield f"{MANIFEST} beside {place} has another number of models than were asked for"
    drawn = "suite" not in manifest.get("corpus", {})
    wanted, seeds = manifest.get("transforms", ()), set[object]()
    known: dict[str, object] = {}
    for (seed, sample), found in groupby(
        read_rows(suite, columns=COLUMNS), key=lambda row: (row["seed"], row["sample"])
    ):
        seeds.add(seed)
        rows = list(found)
        for row in rows:
            name, kind = row["transform"], row["kind"]
            if name not in known:
                known[name] = kind_of(name) or kind
            if known[name] != kind:
                yield f"{place} has {name!r} as {kind!r}; it is {known[name]!r}"
        yield from _texts(place, sample, rows)
        if drawn:
            yield from _gaps(place, sample, rows, wanted, manifest)
    trials = manifest.get("trials", 1)
    if is_whole(trials) and len(seeds) != trials:
        yield f"{place} has {len(seeds)} trials of {shown(trials)}"


def _texts(place: str, sample: str, rows: Sequence[TableRow]) -> Iterator[str]:
    """Whether what should be the original is, and nothing else."""
    made = [row for row in rows if row["status"] == "perturbed" and row["input"] is not None]
    originals = {row["input"] for row in made if row["kind"] in KEEPS_TEXT - {"swap"}}
    if len(originals) > 1:
        yield f"{place} has two originals of sample {sample!r}"
    for row in made:
        if row["kind"] not in KEEPS_TEXT and row["input"] in originals:
            yield f"{place} has the original of sample {sample!r} as a variant under {row['transform']!r}"


def _gaps(
    place: str, sample: str, rows: Sequence[TableRow], wanted: Sequence[str], manifest: Manifest
) -> Iterator[str]:
    """Whether every transform was tried, and with all variants."""
    numbers: dict[str, Counter[int]] = {}
    for row in rows:
        numbers.setdefault(row["transform"], Counter())[row["variant"]] += 1
    kinds: Mapping[str, str] = {row["transform"]: row["kind"] for row in rows}
    missing = [] if any(map(is_extra, rows)) else [name for name in wanted if name not in numbers]
    if missing:
        yield f"{place} lacks the variants of sample {sample!r} under {missing[0]!r}"
    variants, repeats = manifest.get("variants"), manifest.get("asked_again")
    number = variants if isinstance(variants, int) else 0
    # Earlier versions asked the original again once.
    again = max(number, repeats if isinstance(repeats, int) else 0) if REPEATS in manifest else 1
    for name, found in numbers.items():
        whole = again if kinds[name] == "identity" else 1 if kinds[name] in KEEPS_TEXT else number
        if whole and found != Counter(range(whole)):
            yield f"{place} has {found.total()} variants of sample {sample!r} under {name!r}, not {whole}"
