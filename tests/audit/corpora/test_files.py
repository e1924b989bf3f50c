"""`run` and `transform` read files by one function: whatever bytes a file holds, it is read or counted."""

import encodings.aliases
from pathlib import Path

import pytest

from codeaudit.audit.corpora.files import SourceFiles
from codeaudit.audit.corpora.records import LeftOut
from codeaudit.audit.projects.files import ProjectPlan, perturb_files, source_files

FUNCTION = (
    "def total(values):\n    found = 0\n    for value in values:\n        found += value\n    return found\n"
)
CODECS = sorted({*encodings.aliases.aliases.values(), "idna", "undefined", "unicode_escape", "nonsense"})
"""Every codec of this Python: of texts, of bytes (`hex`), of strings (`rot13`), and none."""
DAMAGED = {
    **{f"cookie {name}": f"# coding: {name}\n{FUNCTION}".encode() for name in CODECS},
    **{
        f"cookie {name}, other bytes": f"# coding: {name}\nx = ".encode() + b"'\xff\xfe\x80'\n"
        for name in CODECS
    },
    "half a pair": b"# coding: unicode_escape\nx = '\\ud800'\n",
    "null": FUNCTION.encode() + b"\0",
    "not UTF-8": b"x = '\xff'\n",
    "UTF-16 with a mark": FUNCTION.encode("utf-16"),
    "UTF-16": FUNCTION.encode("utf-16-le"),
    "UTF-16, the other way": FUNCTION.encode("utf-16-be"),
    "UTF-32": FUNCTION.encode("utf-32-le"),
    "two cookies": b"# coding: latin-1\n# coding: utf-8\nx = '\xe9'\n",
    "mark and another cookie": b"\xef\xbb\xbf# coding: latin-1\nx = 1\n",
    "empty": b"",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every fault, and one good file that is read after all others."""
    for number, data in enumerate(DAMAGED.values()):
        (tmp_path / f"f{number:03}.py").write_bytes(data)
        (tmp_path / f"J{number:03}.java").write_bytes(data)
    (tmp_path / "z.py").write_text(FUNCTION.replace("total", "last"), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_no_encoding_ends_a_folder_and_both_readers_agree(folder: Path) -> None:
    left_out = LeftOut()
    samples = list(SourceFiles(spec=str(folder), roots=(folder,), base=folder).read(left_out))
    assert samples[-1].label == "last"
    assert left_out.total() == len(left_out.files)  # each fault is one file
    read = {sample.origin.path for sample in samples}
    assert not read & left_out.files.keys()

    plan = ProjectPlan(transforms=("identity",), seed=0)
    by_path = {file.path: file for file in perturb_files(folder, source_files(folder), plan, workers=1)}
    assert by_path.keys() >= left_out.files.keys()
    for path, file in by_path.items():
        assert file.after == file.before
        # Only `transform` has to write a file back.
        if file.unread not in ("encoding cannot be written back", "not in the file's encoding"):
            reason = file.unread if not file.unread.startswith("not valid ") else "source does not parse"
            assert reason == left_out.files.get(path, ""), path


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("cookie rot_13", "unknown encoding"),
        ("cookie hex_codec", "unknown encoding"),
        ("cookie nonsense", "unknown encoding"),
        ("cookie undefined", "not in its encoding, undefined"),
        ("half a pair", "not in its encoding, unicode_escape"),
        ("null", "null bytes"),
        ("UTF-16", "UTF-16 or UTF-32, not UTF-8"),
        ("UTF-16, the other way", "UTF-16 or UTF-32, not UTF-8"),
        ("UTF-16 with a mark", "UTF-16 or UTF-32, not UTF-8"),
        ("UTF-32", "UTF-16 or UTF-32, not UTF-8"),
    ],
)
def test_the_reason_is_told(tmp_path: Path, fault: str, reason: str) -> None:
    (tmp_path / "f.py").write_bytes(DAMAGED[fault])
    left_out = LeftOut()
    assert not list(SourceFiles(spec="", roots=(tmp_path,), base=tmp_path).read(left_out))
    assert left_out == {reason: 1}
