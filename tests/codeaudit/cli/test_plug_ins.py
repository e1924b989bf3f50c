"""What an installed package or the user's own project adds to the command line: languages, transforms, formats."""

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.support.commands import codeaudit, environment
from tests.support.plugins import install

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugins" / "language"

SECTIONS = "".join(
    f"[section{number}]\nitem = thing{number}\ncount = {number}\ncolour = red\n\n" for number in range(40)
)

OWN = '''
from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.records import Move

class Remark:
    """A comment at the end."""
    name, kind, unit, languages = "remark", "preserving", "module", frozenset({"python"})
    def propose(self, source, rng):
        return (Move(kind="remark", site=0, value=f"# {rng.randrange(100)}", note="a comment"),)
    def apply(self, source, moves):
        return Rewritten(source=source + "".join(f"\\n{move.value}" for move in moves), evidence="analysis")

def answers(queries):
    return [str(sum(map(ord, query.source)) % 9) + "abc" for query in queries]

class Nothing:
    name = "nothing"
'''

FUNCTIONS = "".join(f"def f{number}(a):\n    b = a + {number}\n    return b\n\n\n" for number in range(40))

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages, with the example."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    module = (EXAMPLE / "codeaudit_ini.py").read_text("utf-8")
    folder = tmp_path / "site"
    install(folder, project["name"], project["entry-points"], {"codeaudit_ini": module})
    return install(
        folder, "remarks", {"codeaudit.transforms": {"add-remark": "remarks:Remark"}}, {"remarks": OWN}
    )


