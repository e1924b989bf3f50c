"""Sealed folders: back bit for bit, wrong keys and damage told, nothing left half done, no torch needed."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from codeaudit.transforms.columns import SEAL, keys
from codeaudit.transforms.columns.keys import HEAD, Key
from codeaudit.transforms.columns.layout import Fixed, Layout, Member, Product
from codeaudit.transforms.columns.sealing import (
    SCHEMES,
    Scheme,
    Seal,
    TensorFile,
    left_behind,
    seal,
    unseal,
)
from codeaudit.transforms.errors import CannotAudit, ModelError
from tests.support.commands import environment

LAYOUT = Layout(
    sizes=(8, 6),
    tensors={
        "in": (Member(1, 6), Member(0, 8)),
        "out": (Member(0, 8), Product((Fixed(2), Member(1, 6)))),
        "embedding": (Fixed(5), Member(0, 8)),
    },
)
OUTSIDE = frozenset({"embedding"})
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint in two shards: halves, empty tensors, numbers that are no numbers, and other files."""
    place = tmp_path / "plain"
    place.mkdir()
    rng = np.random.default_rng(0)
    first = {"in": rng.normal(size=(6, 8)).astype(np.float16), "empty": np.zeros((0, 3), dtype=np.float32)}
    first["in"][0, :2] = [np.nan, -0.0]
    second = {
        "out": rng.normal(size=(8, 12)).astype(np.float32),
        "embedding": rng.normal(size=(5, 8)),
        "scale": np.array(3, dtype=np.int64),
    }
    shards = {"model-00001-of-00002.safetensors": first, "model-00002-of-00002.safetensors": second}
    for name, tensors in shards.items():
        save_file(tensors, place / name, metadata={"format": "pt"})  # type: ignore[arg-type]
    index = {name: file for file, tensors in shards.items() for name in tensors}
    (place / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    (place / "config.json").write_text("{}")
    (place / "tokenizer.json").write_text("{}")
    (place / "optimizer.pt").write_bytes(b"the plain weights again")
    return place


def sealed(folder: Path, key: Key, scheme: Scheme = "columns", name: str = "sealed") -> Path:
    out = folder.parent / name
    layout = {"layout": LAYOUT, "outside": OUTSIDE} if scheme == "columns" else {}
    seal(folder, out, key, scheme=scheme, **layout)  # type: ignore[arg-type]
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@each_scheme
def test_the_way_back_is_bit_for_bit(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    place = sealed(folder, key, scheme)
    unseal(place, folder.parent / "back", key)
    wanted = contents(folder)
    del wanted["optimizer.pt"]
    assert contents(folder.parent / "back") == wanted
    changed = {name for name, data in contents(place).items() if wanted.get(name) != data}
    assert changed == {SEAL, *(name for name in wanted if name.endswith(".safetensors"))}


def test_columns_move_the_inside_and_leave_the_outside(folder: Path) -> None:
    place = sealed(folder, Key.new())
    shard = "model-00002-of-00002.safetensors"
    before, after = load_file(folder / shard), load_file(place / shard)
    assert np.array_equal(before["embedding"], after["embedding"])
    assert np.array_equal(before["scale"], after["scale"])
    assert not np.array_equal(before["out"], after["out"])
    assert np.array_equal(np.sort(before["out"], axis=None), np.sort(after["out"], axis=None))


def test_a_cipher_leaves_no_number_and_keeps_names_and_shapes(folder: Path) -> None:
    place = sealed(folder, Key.new(), "cipher")
    shard = "model-00002-of-00002.safetensors"
    before, after = load_file(folder / shard), load_file(place / shard)
    assert {name: tensor.shape for name, tensor in before.items()} == {
        name: tensor.shape for name, tensor in after.items()
    }
    same = np.count_nonzero(before["out"].view(np.uint8) == after["out"].view(np.uint8))
    assert same < 12, "about one byte in 256 agrees by chance, of 384"


@each_scheme
def test_a_wrong_key_is_told_before_anything_is_written(folder: Path, scheme: Scheme) -> None:
    place = sealed(folder, Key.new(), scheme)
    with pytest.raises(ModelError, match="not the key"):
        unseal(place, folder.parent / "back", Key.new())
    assert sorted(path.name for path in folder.parent.iterdir()) == ["plain", "sealed"]


@each_scheme
def test_a_damaged_file_is_told_and_nothing_is_left(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    place = sealed(folder, key, scheme)
    path = place / "model-00002-of-00002.safetensors"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match="not as it was sealed"):
        unseal(place, folder.parent / "back", key)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["plain", "sealed"]


def test_a_file_that_ends_early_is_damaged(folder: Path) -> None:
    key = Key.new()
    place = sealed(folder, key)
    path = place / "model-00001-of-00002.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match="not as it was sealed"):
        unseal(place, folder.parent / "back", key)


@each_scheme
def test_two_sealings_under_one_key_have_nothing_in_common(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    one, other = sealed(folder, key, scheme, "one"), sealed(folder, key, scheme, "other")
    shard = "model-00001-of-00002.safetensors"
    assert (one / shard).read_bytes() != (other / shard).read_bytes()
    assert Seal.read(one).check != Seal.read(other).check


def test_a_seal_tells_nothing_of_the_key(folder: Path) -> None:
    key = Key.new()
    text = (sealed(folder, key) / SEAL).read_text()
    assert key.secret.hex() not in text
    assert "secret" not in repr(key)
    assert key.secret.hex() not in repr(key) + repr(key.under(b"salt"))


def test_state_of_training_and_other_formats_stay_behind(folder: Path) -> None:
    assert left_behind(folder) == ["optimizer.pt"]
    assert "optimizer.pt" not in contents(sealed(folder, Key.new()))


def test_what_is_sealed_is_not_sealed_again(folder: Path) -> None:
    key = Key.new()
    with pytest.raises(ModelError, match="sealed already"):
        seal(sealed(folder, key), folder.parent / "twice", key, scheme="cipher")


def test_a_folder_with_files_is_not_overwritten(folder: Path) -> None:
    out = folder.parent / "out"
    out.mkdir()
    sealed(folder, Key.new(), name="out")
    before = contents(out)
    with pytest.raises(CannotAudit, match="not an empty folder"):
        sealed(folder, Key.new(), name="out")
    assert contents(out) == before


def test_a_plain_folder_is_no_sealed_one(folder: Path) -> None:
    with pytest.raises(ModelError, match="no sealed checkpoint"):
        unseal(folder, folder.parent / "back", Key.new())


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 3},
        {"scheme": "rot13"},
        {"salt": "xyz"},
        {"layout": {"groups": [8, 6], "tensors": {"in": [7]}}},
        {"box": "xyz"},
        {"box": []},
    ],
)
def test_a_seal_of_another_version_is_refused_in_one_line(folder: Path, change: dict[str, object]) -> None:
    key = Key.new()
    place = sealed(folder, key)
    fields = json.loads((place / SEAL).read_text())
    (place / SEAL).write_text(json.dumps(fields | change) + "\n")
    with pytest.raises(ModelError, match="cannot be used") as caught:
        unseal(place, folder.parent / "back", key)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["../plain/config.json", "gone.safetensors"])
