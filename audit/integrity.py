"""Binds the files of a run together: a changed, cut or foreign file is found when the run is read.

`check_files` compares hashes. `check_rows` compares the tables with each other, so that missing rows are
found even if the hashes were computed anew.

The manifest of a finished run holds the SHA-256 of each file that is read later, and a digest of itself. JSON
is bound by its parsed content, so that other ends of lines change nothing.
Whoever edits a file can compute these anew. A signature (HMAC-SHA256 under a secret key) cannot be made
without the key. `codeaudit explain` extends a run later. Its file is bound by a field of its own, which is
not in the digest.
"""

import codecs
import hashlib
import hmac
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from codeaudit.audit.bound_files import BoundFile, BoundFolder, HashedFile, Table, TableFolder, hashed
from codeaudit.audit.checks import load_json
from codeaudit.audit.records import NOT_REPEATED
from codeaudit.audit.store import (
    ANSWERS,
    ATTACKS,
    BOUND,
    EXPLANATIONS,
    LINES,
    MANIFEST,
    MOVABLE,
    SHARD,
    SUITE,
    VERDICT_COLUMNS,
    VERDICTS,
    WORDS,
    Manifest,
    RunFolder,
    counted_groups,
    is_extra,
    open_parquet,
    read_rows,
)
from codeaudit.transforms.errors import CannotAudit, RunError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

JSON: Final = frozenset({".json", LINES})
"""Endings of files that are bound by their content, however it is written."""
FILES: Final = "files"
"""Field of the manifest: SHA-256 by the name of the file."""
DIGEST: Final = "digest"
SIGNATURE: Final = "signature"
EXPLAINED: Final = "explanations"
"""Field of the manifest: the SHA-256 of the newest explanations and of those before."""
VARIANT: Final = ("seed", "sample", "transform", "variant")
"""The columns that identify a variant."""
FIXED: Final = ("kind", "input")
"""Columns in which a variant and the verdicts on it are equal."""
OUTSIDE: Final = frozenset({DIGEST, SIGNATURE, EXPLAINED})
"""Fields that the digest leaves out."""
BATCH: Final = 1 << 14
"""Rows whose keys are computed together."""
FACTOR: Final = 0x9E3779B97F4A7C15
"""Odd, so that no key of a column is lost when the next one is added."""
SHORTEST: Final = 16
"""Least number of bytes of a key. A shorter one can be found by trying."""


def read_key(path: Path) -> bytes:
    """The secret in a file: all its bytes.

    A text is the same secret with other ends of lines and with a mark of its encoding, as some editors write
    them.

    Raises:
        CannotAudit: the file cannot be read.
        UsageError: it holds fewer than `SHORTEST` bytes.
    """
    remedy = f"write a new one with: openssl rand -hex 32 > {shlex.quote(str(path))}"
    try:
        key = _unix_text(path.read_bytes())
    except OSError as error:
        raise CannotAudit(
            f"cannot read the key {str(path)!r}: {error.strerror or error}; {remedy}"
        ) from error
    if len(key) < SHORTEST:
        raise UsageError(f"the key {str(path)!r} has {len(key)} bytes, fewer than {SHORTEST}; {remedy}")
    return key


def bound(folder: RunFolder, manifest: Manifest, names: Iterable[str], key: bytes | None = None) -> Manifest:
    """The manifest with the hashes of the named files and its digest, signed if there is a key.

    Raises:
        RunError: a file cannot be read.
    """
    # There and back through JSON: the digest must be that of the manifest as it is read.
    inside = json.loads(_content(manifest))
    inside[FILES] = {name: _bound_hash(folder.path / name) for name in names}
    signed = {} if key is None else {SIGNATURE: signature(_content(inside), key)}
    return {**inside, DIGEST: hashlib.sha256(_content(inside)).hexdigest(), **signed}


