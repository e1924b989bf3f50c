"""The example languages: installed like plug-ins, used by commands, and proved by their own compilers."""

import importlib
import json
import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.records import Move
from tests.support.commands import ROOT, codeaudit
from tests.support.plugins import install

grammar = pytest.importorskip("tree_sitter_go", reason="reads Go")

GO = ROOT / "examples" / "languages" / "go"
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="compiles Go")


@dataclass
class GoPackage:
    """The modules of the plug-in, in this process."""

    record: Any
    reading: Any
    scopes: Any

    def transform(self, name: str) -> Any:
        module, _, attribute = self.record.GO.transforms[name].target.partition(":")
        return getattr(importlib.import_module(module), attribute)

    def rewritten(self, name: str, source: str) -> str:
        """The text after all moves of a transform, or the reason to refuse them."""
        transform = self.transform(name)
        moves = transform.propose(source, Random(0))
        if isinstance(moves, Refused):
            return moves.reason
        rewritten = transform.apply(source, moves)
        return str(rewritten.reason if isinstance(rewritten, Refused) else rewritten.source)

    def renamed(self, source: str, old: str, new: str) -> str:
        """The text after one renaming, or the reason to refuse it."""
        transform = self.transform("rename-parameters")
        names = transform.names(source)
        if isinstance(names, Refused):  # no parameter
            transform = self.transform("rename")
            names = transform.names(source)
        numbers = [number for number, name in names.current.items() if name == old]
        moves = tuple(Move(kind="rename", site=number, value=new, note="") for number in numbers[:1])
        rewritten = transform.apply(source, moves)
        return str(rewritten.reason if isinstance(rewritten, Refused) else rewritten.source)


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> GoPackage:
    monkeypatch.syspath_prepend(str(GO))
    names = ("", ".reading", ".scopes")
    return GoPackage(*(importlib.import_module(f"codeaudit_go{name}") for name in names))


# ── what keeps its name, and what does not ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "new"),
    [
        # `:=` declares only what its own block does not have.
        ("x, err := g()\n\ty, err := g()\n\tuse(x, y, err)", {"err": 3, "x": 2, "y": 2}),
        ("x := 1\n\tif x := x + 1; x > 1 {\n\t\tx++\n\t}\n\tuse(x)", {"x": 3}),
        ("switch x := any(1).(type) {\n\tcase int:\n\t\tuse(x)\n\tdefault:\n\t\tx, y := g()\n\t\tuse(x, y)\n\t}",
         {"x": 4, "y": 2}),
        ("x := 1\n\tf := func(y int) int { x++; return x + y }\n\tuse(f(x))", {"x": 4, "y": 2, "f": 2}),
        ("x := 1\nx:\n\tfor {\n\t\tbreak x\n\t}\n\tuse(x)", {"x": 2}),
        ("for x := range []int{1} {\n\t\tx := x\n\t\tuse(x)\n\t}", {"x": 2}),
        ("x := 1\n\t_ = map[int]int{x: x}\n\tuse(T{f: x}.x)", {"x": 4}),
        ("select {\n\tcase x, ok := <-c:\n\t\tuse(x, ok)\n\tcase c <- 1:\n\t}", {"x": 2, "ok": 2}),
        ("const (\n\t\tx = iota\n\t\ty\n\t)\n\tuse(x, y)", {"x": 2, "y": 2}),
        ("x := func(y int) {}\n\tvar f func(x int)\n\tf = x", {"x": 2, "y": 1, "f": 2}),
    ],
)  # fmt: skip
def test_a_name_is_renamed_wherever_it_is_the_variable(go: GoPackage, body: str, new: dict[str, int]) -> None:
    source = f"func f() {{\n\t{body}\n}}\n"
    for name, count in new.items():
        text = go.renamed(source, name, "fresh")
        assert text.count("fresh") == count, text


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("func f() {\n\tx := 1\n\tuse(T{x: 2}, x)\n}\n", "key may be a field"),
        ("func f() {\n\tx := 1\n\tuse([]T{{x: 2}}, x)\n}\n", "key may be a field"),
        ("func f() {\n\ttype x int\n\tuse(x(1))\n}\n", "no local to rename"),
        ("func f() {\n\ttrue := 1\n\tuse(true)\n}\n", "predeclared name"),
        ("func f[K any](k K) K { return k }\n", "no local to rename"),
        ("func f() {\n\t_ = g()\n}\n", "no local to rename"),
        ("func f(x int) (y int) { return x }\n", "no local to rename"),
    ],
)
def test_other_names_stay(go: GoPackage, source: str, reason: str) -> None:
    assert go.rewritten("rename", source) == reason


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("func f() {\n\tx, y := g()\n\tuse(x, y)\n}\n", "x", "y"),
        ("func f(x int) {\n\tuse(x)\n\tlog()\n}\n", "x", "log"),
        ("func f(x, err int) {\n\tx, z := g()\n\tuse(x, z)\n}\n", "z", "err"),  # would assign the parameter
        ("func f(p *T) {\n\tvar s fmt.Stringer = p\n\tuse(s)\n}\n", "p", "fmt"),
        ("func f(x int) {\n\tuse(T{n: x})\n}\n", "x", "n"),  # the key may be a variable
        ("func f(x int) {\n\tvar v T = g(x)\n\tuse(v)\n}\n", "x", "T"),  # types and variables share names
        ("func f(x int) {\n\tuse(x)\n}\n", "x", "func"),
    ],
)
def test_a_name_that_is_in_use_is_refused(go: GoPackage, source: str, old: str, new: str) -> None:
    assert go.renamed(source, old, new) == "name collision"