def test_an_index_names_files_of_its_folder_only(folder: Path, name: str) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"in": name}}))
    with pytest.raises(ModelError, match="which its index lists"):
        sealed(folder, Key.new())


def test_a_key_is_written_for_its_owner_only_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "key"
    before = os.umask(0)
    try:
        Key.new().write(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Key.read(path) == Key.read(path)
    with pytest.raises(ModelError, match="cannot write the key"):
        Key.new().write(path)


@pytest.mark.parametrize("text", ["", "secret", HEAD, HEAD + "ab", HEAD + "g" * 64, "ü", "0" * 64])
def test_what_is_no_key_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"no key|not text"):
        Key.read(path)


def test_a_key_gives_what_it_always_gave() -> None:
    """Seals of earlier versions have to open: the derivation is fixed."""
    salted = Key(bytes(range(32))).under(b"salt")
    assert [permutation.tolist() for permutation in salted.permutations((5, 3))] == PERMUTATIONS
    encrypted, tags = salted.encrypted(np.zeros(4, dtype=np.uint8), "a")
    assert (encrypted.tobytes() + tags).hex() == ENCRYPTED
    assert salted.closed(b"", b"").hex() == BOX
    assert salted.check.startswith(CHECK)


OLD = Path(__file__).parent / "old_seals"
"""A small checkpoint, and what the version with schema 1 made of it."""