def check_files(folder: Path, manifest: Manifest) -> BoundFolder:
    """Check that a run folder has the files that the run wrote. Returns these files, for all further reading.

    They are read as they were checked, or not at all, even if somebody exchanges them meanwhile.

    Raises:
        RunError: a file is missing, or is not the one that the run wrote; the message names it.
    """
    if manifest.get(DIGEST) != hashlib.sha256(_content(manifest)).hexdigest():
        raise _foreign(folder, MANIFEST)
    files = manifest.get(FILES)
    # Digests can be computed anew, so a field may still be missing or of another type.
    if not isinstance(files, dict) or not files.keys() >= BOUND:
        raise _foreign(folder, MANIFEST)
    # A table of attacks that an earlier run left in the folder belongs to no run, and nothing reads it.
    written = {SHARD} & files.keys() | ({ATTACKS} if manifest.get("attack") else frozenset())
    # Whoever shares a run may leave the replies out.
    if ANSWERS in files and (folder / ANSWERS).exists():
        written |= {ANSWERS}
    checked: dict[str, BoundFile] = {}
    for name in sorted(BOUND | written):
        if not (folder / name).exists():
            raise RunError(f"{str(folder / name)!r} is missing; {restored(folder)}")
        hashed_file = hashed(folder / name)
        if not _is_bound(hashed_file, [files.get(name)]):
            raise _foreign(folder, name)
        checked[name] = hashed_file.file
    path = folder / EXPLANATIONS
    if path.exists():
        hashed_file = hashed(path)
        if not _is_bound(hashed_file, _explained(manifest)):
            raise RunError(
                f"{str(path)!r} is not the file that `codeaudit explain` wrote; delete it and explain "
                "the run again"
            )
        checked[EXPLANATIONS] = hashed_file.file
    return BoundFolder(folder, manifest, checked)


def _is_bound(hashed_file: HashedFile, hashes: Sequence[object]) -> bool:
    """Whether a file has one of these hashes. JSON may be written otherwise: `git` changes ends of lines.

    Raises:
        RunError: the file was changed meanwhile.
    """
    if hashed_file.sha256 in hashes:
        return True
    if hashed_file.file.suffix not in JSON:
        return False
    data = hashed_file.file.read_bytes()
    return bool(
        {_content_hash(data, hashed_file.file.suffix), _unix_hash(data)}.intersection(map(str, hashes))
    )


def _unix_hash(data: bytes) -> str:
    """The hash of JSON as Unix writes it. Earlier versions bound JSON by the hash of its bytes.

    The content is the same, because no end of line can stand inside a text of JSON.
    """
    return hashlib.sha256(_unix_text(data)).hexdigest()


def _unix_text(data: bytes) -> bytes:
    """A text without a mark of its encoding, and with the ends of lines that Unix has."""
    return data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")


def _content_hash(data: bytes, suffix: str) -> str | None:
    """The hash of the parsed content of JSON, or of lines of JSON; `None` if it is none."""
    try:
        content = [load_json(line) for line in data.splitlines()] if suffix == LINES else load_json(data)
    except ValueError:
        return None
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class RowCounts(NamedTuple):
    """The verdicts of a model that are counted together."""

    kind: str
    transform: str
    outcome: str
    extra: bool


def check_rows(folder: TableFolder, models: Sequence[str]) -> Mapping[str, Counter[RowCounts]]:
    """Check that the verdicts are those on the suite: one for each model and variant, and no other.

    Returns, by model, the number of verdicts of each transform with each outcome, by draw.

    Raises:
        RunError: rows are missing, given twice or of another run, or there is no verdict at all.
    """
    # Row by row only if something is wrong, for the message: it takes long and much memory.
    if (counted := _counted(folder, models)) is not None:
        return counted
    suite, verdicts = folder / SUITE, folder / VERDICTS
    variants: dict[tuple[object, ...], tuple[object, ...]] = {}
    seen: set[tuple[object, ...]] = set()
    counts: dict[str, Counter[RowCounts]] = {model: Counter() for model in models}
    try:
        for row in read_rows(suite, columns=(*VARIANT, *FIXED, "draw", "status")):
            key = tuple(row[name] for name in VARIANT)
            if row["status"] != "perturbed":
                continue
            if key in variants:
                raise RunError(f"{str(suite)!r} has a variant twice: {_key_text(key)}")
            variants[key] = *(row[name] for name in FIXED), is_extra(row)
        for row in read_rows(verdicts, columns=("model", *VARIANT, *FIXED, "draw", "outcome", "reason")):
            key = tuple(row[name] for name in VARIANT)
            if row["model"] not in counts:
                raise RunError(
                    f"{str(verdicts)!r} has verdicts on {row['model']!r}, a model that is not of this run"
                )
            if variants.get(key) != (*(row[name] for name in FIXED), is_extra(row)):
                raise RunError(f"{str(verdicts)!r} has a verdict on no variant of {SUITE}: {_key_text(key)}")
            if (row["model"], *key) in seen:
                raise RunError(f"{str(verdicts)!r} has a verdict twice: {_key_text(key)}")
            seen.add((row["model"], *key))
            group = RowCounts(row["kind"], row["transform"], _outcome(row), is_extra(row))
            counts[row["model"]][group] += 1
    except KeyError as error:
        raise RunError(f"a table in {str(folder)!r} lacks the column {error}") from error
    if not variants:
        raise RunError(f"the run at {str(folder)!r} has no verdict: no perturbation could be applied")
    missing = len(models) * len(variants) - len(seen)
    if missing:
        raise RunError(
            f"{str(verdicts)!r} lacks {missing} of {len(models) * len(variants)} verdicts on {SUITE}"
        )
    return counts


