"""The documentation site: what is generated, what the pages name, and the build."""

import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import click
import pytest

from codeaudit.audit.corpora.native import DATA_SETS
from codeaudit.audit.registry import TASKS
from codeaudit.audit.store import (
    ANSWER_COLUMNS,
    ANSWERS,
    ATTACK_COLUMNS,
    ATTACKS,
    BASELINE_COLUMNS,
    SUITE,
    SUITE_COLUMNS,
    VERDICT_COLUMNS,
    VERDICTS,
)
from codeaudit.cli.main import COMMANDS, cli
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.registry import ENTRIES
from tests.support.commands import ROOT, environment
from tests.support.pages import PAGES, blocks

SITE = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def generated() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_generated", SITE / "generated.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def commands() -> dict[str, set[str]]:
    """The options of each command, with those of the commands of its group."""
    above = click.Context(cli, **cli.context_settings)
    by_name: dict[str, set[str]] = {}
    for name in COMMANDS:
        command = cli.get_command(above, name)
        assert command is not None
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        params = [param for each in (command, *inner) for param in each.params]
        options = [option for param in params for option in (*param.opts, *param.secondary_opts)]
        by_name[name] = {"--help", "-h", *(option for option in options if option.startswith("-"))}
    return by_name


def test_the_overview_names_every_transform(generated: ModuleType) -> None:
    text = generated.filled((ROOT / "docs" / "transforms.md").read_text("utf-8"))
    assert [name for name in ENTRIES if f"`{name}`" not in text] == []
    assert "<!-- generated" not in text


def test_the_readme_is_short_and_covers_what_there_is(generated: ModuleType) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 200
    order = ("python", "java", "javascript", "typescript", "c", "cpp", "x86", "algebra")
    assert sorted(order) == sorted(LANGUAGES.built_in)
    counts = [
        tuple(sum(entry.kind == kind for entry in LANGUAGES.get(name).transforms.values())
              for kind in ("preserving", "control"))
        for name in order
    ]  # fmt: skip
    counted = re.findall(r"\((\d+)[a-z ]*(?:,| and) (\d+)(?: controls)?\)", text)
    assert [(int(keeping), int(changing)) for keeping, changing in counted] == counts
    rows = {row[1]: row[2] for row in re.finditer(r"^\| (\w+) \| (.*) \|$", text, re.MULTILINE)}
    assert [name for name in TASKS.built_in if name.replace("-", " ") not in rows["tasks"]] == []
    assert f" {len(DATA_SETS)} kinds are read in their own columns" in rows["data"]


MARKED = [page for page in PAGES if "<!-- generated: " in (ROOT / page).read_text("utf-8")]
CATALOGUES = ("docs/reference/python.md", "docs/reference/java.md", "docs/reference/commands.md")
"""Pages that take seconds to fill. What is generated stands in them."""
LINKED = tuple(
    path.relative_to(ROOT)
    for pattern in ("benchmarks/**/*.md", ".github/*.md", ".changes/*.md", "CONTRIBUTING.md", "CHANGELOG.md")
    for path in sorted(ROOT.glob(pattern))
)
"""Pages with links, and without commands that are carried out."""


@pytest.mark.parametrize("page", [page for page in MARKED if str(page) not in CATALOGUES], ids=str)
def test_every_mark_is_filled(generated: ModuleType, page: Path) -> None:
    """A heading of the measurements that a page names may be renamed: then its mark finds nothing."""
    text = (ROOT / page).read_text("utf-8")
    filled = generated.filled(text)
    assert "<!-- generated" not in filled
    assert "<!-- /generated" not in filled
    assert "The site has" not in filled


@pytest.mark.parametrize("page", MARKED, ids=str)
def test_what_a_page_of_the_repository_shows_is_not_stale(generated: ModuleType, page: Path) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert text == generated.written(text), "write it again: python docs/site/generated.py"


@pytest.mark.thinned(92)
@pytest.mark.parametrize("page", [*PAGES, *LINKED], ids=str)
def test_every_link_leads_to_a_heading_of_a_file(generated: ModuleType, page: Path) -> None:
    """Also those of a section that another page takes over: that page may lie in another folder."""
    for file, heading in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)", _prose(generated, page)):
        folder = ROOT if file.startswith("/") else ROOT / page.parent
        target = (folder / (file.removeprefix("/") or page.name)).resolve()
        assert target.exists(), file
        if heading:
            assert heading in _anchors(_prose(generated, target.relative_to(ROOT))), f"{file}#{heading}"


