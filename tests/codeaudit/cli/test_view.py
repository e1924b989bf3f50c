"""`codeaudit view` renders a run and opens the page."""

import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.cli import view as views
from codeaudit.cli.main import main
from codeaudit.finished_runs import write_file
from codeaudit.transforms.errors import RunError


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("view")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("a.py").write_text("def total(first, second):\n    both = first + second\n    return both\n")
        words = "run --model fake/hash --corpus a.py --transform rename --out done"
        assert main(words.split()) == 0
        yield place


@pytest.fixture
def opened(here: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.chdir(here)

    def remember(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", remember)
    return addresses


def test_the_page_is_opened_and_its_path_is_printed(
    opened: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "done"]) == 0
    page = here / "done/report.html"
    assert opened == [page.as_uri()]
    assert capsys.readouterr().out == f"{page}\n"
    assert "<title>" in page.read_text("utf-8")
    # The page is no part of the run: it stays whole.
    assert main(["gate", "done", "--max-violation-rate", "100%", "--allow-insensitive"]) == 0
    capsys.readouterr()


def test_without_a_browser_the_path_alone_is_printed(
    opened: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "done", "--no-browser", "--out", "page.html"]) == 0
    assert opened == []
    assert capsys.readouterr().out == f"{here / 'page.html'}\n"
    assert Path("page.html").exists()


def test_where_no_browser_starts_that_is_told(
    opened: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert main(["view", "done"]) == 0
    assert "no browser could be started" in capsys.readouterr().err


def test_a_run_folder_that_cannot_be_written_is_no_obstacle(
    opened: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, text: str) -> None:
        if path.parent.name == "done":
            raise RunError("read-only")
        write_file(path, text)

    monkeypatch.setattr(views, "write_file", refuse)
    assert main(["view", "done"]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert "<title>" in page.read_text("utf-8")
    assert opened == [page.as_uri()]