# ── rewritings ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("invert-if", "if x := g(); x < 1 {\n\t\ta()\n\t} else {\n\t\tb()\n\t}",
         "if x := g(); !(x < 1) {\n\t\tb()\n\t} else {\n\t\ta()\n\t}"),
        ("invert-if", "if len(s) < n {\n\t\ta()\n\t} else if c {\n\t\tb()\n\t}",
         "if len(s) >= n { if c {\n\t\tb()\n\t} } else {\n\t\ta()\n\t}"),
        ("flip-comparisons", "use(a < b, f() > 1)", "use(b > a, 1 < f())"),
        ("flip-comparisons", "use(-a>b)", "use(b<(-a))"),  # `b<-a` would send
        ("swap-operands", "use(f() == nil)", "use(nil == f())"),
        ("literal-bases", "use(255, 0x10)", "use(0xff, 16)"),
        ("split-strings", r'use("\xe4\u00e4")', r'use("\xe4" + "\u00e4")'),
        ("de-morgan", "use(!(a && b == c))", "use(!a || b != c)"),
        ("remove-parentheses", "use((a * b) + c)", "use(a * b + c)"),
        ("insert-parentheses", "use(1 + a*b)", "use(((1) + ((a)*(b))))"),
    ],
)  # fmt: skip
def test_a_rewriting(go: GoPackage, name: str, before: str, after: str) -> None:
    assert go.rewritten(name, f"func f() {{\n\t{before}\n}}\n") == f"func f() {{\n\t{after}\n}}\n"


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("flip-comparisons", "use(f() < g())", "order of evaluation could be seen"),
        ("flip-comparisons", "use(a[i] < *p)", "order of evaluation could be seen"),
        ("flip-comparisons", "use(1 < <-c)", "order of evaluation could be seen"),
        ("flip-comparisons", "use(a/b < c%d)", "order of evaluation could be seen"),
        ("swap-operands", "use(a + b)", "operands of unknown type"),
        ("negate-comparisons", "use(a < b)", "operands may be unordered"),
        ("negate-comparisons", "len := g\n\tuse(len(a) < b)", "operands may be unordered"),
        ("literal-bases", "use(0b11, 017)", "octal number"),
        ("insert-parentheses", "use(g())", "no expression"),  # g may give two values
        ("split-strings", 'type t struct{ n int "json" }', "no string"),
        (
            "remove-parentheses",
            "use(a && (b == T{1}))\n\tif (b == T{1}) && a {\n\t}",
            "result does not parse",
        ),
        ("remove-parentheses", "return (\n\t\ta + b)", "syntax tree would change"),
    ],
)
def test_a_refusal(go: GoPackage, name: str, body: str, reason: str) -> None:
    assert go.rewritten(name, f"func f() {{\n\t{body}\n}}\n") == reason