def _counted(folder: TableFolder, models: Sequence[str]) -> Mapping[str, Counter[RowCounts]] | None:
    """What `check_rows` returns, if the tables are right; `None` if not, or if that cannot be told.

    Memory holds a key of 64 bits for each row.
    """
    import numpy as np
    from pyarrow import ArrowException

    counts: dict[str, Counter[RowCounts]] = {model: Counter() for model in models}
    rows: dict[str, list[np.ndarray[Any, Any]]] = {model: [] for model in models}
    parts: list[_Keys] = []
    try:
        for batch in _key_batches(folder / SUITE, "status"):
            perturbed = batch.filter(_equal(batch["status"], "perturbed"))
            parts.append(_keys(perturbed))
        for batch in _key_batches(folder / VERDICTS, "outcome", "reason", "model"):
            names = batch["model"].to_numpy(zero_copy_only=False)
            keys = _keys(batch).whole
            for model in set(names.tolist()):
                rows[model].append(keys[names == model])
            for group, number in _groups(batch):
                counts[group.pop("model")][RowCounts(**group)] += number
    # The reader of single rows reports what is wrong.
    except (RunError, ArrowException, LookupError, TypeError, ValueError):
        return None
    if not parts:
        return None
    variants = np.concatenate([part.variant for part in parts])
    expected = np.sort(np.concatenate([part.whole for part in parts]))
    right = len(variants) and len(np.unique(variants)) == len(variants)
    same = all(
        arrays and np.array_equal(np.sort(np.concatenate(arrays)), expected) for arrays in rows.values()
    )
    return counts if right and same else None


class _Keys(NamedTuple):
    """Hashes of rows: of the columns of `VARIANT`, and of those with the ones of `FIXED` and the draw."""

    variant: "np.ndarray[Any, Any]"
    whole: "np.ndarray[Any, Any]"


def _key_batches(path: Table, *columns: str) -> "Iterator[pa.RecordBatch]":
    """Rows of a table with the columns that are compared.

    Raises:
        RunError: the table cannot be read.
        LookupError: it lacks a column.
    """
    with open_parquet(path) as file:
        names = [*VARIANT, *FIXED, "draw", *columns]
        if sorted(set(names) & set(file.schema_arrow.names)) != sorted(names):
            raise LookupError
        yield from file.iter_batches(batch_size=BATCH, columns=names)


def _equal(column: "pa.Array", value: str) -> "pa.Array":
    from pyarrow import compute

    return compute.fill_null(compute.equal(column, value), False)


def _keys(batch: "pa.RecordBatch") -> _Keys:
    """The keys of rows.

    Raises:
        ValueError: a value is empty, or of another type than the column's.
    """
    import numpy as np

    total = np.zeros(batch.num_rows, dtype=np.uint64)
    for name in VARIANT:
        total = total * FACTOR + _hashes(batch[name], name)
    variant = total.copy()
    for name in FIXED:
        total = total * FACTOR + _hashes(batch[name], name)
    extra = _equal(batch["draw"], MOVABLE)
    if batch["draw"].null_count + extra.true_count != batch.num_rows:
        raise ValueError("an unknown draw")
    return _Keys(variant, total * FACTOR + extra.to_numpy(zero_copy_only=False).astype(np.uint64))


def _hashes(column: "pa.Array", name: str) -> "np.ndarray[Any, Any]":
    """A hash for each value; equal for equal ones."""
    import numpy as np
    from pyarrow import types

    fits = types.is_int64 if VERDICT_COLUMNS[name] == "int64" else types.is_string
    if column.null_count or not fits(column.type):
        raise ValueError(f"no {name}")
    if types.is_int64(column.type):
        hashes: np.ndarray[Any, Any] = column.to_numpy().astype(np.uint64)
        return hashes
    encoded = column.dictionary_encode()
    # The hashes of Python, because they are keyed: nobody can choose texts of one hash.
    values = np.array(list(map(hash, encoded.dictionary.to_pylist())), dtype=np.int64)
    chosen: np.ndarray[Any, Any] = values.astype(np.uint64)[encoded.indices.to_numpy()]
    return chosen


