"""Reports appear as a whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from codeaudit.finished_runs import write_file
from codeaudit.transforms.errors import RunError


@pytest.mark.parametrize("before", [None, "an earlier report"])
def test_a_full_disk_leaves_no_partial_file(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.html"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    write = Path.write_bytes

    def full(place: Path, data: bytes) -> int:
        write(place, data[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RunError, match="No space left"):
        write_file(path, "a whole report")
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == before
    assert [each.name for each in tmp_path.iterdir()] == ([] if before is None else ["a.html"])


def test_links_and_devices_stay(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_text("old", encoding="utf-8")
    (tmp_path / "real.html").chmod(0o640)
    (tmp_path / "link.html").symlink_to("real.html")
    write_file(tmp_path / "link.html", "new \ud800")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text(encoding="utf-8") == "new \\ud800"
    assert (tmp_path / "real.html").stat().st_mode & 0o777 == 0o640
    write_file(Path("/dev/null"), "nothing")
    assert Path("/dev/null").is_char_device()