@pytest.mark.parametrize(
    "text", ["func f() {\n\tg(a\n\t)\n}\n", "func f()\n{\n}\n", "func f() { x := }\n", "\0"]
)
def test_what_is_no_go(go: GoPackage, text: str) -> None:
    """The parser reads the first two; Go ends a statement at the end of such a line."""
    with pytest.raises(SourceError):
        go.reading.read(text)


def test_a_file_shows_what_it_declares(go: GoPackage) -> None:
    assert go.reading.shown_in("package p\n\nfunc len() int { return 1 }\n") == {"predeclared-meant": 3}
    assert go.reading.shown_in("package p\n\ntype T struct{ len int }\n\nfunc f(len T) {}\n") == {}
    assert go.reading.function_context("package p\n\nfunc f() {}\n\nvar x = 1\n").before == "package p\n\n"
    assert go.reading.name_of("func (t *T) Sum() {}\n") == "Sum"


def test_the_page_tells_how_long_it_is(go: GoPackage) -> None:
    page = (ROOT / "docs" / "inside-a-language.md").read_text("utf-8")
    for path in (GO / "codeaudit_go").glob("*.py"):
        count = sum(bool(line.strip()) for line in path.read_text("utf-8").splitlines())
        assert f"| `{path.name}` | {count} |" in page
    kinds = [entry.kind for entry in go.record.GO.transforms.values()]
    assert (kinds.count("preserving"), kinds.count("control")) == (26, 6)


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────