def _groups(batch: "pa.RecordBatch") -> Iterator[tuple[dict[str, Any], int]]:
    """How often each model, kind, transform, outcome and draw occurs.

    Raises:
        ValueError: one has a value that it cannot have.
    """
    for row, number in counted_groups(batch, ("model", "kind", "transform", "outcome", "reason", "draw")):
        extra, outcome = is_extra(row), _outcome(row)
        del row["draw"], row["reason"]
        if row["kind"] not in WORDS["kind"] or row["outcome"] not in WORDS["outcome"]:
            raise ValueError("an unknown word")
        yield {**row, "outcome": outcome, "extra": extra}, number


def _outcome(row: Mapping[str, Any]) -> str:
    """The outcome as it is counted: a repeat that was not asked is not unjudged."""
    return NOT_REPEATED if row["reason"] == NOT_REPEATED else str(row["outcome"])


def _key_text(key: Iterable[object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(VARIANT, key, strict=True))


def check_signature(folder: Path, manifest: Manifest, key: bytes) -> None:
    """Check that a manifest was signed with this key.

    Raises:
        RunError: it has no signature, or that of another key or of another content.
    """
    digest = manifest.get(SIGNATURE)
    if not isinstance(digest, str):
        raise RunError(
            f"the run at {str(folder)!r} has no signature; run the audit again with --sign-key: "
            f"{repeated(folder)} --sign-key FILE"
        )
    if not is_signature(digest, _content(manifest), key):
        raise RunError(
            f"the signature of {str(folder / MANIFEST)!r} does not fit this key: the run was edited, or "
            "signed with another key"
        )


def allow_explanations(folder: RunFolder, text: str) -> None:
    """Bind explanations that are about to be written."""
    manifest = folder.manifest()
    # Runs of the first schema have no hashes at all.
    if DIGEST not in manifest:
        return
    path = folder.path / EXPLANATIONS
    # The file is replaced after the manifest. A process that is killed between the two leaves the file of
    # before, which must stay valid.
    before = [_bound_hash(path)] if path.exists() else []
    after = _content_hash(text.encode(), path.suffix)
    folder.write_manifest({**manifest, EXPLAINED: [after, *before]})


def repeated(folder: Path) -> str:
    """The command that makes the run in a folder again."""
    place = shlex.quote(str(folder))
    return f"codeaudit run --config {place} --out {place}"


def _explained(manifest: Manifest) -> list[Any]:
    hashes = manifest.get(EXPLAINED)
    return hashes if isinstance(hashes, list) else []


def _foreign(folder: Path, name: str) -> RunError:
    what = "is not the file that this run wrote: edited, cut or of another run"
    return RunError(f"{str(folder / name)!r} {what}; {restored(folder)}")


def restored(folder: Path) -> str:
    """What to do about a run folder that was changed."""
    return f"restore the folder, or run the audit again: {repeated(folder)}"


def _content(manifest: Manifest) -> bytes:
    """The bytes that digest and signature are computed from."""
    inside = {name: value for name, value in manifest.items() if name not in OUTSIDE}
    return json.dumps(inside, sort_keys=True).encode()


def signature(content: bytes, key: bytes) -> str:
    """The keyed digest of a content: HMAC-SHA-256 in hexadecimal digits."""
    return hmac.new(key, content, hashlib.sha256).hexdigest()


def is_signature(text: str, content: bytes, key: bytes) -> bool:
    """Whether a text is the keyed digest of a content, compared in constant time."""
    # Compared as bytes, because `compare_digest` takes no text beyond ASCII.
    return hmac.compare_digest(text.encode("utf-8", "replace"), signature(content, key).encode())


def _bound_hash(path: Path) -> str:
    """The hash that binds a file: of its content if it is JSON, otherwise of its bytes.

    Raises:
        RunError: it cannot be read.
    """
    hashed_file = hashed(path)
    content = _content_hash(hashed_file.file.read_bytes(), path.suffix) if path.suffix in JSON else None
    return content or hashed_file.sha256