@cache
def _prose(generated: ModuleType, page: Path) -> str:
    text = (ROOT / page).read_text("utf-8")
    return _outside_blocks(text if str(page) in CATALOGUES else generated.filled(text))


def _outside_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def _anchors(text: str) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def test_the_repository_shows_what_the_site_shows(generated: ModuleType) -> None:
    shown = 0
    for page in MARKED:
        text = (ROOT / page).read_text("utf-8")
        assert "The site has" not in text
        for mark in generated.MARK.finditer(text):
            below = mark[0].partition("\n")[2]
            assert below.endswith("\n<!-- /generated -->"), f"{page}: {mark[0]}"
            assert below.count("\n") > 4, f"{page}: {mark[0]}"
            shown += 1
    assert shown >= 20


def test_a_mark_that_names_nothing_is_an_error(generated: ModuleType) -> None:
    with pytest.raises(KeyError, match="nonsense"):
        generated.filled("<!-- generated: nonsense -->")


@pytest.mark.thinned(1)
@pytest.mark.parametrize("language", ["algebra", "x86", "java", "python"])
def test_the_catalogue_shows_an_example_of_each_transform(generated: ModuleType, language: str) -> None:
    text = generated.filled((ROOT / "docs" / "reference" / f"{language}.md").read_text("utf-8"))
    entries = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    assert len(entries) == sum(
        len(family.transforms) for family in generated.LANGUAGES.get(language).families
    )
    for entry in entries:
        name, _, rest = entry.partition("\n")
        assert re.search(r"^[+-]", rest.partition("```diff")[2], re.MULTILINE), name


def test_the_reference_shows_every_option(generated: ModuleType, commands: dict[str, set[str]]) -> None:
    text = generated.filled((ROOT / "docs" / "reference" / "commands.md").read_text("utf-8"))
    sections = dict(
        re.findall(r"^## codeaudit (\w+)\n(.*?)(?=^## codeaudit \w+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    )
    assert sections.keys() == commands.keys()
    for name, options in commands.items():
        shown = set(re.findall(r"--[\w-]+", sections[name]))
        assert {option for option in options if option.startswith("--")} <= shown, name


def test_every_command_in_a_block_exists(commands: dict[str, set[str]]) -> None:
    named = [
        (str(block), name)
        for block in blocks()
        if block.language in ("bash", "console", "sh", "yaml")
        for name in re.findall(r"(?<![\w./-])codeaudit ([a-z]+)\b(?![:.])", block.text)
    ]
    assert [pair for pair in named if pair[1] not in commands] == []


@pytest.mark.thinned(26)
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_option_that_a_page_names_exists(page: Path, commands: dict[str, set[str]]) -> None:
    # The measurements name options of their own programs, which `tests/benchmarks` runs.
    measured = r"<!-- generated: measured .*?<!-- /generated -->"
    text = re.sub(measured, "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL)
    known = set().union(*commands.values())
    in_text = re.findall(r"(?<=`)--[a-z][\w-]*(?![\w…-])", _outside_blocks(text))
    assert [option for option in in_text if option not in known | OF_OTHERS] == []
    for line in re.sub(r" \\\n\s*", " ", text).splitlines():
        for name, words in re.findall(r"codeaudit (\w+)((?: [^`|;&#>]*)?)", line):
            if name in commands:
                options = {option.partition("=")[0] for option in re.findall(r"(?<= )--[a-z][\w-]*", words)}
                assert options <= commands[name] | OF_OTHERS, line


def test_the_page_of_files_shows_their_columns() -> None:
    text = (ROOT / "docs" / "reference" / "files.md").read_text("utf-8")
    tables = {
        SUITE: SUITE_COLUMNS,
        VERDICTS: VERDICT_COLUMNS,
        ANSWERS: ANSWER_COLUMNS,
        ATTACKS: ATTACK_COLUMNS,
    }
    for title, columns in {**tables, "The baseline file": BASELINE_COLUMNS}.items():
        section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        assert dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)) == dict(columns), title


OF_OTHERS = frozenset({"--more", "--tsv"})
"""Options of benchmarks and plug-ins that a page names."""


@pytest.mark.weekly
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(needed)
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-c", str(SITE)]
    done = subprocess.run(
        [*words, str(ROOT), str(tmp_path)], env=environment(), capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "docs" / "reference" / "api.html").read_text("utf-8")
    assert 'id="codeaudit.run"' in page