@each_scheme
def test_seals_of_schema_1_open(tmp_path: Path, scheme: Scheme) -> None:
    unseal(OLD / scheme, tmp_path / "back", Key(bytes(range(32))))
    assert contents(tmp_path / "back") == contents(OLD / "plain")
    with pytest.raises(ModelError, match="not the key"):
        unseal(OLD / scheme, tmp_path / "never", Key(bytes(32)))


@each_scheme
def test_damaged_weights_of_schema_1_are_told(tmp_path: Path, scheme: Scheme) -> None:
    shutil.copytree(OLD / scheme, tmp_path / "sealed")
    flip(tmp_path / "sealed" / "model-00002-of-00002.safetensors", -3, 0)
    with pytest.raises(ModelError, match="not as it was sealed"):
        unseal(tmp_path / "sealed", tmp_path / "back", Key(bytes(range(32))))


@each_scheme
def test_a_seal_is_not_taken_for_one_of_schema_1(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    place = sealed(folder, key, scheme)
    fields = json.loads((place / SEAL).read_text())
    (place / SEAL).write_text(json.dumps(fields | {"schema": 1, "tags": {}}) + "\n")
    with pytest.raises(ModelError, match="not the key"):
        unseal(place, folder.parent / "back", key)


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────


def flip(path: Path, byte: int, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[byte] ^= 1 << bit
    path.write_bytes(data)


def told(place: Path, key: Key) -> str:
    """The message of `unseal`, which wrote nothing."""
    parent = place.parent
    before = sorted(parent.iterdir())
    with pytest.raises(ModelError) as caught:
        unseal(place, parent / "back", key)
    assert sorted(parent.iterdir()) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


@each_scheme
def test_every_flipped_bit_of_every_file_is_told(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    place = sealed(folder, key, scheme)
    rng = np.random.default_rng(1)
    for path in sorted(place.iterdir()):
        data = path.read_bytes()
        for byte in sorted({*rng.integers(0, len(data), 100 if path.name == SEAL else 10).tolist()}):
            flip(path, byte, int(rng.integers(8)))
            assert told(place, key), (path.name, byte)
            path.write_bytes(data)
    unseal(place, folder.parent / "back", key)


@pytest.mark.weekly
@each_scheme
def test_every_byte_of_a_seal_counts(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    path = sealed(folder, key, scheme) / SEAL
    data = path.read_bytes()
    for byte in range(len(data)):
        for bit in (0, 5):  # the other letter, and a small letter's capital
            flip(path, byte, bit)
            assert told(path.parent, key), (byte, bit)
            path.write_bytes(data)


def _capitals(place: Path) -> None:
    """Other texts of a seal with the same meaning."""
    fields = json.loads((place / SEAL).read_text())
    fields["box"] = fields["box"].upper()
    (place / SEAL).write_text(json.dumps(fields) + "\n")


def _pipe(place: Path) -> None:
    (place / "config.json").unlink()
    os.mkfifo(place / "config.json")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file less": lambda place: (place / "tokenizer.json").unlink(),
    "a shard less": lambda place: (place / "model-00001-of-00002.safetensors").unlink(),
    "the index less": lambda place: (place / "model.safetensors.index.json").unlink(),
    "a file more": lambda place: (place / "special_tokens_map.json").write_text("{}"),
    "a hidden file more": lambda place: (place / ".x").write_text(""),
    "weights more": lambda place: (place / "model.safetensors").write_bytes(b""),
    "code more": lambda place: (place / "modeling_x.py").write_text(""),
    "a folder more": lambda place: (place / "x").mkdir(),
    "a file renamed": lambda place: (place / "tokenizer.json").rename(place / "tokens.json"),
    "a pipe": _pipe,
    "two files exchanged": lambda place: [
        (place / "a").write_bytes((place / "model-00001-of-00002.safetensors").read_bytes()),
        (place / "model-00002-of-00002.safetensors").replace(place / "model-00001-of-00002.safetensors"),
        (place / "a").replace(place / "model-00002-of-00002.safetensors"),
    ],
    "a byte more": lambda place: (place / "config.json").write_text("{} "),
    "nothing left of a file": lambda place: (place / "config.json").write_text(""),
    "the seal in capitals": _capitals,
    "the seal with a blank more": lambda place: (place / SEAL).write_text((place / SEAL).read_text() + " "),
}


@each_scheme
@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_with_other_files_is_told(folder: Path, scheme: Scheme, change: str) -> None:
    key = Key.new()
    place = sealed(folder, key, scheme)
    CHANGES[change](place)
    assert told(place, key)


@each_scheme
def test_files_of_another_sealing_under_the_same_key_are_told(folder: Path, scheme: Scheme) -> None:
    key = Key.new()
    one, other = sealed(folder, key, scheme, "one"), sealed(folder, key, scheme, "other")
    shard = "model-00002-of-00002.safetensors"
    (one / shard).write_bytes((other / shard).read_bytes())
    assert shard in told(one, key)
    (other / SEAL).write_bytes((one / SEAL).read_bytes())
    assert told(other, key)


def test_large_tensors_are_encrypted_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "CHUNK", 1000)
    salted = Key.new().under(b"salt")
    data = np.random.default_rng(0).integers(0, 256, 3500, dtype=np.uint8)
    made, tags = salted.encrypted(data, "a")
    assert len(tags) == 4 * keys.TAG
    assert np.array_equal(salted.decrypted(made, "a", tags), data)
    exchanged = np.concatenate([made[1000:2000], made[:1000], made[2000:]])
    others = tags[keys.TAG : 2 * keys.TAG] + tags[: keys.TAG] + tags[2 * keys.TAG :]
    for bad, beside, name in (
        (exchanged, others, "a"),
        (made, tags[:-1], "a"),
        (made, tags, "b"),
        (made, b"", "a"),
    ):
        with pytest.raises(keys.DamagedError):
            salted.decrypted(bad, name, beside)


def test_permutations_are_uniform() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for number in range(3000):
        order = tuple(Key(number.to_bytes(32, "big")).under(b"").permutations((3,))[0].tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert max(abs(count - 500) for count in counts.values()) < 100, "five standard deviations"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 8,
        (99).to_bytes(8, "little") + b"{}",
        (2**60).to_bytes(8, "little"),
        (2).to_bytes(8, "little") + b"[]",
    ],
)
def test_what_is_no_safetensors_file_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(ModelError, match="no safetensors file"):
        TensorFile.read(path)


def test_the_schemes_are_those_of_the_type() -> None:
    assert get_args(Scheme) == SCHEMES


def test_sealing_needs_no_torch() -> None:
    program = "import sys, codeaudit.transforms.columns.sealing; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


PERMUTATIONS = [[3, 1, 4, 2, 0], [0, 2, 1]]
ENCRYPTED = "23f5f85c9a9121639d30babef64b3af19541f93b"
BOX = "8fc66df80c2f0a9a50928e258c4a50e7"
CHECK = "6fea249cf7e4fb53"
