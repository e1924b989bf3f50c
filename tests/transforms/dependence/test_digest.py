from pathlib import Path

from codeaudit.transforms import remembering
from codeaudit.transforms.remembering import analysis_digest

TRANSFORMS = Path(remembering.__file__).parent
DECIDING = ("dependence", "syntax", "x86", "python", "java", "javascript", "c")


def test_other_code_of_any_analysis_gives_another_digest(tmp_path: Path) -> None:
    """A text may have other dependences then: remembered answers and graphs are of the old ones."""
    digests = {analysis_digest()}
    for number, part in enumerate(DECIDING):
        assert list((TRANSFORMS / part).glob("*.py"))
        folder = tmp_path / str(number)
        (folder / part / "analysis").mkdir(parents=True)
        (folder / part / "effects.py").write_text("x = 1")
        digests.add(analysis_digest(folder))
    assert len(digests) == len(DECIDING) + 1
    (folder / part / "analysis" / "types.py").write_text("x = 1")
    analysis_digest.cache_clear()
    assert analysis_digest(folder) not in digests


def test_code_that_decides_no_dependence_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "java" / "analysis").mkdir(parents=True)
    before = analysis_digest(tmp_path)
    (tmp_path / "java" / "layout").mkdir()
    (tmp_path / "java" / "layout" / "spaces.py").write_text("x = 1")
    analysis_digest.cache_clear()
    assert analysis_digest(tmp_path) == before