PROGRAM = """\
package main

import "fmt"

type pair struct{ x, y int }

type shape interface{ Area() int }

func (p pair) Area() int { return p.x * p.y }

type stack[E any] struct{ items []E }

func (s *stack[E]) Push(item E) int {
	size := len(s.items)
	s.items = append(s.items, item)
	if size < 2 {
		return size
	} else {
		if size < 3 {
			size++
		}
	}

	return size + 10
}

func Map[K comparable, V any](keys []K, f func(K) V) (out []V, err error) {
	for i, key := range keys {
		if v := f(key); i > 100 {
			err = fmt.Errorf("too many: %v", v)
			return
		} else {
			out = append(out, v)
		}
	}
	return
}

func describe(value any) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("failed: ", r)
		}
	}()
	switch v := value.(type) {
	case int, float64:
		text = fmt.Sprint("number ", v)
	case string:
		if len(v) > 3 && v != "long\\x21" || v == "" {
			text = "long " + "text " + v
		} else if !(v == "ab" || v == "abc") {
			text = "other"
		} else {
			text = "short \\u00e4\\xff"
		}
	case shape:
		text = fmt.Sprint(v.Area(), v)
	default:
		p := value.(*pair)
		p.x = 255
	}
	return
}

func search(grid [][]int, want int) (row, col int) {
	const missing = -1
	row, col = missing, missing
outer:
	for i := 0; i < len(grid); i++ {
		for j, cell := range grid[i] {
			if cell == want {
				row, col = i, j
				break outer
			} else if cell < 0 {
				continue outer
			} else {
				goto next
			}
		next:
		}
	}
	counts := map[int]int{row: 0x10, 7: (col + 1) * 2}
	fmt.Println(
		counts[row],
		counts[7],
	)
	return row, col
}

func totals(values ...float64) (int, float64) {
	true := 0
	sum, n := 0.0, 0
	for _, value := range values {
		if value < 1e6 && (value >= 0 || value != value) {
			sum += (value * 2) + 1
			true++
		}
		n, extra := n+1, 3
		_ = n + extra
	}
	adders := []func() int{}
	for i := 0; i < 3; i++ {
		i := i
		adders = append(adders, func() int { n += i; return n & 6 | i })
	}
	for _, add := range adders {
		true += add()
	}
	return true, sum
}

func main() {
	s := &stack[string]{}
	for _, word := range []string{"a", "b", "c", "d"} {
		fmt.Println(s.Push(word))
	}
	fmt.Println(Map([]int{1, 2, 3}, func(n int) string { return fmt.Sprint(n * 2) }))
	for _, value := range []any{1, 2.5, "", "ab", "xyz", "long!", "longer", pair{x: 3, y: 4}, nil} {
		fmt.Println(describe(value))
	}
	fmt.Println(search([][]int{{1, 2}, {-1, 3}, {4, 5}}, 5))
	fmt.Println(search([][]int{{1, 2}}, 9))
	fmt.Println(totals(1, -2, 3.5, 1e7))
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((GO / "pyproject.toml").read_text("utf-8"))
    (package,) = project["tool"]["setuptools"]["packages"]
    (folder / package).mkdir()
    modules = {f"{package}/{path.stem}": path.read_text("utf-8") for path in (GO / package).glob("*.py")}
    return install(folder, project["project"]["name"], project["project"]["entry-points"], modules)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "main.go").write_text(PROGRAM, "utf-8")
    return tmp_path


def run(site: Path, folder: Path, *words: str) -> str:
    """What a command prints that has to succeed, with the language installed."""
    packages = Path(str(grammar.__file__)).parents[1]
    path = os.pathsep.join([str(ROOT), str(site), str(packages)])
    done = codeaudit(*words, cwd=folder, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_the_files_of_a_project_are_rewritten(site: Path, folder: Path) -> None:
    run(site, folder, "transform", "code", "--transform", "rename", "--out", "new")
    text = (folder / "new" / "main.go").read_text("utf-8")
    assert text != PROGRAM
    assert text.count("\n") == PROGRAM.count("\n")
    assert "type pair struct{ x, y int }" in text
    assert "missing" not in text


@pytest.mark.weekly
def test_go_is_audited_like_others(site: Path, folder: Path) -> None:
    words = ("--corpus", "code/main.go", "--model", "fake/hash", "--out", "out", "--workers", "1")
    summary = json.loads(run(site, folder, "run", *words, "--format", "json"))
    applied = {row["transform"]: row["applied"] for row in summary["models"][0]["by_transform"]}
    assert applied["rename"] >= 4
    assert applied["invert-if"] >= 4
    rows = read_rows(folder / "out" / "suite.parquet")
    words_of_labels = {word for row in rows for word in json.loads(row["label"])}
    assert {"push", "describe", "search", "totals"} <= words_of_labels
    assert run(site, folder, "explain", "out", "--model", "fake/hash")
    listed = run(site, folder, "list", "transforms", "--verbose")
    assert "if c {a} else {b} as if !c {b} else {a}" in listed


def outputs(folder: Path, *names: str) -> dict[str, str]:
    """What the Go programs in these folders print. They are compiled together, which saves most of the time."""
    (folder / "go.mod").write_text("module m\n\ngo 1.18\n", "utf-8")
    (folder / "bin").mkdir()
    words = ["go", "build", "-o", "bin/", *(f"./{name}" for name in names)]
    built = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    printed = {}
    for name in names:
        # Any bytes: a text of the program is not UTF-8.
        done = subprocess.run([folder / "bin" / name], capture_output=True, encoding="latin-1", check=True)
        printed[name] = done.stdout
    return printed


@needs_go
@pytest.mark.weekly
def test_programs_do_what_they_did(go: GoPackage, site: Path, folder: Path) -> None:
    """Each transform is compiled and run; so are all of them one after the other."""
    keeping = [name for name, entry in go.record.GO.transforms.items() if entry.kind == "preserving"]
    rows = {**{name: [name] for name in keeping}, "together": keeping}
    for name, chosen in rows.items():
        words = [word for name in chosen for word in ("--transform", name)]
        run(site, folder, "transform", "code", *words, "--out", name)
        assert (folder / name / "main.go").read_text("utf-8") != PROGRAM, name
    printed = outputs(folder, "code", *rows)
    assert len(printed["code"].splitlines()) > 15
    for name in rows:
        assert printed[name] == printed["code"], name


@needs_go
@pytest.mark.weekly
def test_controls_do_something_else(go: GoPackage, site: Path, folder: Path) -> None:
    controls = [name for name, entry in go.record.GO.transforms.items() if entry.kind == "control"]
    for name in controls:
        run(site, folder, "transform", "code", "--transform", name, "--out", name)
    printed = outputs(folder, "code", *controls)
    assert len(printed) > 4
    for name in controls:
        assert printed[name] != printed["code"], name
