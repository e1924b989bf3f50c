"""A file whose hash was taken is read as it was then, or not at all."""

import io
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from codeaudit.audit.bound_files import BLOCK, BoundFolder, hashed
from codeaudit.transforms.errors import RunError

CONTENT = bytes(number % 251 for number in range(3 * BLOCK + 100))


def rewritten(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def exchanged(path: Path, content: bytes) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(content)
    other.replace(path)


def test_it_reads_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    bound = hashed(path).file
    assert bound.read_bytes() == CONTENT
    with bound.open() as file, path.open("rb") as plain:
        for offset, whence, count in [
            (5, 0, 10),
            (-7, 2, 20),
            (BLOCK - 3, 0, BLOCK + 9),
            (-20, 1, 4),
            (9**9, 0, 1),
        ]:
            assert file.seek(offset, whence) == plain.seek(offset, whence)
            assert file.read(count) == plain.read(count)
            assert file.tell() == plain.tell()
        file.seek(0)
        assert list(file) == list(io.BytesIO(CONTENT))


@pytest.mark.parametrize("how", [rewritten, exchanged])
@pytest.mark.parametrize(
    "other",
    [b"", CONTENT[:-1], CONTENT + b"x", b"x" + CONTENT[1:], CONTENT[:-1] + b"x", CONTENT[: 2 * BLOCK]],
)
def test_no_byte_of_another_content_is_read(
    how: Callable[[Path, bytes], None], other: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    bound = hashed(path).file
    how(path, other)
    # What was added at the end is not read at all.
    added = other.startswith(CONTENT)
    read = b""
    fails = pytest.raises(RunError, match="was changed while it was read")
    with nullcontext() if added else fails, bound.open() as file:
        while part := file.read(1000):
            read += part
    assert CONTENT.startswith(read)
    assert (read == CONTENT) == added


def test_a_change_while_a_file_is_open(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    with hashed(path).file.open() as file:
        assert file.read(10) == CONTENT[:10]
        rewritten(path, CONTENT[:BLOCK] + b"x" * (2 * BLOCK + 100))
        with pytest.raises(RunError):
            file.read()


def test_a_file_that_appears_later_is_absent(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"1")
    folder = BoundFolder(tmp_path, {}, {"one": hashed(tmp_path / "one").file})
    (tmp_path / "two").write_bytes(b"2")
    assert (folder / "one").exists()
    assert not (folder / "two").exists()
    with pytest.raises(FileNotFoundError):
        (folder / "two").open()