@pytest.fixture
def call(tmp_path: Path, site: Path) -> Call:
    """Runs the command line in a project folder, as a user does."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "own.py").write_text(OWN, "utf-8")
    (folder / "a.ini").write_text(SECTIONS, "utf-8")
    (folder / "src").mkdir()
    (folder / "src" / "m.py").write_text(FUNCTIONS, "utf-8")
    path = os.pathsep.join([str(site), environment()["PYTHONPATH"]])
    return partial(codeaudit, cwd=folder, PYTHONPATH=path)


def summary(call: Call, *words: str) -> dict[str, dict[str, object]]:
    done = call("run", "--limit", "0", "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    (model,) = json.loads(done.stdout)["models"]
    return {row["transform"]: row for row in model["by_transform"]}


@pytest.mark.slow
def test_a_language_is_audited_like_others(call: Call) -> None:
    listed = call("list", "transforms")
    assert listed.returncode == 0
    assert "order: the order of keys\n  reorder " in listed.stdout
    assert "plug-ins: transforms of installed packages\n  add-remark " in listed.stdout
    assert "+port = 80" in call("list", "transforms", "--verbose").stdout
    rows = summary(call, "--corpus", "a.ini", "--model", "py/own:answers", "--workers", "2", "--out", "r")
    assert rows.keys() == {"identity", "reorder"}
    assert rows["reorder"]["pairs"]["total"] > 30
    done = call("explain", "r", "--model", "py/own:answers")
    assert done.returncode == 0, done.stderr
    canonical = summary(call, "--corpus", "a.ini", "--model", "canonical/py/own:answers", "--out", "c",
                        "--transform", "order", "--no-controls")  # fmt: skip
    assert canonical["reorder"]["pairs"]["count"] == 0


@pytest.mark.slow
def test_a_transform_of_the_project_needs_no_package(call: Call) -> None:
    name = "py/own:Remark"
    rows = summary(call, "--corpus", "src", "--model", "py/own:answers", "--transform", name,
                   "--workers", "2", "--out", "r")  # fmt: skip
    assert rows[name]["pairs"]["total"] == 160
    typed = ("--model", "py/own:answers", "--transform", name)
    assert call("explain", "r", *typed).returncode == 0
    again = call("run", "--config", "r", "--out", "again", "--format", "json", *typed)
    assert again.returncode == 0, again.stderr
    copied = call("transform", "src", "--transform", name, "--out", "copy", "--workers", "1")
    assert copied.returncode == 0, copied.stderr
    assert "1 of 1 file changed" in copied.stderr
    refused = call("run", "--corpus", "src", "--model", "py/own:answers", "--transform", "py/own:Nothing")
    assert refused.returncode == 3
    assert "transform 'py/own:Nothing': a Nothing is no transform: it lacks " in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_broken_plug_in_stops_only_what_uses_it(call: Call, site: Path) -> None:
    install(site, "broken", {
        "codeaudit.transforms": {"bad": "no_such_module:X", "rename": "remarks:Remark"},
        "codeaudit.tasks": {"bad-task": "codeaudit_ini:INI"},
        "codeaudit.languages": {"bad-language": "no_such_module:X"},
        "codeaudit.formats": {"bad-format": "no_such_module:X"},
    }, {})  # fmt: skip
    listed = call("list")
    assert listed.returncode == 0
    errors = listed.stderr.splitlines()
    broken = "of 'broken' is broken: cannot import 'no_such_module'"
    assert [line.partition(broken)[0] for line in errors if broken in line] == [
        "codeaudit: plug-in 'bad-language' (codeaudit.languages) ",
        "codeaudit: plug-in 'bad' (codeaudit.transforms) ",
    ]
    assert any("'bad-task' (codeaudit.tasks)" in line and "is no task" in line for line in errors)
    note = "codeaudit: plug-in 'rename' (codeaudit.transforms) of 'broken' has no effect: the built-in one"
    assert sum(line.startswith(note) for line in errors) == 1
    done = call("run", "--corpus", "src", "--model", "fake/hash", "--transform", "rename", "--limit", "3")
    assert done.returncode == 0, done.stderr
    done = call("run", "--corpus", "src", "--model", "fake/hash", "--transform", "bad", "--limit", "3")
    assert done.returncode == 3
    assert broken in done.stderr.splitlines()[-1]


GROUPS = {
    "transforms": "no_such_module:X",
    "tasks": "no_such_module:X",
    "models": "failing:X",
    "corpora": "failing:X",
    "languages": "failing:X",
    "formats": "failing:X",
}
FAILING = 'raise ValueError("two\\nlines")\n'


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.thinned(1)
def test_a_list_shows_all_that_works_and_a_line_for_each_broken_plug_in(
    call: Call, site: Path, kind: str
) -> None:
    whole = call("list", kind)
    points = {f"codeaudit.{kind}": {"aaa": GROUPS[kind], "twice": "remarks:Remark"}}
    install(site, "broken", points, {"failing": FAILING})
    install(site, "other", {f"codeaudit.{kind}": {"twice": "remarks:Remark"}}, {})
    for words in ((), ("--format", "json")):
        listed = call("list", kind, *words)
        assert listed.returncode == 0
        assert len(listed.stderr.splitlines()) == 2, listed.stderr
        assert f"codeaudit: plug-in 'aaa' (codeaudit.{kind}) of 'broken' is broken: " in listed.stderr
        assert "'twice'" in listed.stderr
        if not words:
            assert listed.stdout == whole.stdout


@pytest.mark.slow
def test_a_broken_language_says_nothing_where_it_is_not_needed(call: Call, site: Path) -> None:
    install(site, "broken", {"codeaudit.languages": {"bad": "failing:X"}}, {"failing": FAILING})
    done = call("transform", "src", "--transform", "rename", "--diff")
    assert (done.returncode, "plug-in" in done.stderr) == (0, False)
    (site.parent / "project" / "a.bad").write_text("x", "utf-8")
    done = call("run", "--corpus", "a.bad", "--model", "fake/hash")
    assert done.returncode == 3
    note, error = done.stderr.splitlines()
    assert "of 'broken' is broken: cannot import 'failing': ValueError: two lines" in note
    assert "no known format" in error


@pytest.mark.slow
def test_a_broken_reader_stops_only_its_language(call: Call, site: Path) -> None:
    points = {"codeaudit.language_audits": {"ini": "failing:X"}}
    install(site, "broken", points, {"failing": FAILING})
    done = call("run", "--corpus", "src", "--model", "fake/hash", "--transform", "rename", "--limit", "3")
    assert done.returncode == 0, done.stderr
    done = call("run", "--corpus", "a.ini", "--model", "fake/hash")
    assert done.returncode == 3
    assert "plug-in 'ini' (codeaudit.language_audits)" in done.stderr


@pytest.mark.slow
def test_run_and_compare_print_in_a_format_of_a_package(call: Call, site: Path) -> None:
    text = "def render(report, console):\n    console.print(type(report).__name__)\n"
    points = {"codeaudit.formats": {"kind-only": "kinds:render", "bad": "no_such_module:X"}}
    install(site, "kinds", points, {"kinds": text})
    words = ("--corpus", "src", "--transform", "rename", "--limit", "3", "--model", "fake/hash")
    done = call("run", *words, "--out", "r", "--format", "kind-only")
    assert (done.returncode, done.stdout) == (0, "Summary\n"), done.stderr
    assert call("run", *words[:-1], "fake/constant", "--out", "again").returncode == 0
    done = call("compare", "r", "again", "--format", "kind-only")
    assert (done.returncode, done.stdout) == (0, "Comparison\n"), done.stderr
    done = call("run", *words, "--out", "s", "--format", "bad")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert not (site.parent / "project" / "s").exists()


@pytest.mark.slow
def test_a_codemod_on_files_names_the_options_it_needs(call: Call) -> None:
    name = "codemod/libcst.codemod.commands.convert_format_to_fstring:ConvertFormatStringCommand"
    done = call("transform", "src", "--transform", name, "--diff")
    assert done.returncode == 0
    assert "give --suite FILE --execute" in done.stderr


@pytest.mark.slow
def test_two_packages_with_one_name_are_named(call: Call, site: Path) -> None:
    install(site, "other", {"codeaudit.transforms": {"add-remark": "remarks:Remark"}}, {})
    done = call("transform", "src", "--transform", "add-remark", "--diff")
    assert done.returncode == 2
    assert "is in 'other' and 'remarks'; uninstall all but one" in done.stderr
