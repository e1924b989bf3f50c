"""The page: what it says, that nothing from a run is obeyed, and how it behaves in a real browser."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from codeaudit.audit.records import Answer, Audited, Predicted, Violated
from codeaudit.reports import wording
from codeaudit.reports.compare import compare
from codeaudit.reports.records import ModelHeader, RunHeader, Summary
from codeaudit.reports.render.html.charts import Chart, charts, items
from codeaudit.reports.render.html.document import (
    BUDGET,
    LARGE,
    Browser,
    Drawing,
    Page,
    browser,
    html,
    packed,
)
from codeaudit.reports.sheets import Sheet, sheets
from codeaudit.reports.summarise import summarise, with_attacks
from codeaudit.transforms.records import Move, Origin, Perturbed, Sample
from tests.reports.test_attacks import FOUND
from tests.reports.test_compare import MODELS, run
from tests.support.audited import Error, Subtokens, audited
from tests.support.audited import sample as small
from tests.support.chromium import PROGRAM, Chromium

PWNED = "</script><script>document.title='pwned'</script>"
IMAGE = "<img src=x onerror=\"document.title='pwned'\">"
CONTROLS = "\x00\x1b[31mred\x1b[0m\u202eevil\u2066\ud800\u2028<b>'\"&amp;"
HOSTILE = PWNED + IMAGE + CONTROLS
LINE = 1_000_000


def sample(name: str, source: str, *, path: str = "pkg/a.py", label: Answer | None = ("get",)) -> Sample:
    return Sample(id=name, language="python", source=source, label=label, origin=Origin(path=path, line=7))  # type: ignore[arg-type]


def violated(
    of: Sample,
    source: str,
    *,
    model: str = "vanilla",
    transform: str = "rename",
    variant: int = 0,
    before: Answer = ("get",),
    after: Answer = ("set",),
    note: str = "x -> y",
    moves: int = 1,
) -> Audited:
    """One sample with one violation."""
    perturbed = Perturbed(
        sample=of,
        transform=transform,
        kind="preserving",
        variant=variant,
        source=source,
        moves=tuple(Move(kind="rename", site=n, value="y", note=note) for n in range(moves)),
        evidence="analysis",
    )
    verdict = Violated(
        perturbed=perturbed,
        before=Predicted(answer=before, scores=(("get", 0.75), ("set", 0.25))),
        after=Predicted(answer=after),
        deviation=0.5,
    )
    return Audited(
        model=model,
        sample=of,
        before=verdict.before,
        score=1.0,
        verdicts=(verdict,),
        after_scores=(0.0,),
        not_applied=(),
    )


def undrawn(of: Sample) -> None:
    return None


def drawn(of: Sample) -> Drawing:
    return Drawing(
        lines=("def f(x):", "a = x", f"b = x  # {of.id}"), after=((), (0,), (0,)), layers=(0, 1, 1)
    )


def unpacked(code: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(code)))
    return data


@cache
def full() -> Summary:
    """Several trials and models that differ, with attacks and statistics."""
    made = run("r", {**MODELS, "worse": ("3", 0.9)}, seeds=range(3))
    return replace(with_attacks(made.summary, FOUND), statistics=compare([made]))


def page(summary: Summary, browsed: Browser | None = None) -> Page:
    return Page(summary=summary, browser=browsed or Browser(), about={"command": "codeaudit run"})


def hostile() -> Page:
    """A run in which every text is hostile."""
    of = sample(f"id{HOSTILE}", f"def f():\n    '''{HOSTILE}'''\n", path=f"javascript:alert(1)//{HOSTILE}")
    of = replace(of, label=HOSTILE)
    made = violated(
        of,
        f"def g():\n    '''{HOSTILE}'''\n",
        model=f"m{HOSTILE}",
        transform=f"t{HOSTILE}",
        before=HOSTILE,
        after=f"not {HOSTILE}",
        note=HOSTILE,
    )
    counted = audited(
        "m",
        replace(of, label=("a",)),
        before=("a",),
        after={f"t{HOSTILE}": [("b",)]},
        missing={"u": (HOSTILE, 2)},
    )
    header = RunHeader(
        task=f"task{HOSTILE}",
        corpus=f"corpus{HOSTILE}",
        seed=0,
        models=(ModelHeader(name="m", parameters=None, fingerprint=HOSTILE, noise=0.0),),
        skipped={HOSTILE: 3},
    )
    summary = summarise([(0, [counted])], task=Subtokens(), header=header)
    summary = replace(summary, models=(replace(summary.models[0], model=f"m{HOSTILE}"),))
    drawing = Drawing(lines=(HOSTILE, HOSTILE), after=((), (0,)), layers=(0, 1))
    browsed = browser([(0, made)], [], lambda _: drawing)
    ratios = {f"m{HOSTILE}": [1.0, 1.5]}
    return Page(summary=summary, browser=browsed, about={HOSTILE: HOSTILE}, predictions=ratios)


class Reader(HTMLParser):
    """The tags, attributes, scripts, texts and tables of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "br":
            self.tables[-1][-1][-1] += "\n"
        if tag not in ("meta", "br", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.replace("\u00a0%", " %"))
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data


def cells(sheet: Sheet) -> list[list[str]]:
    heads = [[column.head for column in sheet.columns]] if sheet.columns else []
    return heads + [["\n".join(cell.lines) for cell in row] for row in sheet.rows]


def test_no_line_of_a_sentence_ends_before_a_sign_of_percent() -> None:
    text = items(["changed 1/7 (14.3 %, 2.6–51.3) of %d"])
    assert text == "<li>changed 1/7 (14.3\u00a0%, 2.6–51.3) of %d</li>"


def test_every_table_is_on_the_page_cell_by_cell() -> None:
    summary = full()
    read = Reader(html(page(summary)))
    text = "".join(read.texts)
    for sheet in (*sheets(summary), *sheets(summary.statistics)):
        assert cells(sheet) in read.tables
        assert all(line in text for line in (sheet.title, *sheet.notes, *sheet.legend))


def test_links_of_the_page_and_names_of_its_figures_exist_once() -> None:
    read = Reader(html(page(full(), browser([(0, violated(sample("a", "a\n"), "b\n"))], [], drawn))))
    assert len(read.ids) == len(set(read.ids))
    for name, value in read.attributes:
        if name == "href":
            assert value.startswith("#")
            assert value[1:] in read.ids
        if name in ("aria-labelledby", "aria-describedby"):
            assert value in read.ids


def test_nothing_of_a_run_is_markup() -> None:
    text = html(hostile())
    read, benign = Reader(text), Reader(html(page(full(), browser([], [], undrawn))))
    assert set(read.tags) <= set(benign.tags) | {"article", "form", "noscript"} | {
        *("label", "input", "select", "option", "button", "span", "p", "g", "polygon", "rect")
    }
    assert read.tags.count("script") == 2
    assert read.tags.count("img") == 0
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("style", "src")]
    assert all(value.startswith("#") for name, value in read.attributes if name == "href")
    shown = "".join(read.texts)
    assert shown.count(wording.plain(PWNED)) > 5
    assert not set("\x00\x1b\u202e\u2066\u2028\ud800") & set(text)
    text.encode("utf-8")


def test_only_the_style_and_the_script_of_the_page_may_run() -> None:
    text = html(page(full()))
    (policy,) = [value for _, value in Reader(text).attributes if value.startswith("default-src")]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    for name, content in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", style + script)


def test_the_data_come_back() -> None:
    a, b = sample("a", f"x = 1\n{HOSTILE}\n"), sample("b", "y = 1\n", label=None)
    made = [
        violated(a, "z = 1\n", model="one"),
        violated(a, "z = 1\n", model="two"),
        violated(b, "w = 1\n", model="one", before=1.0, after=1.25, moves=3),
    ]
    why = {
        "model": "one",
        "seed": 5,
        "sample": "b",
        "transform": "rename",
        "variant": 0,
        "perturbed": "v\n",
        "moves": [{"note": "y -> v"}],
        "moves_before": 3,
        "smallest": True,
        "queries": 4,
        "after": ["q"],
    }
    data = unpacked(packed(browser([(5, each) for each in made], [why], drawn)))
    first, second, third = data["rows"]
    assert (first["model"], first["seed"], first["before"]["answer"], first["after"]["answer"]) == (
        *("one", 5, "1", "1.25"),
    )
    of = data["samples"][first["place"]]
    assert (of["source"], of["texts"][first["text"]], of["texts"][first["least"]["text"]]) == (
        *("y = 1\n", "w = 1\n", "v\n"),
    )
    assert first["least"]["notes"] == ["y -> v"]
    assert (first["least"]["of"], first["least"]["after"], len(first["notes"])) == (3, "q", 3)
    assert "label" not in of
    assert of["graph"]["after"] == [[], [0], [0]]
    of = data["samples"][second["place"]]
    assert (second["model"], third["model"], of["label"]) == ("one", "two", "get")
    assert second["text"] == third["text"]
    assert (of["source"], of["texts"]) == (a.source, ["z = 1\n"])
    assert second["before"]["scores"] == [["get", 0.75], ["set", 0.25]]


def test_a_violation_of_an_unsteady_sample_says_so() -> None:
    records = [
        audited("m", small("a"), after={"rename": [("x",)], "identity": [("x",), ("get", "name")]}),
        audited("m", small("b"), after={"rename": [("x",)], "identity": [("get", "name"), ("get", "name")]}),
    ]
    rows = [
        json.loads(row.text) for row in browser([(0, record) for record in records], [], lambda _: None).rows
    ]
    assert [row.get("repeats", "").partition(":")[0] for row in rows] == ["unsteady", ""]


def test_controls_and_held_answers_are_no_violations() -> None:
    of = sample("a", "x\n")
    made = audited("m", of, before=("a",), after={"rename": [("a",)], "rename-merging": [("b",)]})
    assert browser([(0, made)], [], undrawn).total == 0
    assert "No answer changed" in html(page(full()))


def many(random: Random, samples: int) -> Iterator[tuple[int, Audited]]:
    """A run in which three models change half of their answers to twelve variants of every sample."""
    words = ["".join(random.choices("abcdefghijklmnopqrst", k=random.randint(3, 9))) for _ in range(4000)]
    for number in range(samples):
        names = random.sample(words, 8)
        shape = [random.sample(range(8), 3) for _ in range(16)]

        def written(names: Sequence[str], shape: list[list[int]] = shape) -> str:
            lines = [f"    {names[a]} = {names[b]}.{words[a * b]}({names[c]})" for a, b, c in shape]
            return "\n".join([f"def {names[0]}({names[1]}):", *lines])

        of = sample(f"{number:016x}", written(names), path=f"{random.choice(words)}.py")
        texts = [written(random.sample(words, 8)) for _ in range(12)]
        for model in ("spe-checkpoint", "symc-checkpoint", "vanilla-checkpoint"):
            for variant, text in enumerate(texts):
                if random.random() < 0.5:
                    answers = tuple(random.sample(words, 2)), tuple(random.sample(words, 2))
                    yield (
                        0,
                        violated(of, text, model=model, variant=variant, before=answers[0], after=answers[1]),
                    )


@pytest.mark.weekly
def test_a_thousand_samples_stay_under_three_megabytes_and_it_says_what_is_left_out() -> None:
    browsed = browser(many(Random(0), 1000), [], drawn)
    total = browsed.total
    text = html(page(full(), browsed))
    assert 2_000_000 < len(text.encode()) < 3_000_000
    assert browsed.left_out > 0
    assert browsed.total == total
    assert f"{total:,} answers changed" in text
    assert f"{browsed.left_out:,} of them are in the run folder only" in text
    (code,) = re.findall(r'id="data">([^<]*)<', text)
    data = unpacked(code)
    assert len(data["rows"]) == total - browsed.left_out
    assert {row["model"] for row in data["rows"]} == {f"{m}-checkpoint" for m in ("spe", "symc", "vanilla")}


@pytest.mark.slow
def test_one_giant_does_not_push_the_others_out() -> None:
    noise = Random(0).randbytes(BUDGET // 2).hex()
    giant = violated(sample("giant", noise), f"{noise}!")
    small = [violated(sample(str(n), f"x = {n}\n"), f"y = {n}\n") for n in range(5)]
    browsed = browser([(0, each) for each in (giant, *small)], [], undrawn)
    data = unpacked(packed(browsed))
    assert [each["id"] for each in data["samples"]] == list("01234")
    assert (browsed.left_out, browsed.total) == (1, 6)
    assert len(noise) > LARGE


@pytest.mark.slow
def test_only_what_comes_onto_the_page_is_drawn() -> None:
    """Texts that do not pack: three samples fill the page, and the explained one is the last of twenty."""
    made = [
        (0, violated(sample(f"{n:02}", Random(n).randbytes(9000).hex()), f"{n} {variant}", variant=variant))
        for n in range(400)
        for variant in range(2)
    ]
    why = {
        "model": "vanilla", "seed": 0, "sample": "399", "transform": "rename", "variant": 1, "perturbed": "z",
        "moves": [], "moves_before": 1, "smallest": True, "queries": 1, "after": ["set"],
    }  # fmt: skip
    seen: list[str] = []

    def noted(of: Sample) -> Drawing:
        seen.append(of.id)
        return drawn(of)

    browsed = browser(made, [why], noted)
    data = unpacked(packed(browsed))
    ids = [each["id"] for each in data["samples"]]
    assert 100 < len(ids) < 300
    assert browsed.total == 800
    assert seen[0] == ids[-1] == "399"
    assert ids[:-1] == [f"{n:02}" for n in range(len(ids) - 1)]
    assert set(ids) <= set(seen)
    assert len(seen) < 1.1 * len(ids)
    assert data["rows"][0]["least"]["of"] == 1


def named(made: Sequence[Chart]) -> dict[str, Chart]:
    return {each.name: each for each in made}


def test_charts_have_titles_and_words_with_the_numbers() -> None:
    summary = full()
    by_name = named(charts(summary, {"spe": [1.0, 1.0], "vanilla": [0.25, 1.0, 3.0]}))
    assert {"quality", "by-preserving", "attacks", "predictions"} < set(by_name)
    for each in by_name.values():
        assert f'aria-labelledby="t-{each.name}" aria-describedby="w-{each.name}"' in each.svg
        assert each.title
        assert each.words.endswith(".")
        numbers = [float(n) for n in re.findall(r' (?:x|y|cx|cy|x1|x2|y1|y2)="([^"]+)"', each.svg)]
        assert all(0 <= number <= max(400, each.height) for number in numbers)
    for model in summary.models:
        words = f"{model.model} {wording.value(model.score.original, share=True)} and "
        assert words + wording.percent(model.violations.rate) in by_name["quality"].words
        for row in model.by_transform:
            if row.kind == "preserving":
                share, interval = wording.percent(row.violations.rate), wording.interval(row.violations)
                assert (
                    f"{row.transform}, {model.model} {share} ({interval}; " in by_name["by-preserving"].words
                )
    assert "2 of 3 within 8" in by_name["attacks"].words
    assert "vanilla 3 answers, 1 equal, 0.250 to 3.000" in by_name["predictions"].words
    assert "≤ 0.50" in by_name["predictions"].svg
    assert "≥ 2.00" in by_name["predictions"].svg


def test_areas_tell_the_size_and_an_unknown_size_is_hollow() -> None:
    summary = run("r", {**MODELS, "third": ("3", 0.5)}).summary
    sizes = [4_000_000, 1_000_000, None]
    models = [replace(model, parameters=size) for model, size in zip(summary.models, sizes, strict=True)]
    (svg,) = [
        each.svg for each in charts(replace(summary, models=tuple(models)), {}) if each.name == "quality"
    ]
    circles = re.findall(r'<circle class="c(\d) (\w+)"[^>]* r="([\d.]+)"', svg)
    assert circles == [("0", "blob", "22.0"), ("1", "blob", "11.0"), ("2", "hollow", "4.0")]


def test_names_in_one_place_are_set_apart_or_left_to_the_legend() -> None:
    summary = run("r", MODELS).summary
    for number in (5, 40):
        models = tuple(replace(summary.models[1], model=f"model {n}") for n in range(number))
        svg = named(charts(replace(summary, models=models), {}))["quality"].svg
        heights = sorted(map(float, re.findall(r'class="strong" x="[^"]+" y="([^"]+)"', svg)))
        assert all(b - a >= 13.9 for a, b in pairwise(heights))
        assert min(len(heights), 5) == 5
        assert heights[0] > 26
        assert heights[-1] < 260
    assert re.search(r'text-anchor="middle">100.0<', svg)
    assert "125.0" not in svg


def test_a_model_has_its_colour_in_every_figure() -> None:
    summary = run("r", MODELS).summary
    spe, vanilla = summary.models
    unlabelled = replace(spe, score=replace(spe.score, original=None))
    by_name = named(charts(replace(summary, models=(unlabelled, vanilla)), {"vanilla": [1.0, 2.0]}))
    assert re.findall(r'class="c(\d) hollow"', by_name["quality"].svg) == ["1"]
    assert set(re.findall(r'class="c(\d) blob"', by_name["predictions"].svg)) == {"1"}


def test_no_figure_without_numbers() -> None:
    made = [
        audited(
            "m",
            sample("a", "x\n", label=None),
            before=("a",),
            after={"rename": [("b",)], "rename-merging": [("b",)]},
        )
    ]
    header = RunHeader(
        task="t", corpus="c", seed=0, models=(ModelHeader(name="m", parameters=1, fingerprint="", noise=0.0),)
    )
    unlabelled = summarise([(0, made)], task=Subtokens(), header=header)
    assert set(named(charts(unlabelled, {}))) == {"by-preserving", "by-control"}
    empty = summarise([(0, [])], task=Error(), header=header)
    assert charts(empty, {"m": []}) == []
    text = html(page(empty))
    assert 'href="#figures"' not in text
    assert 'href="#comparison"' not in text
    Reader(text)


def test_errors_are_said_to_be_better_when_lower() -> None:
    of = sample("a", "x\n", label=2.0)
    made = [audited("m", of, before=1.0, after={"rename": [1.5]}, task=Error())]
    header = RunHeader(
        task="throughput",
        corpus="c",
        seed=0,
        models=(ModelHeader(name="m", parameters=1, fingerprint="", noise=0),),
    )
    by_name = named(charts(summarise([(0, made)], task=Error(), header=header), {}))
    assert "MAPE to the right, lower is better" in by_name["quality"].words


def test_a_diagram_of_critical_differences_where_models_are_told_apart() -> None:
    by_name = named(charts(full(), {}))
    (diagram,) = [each for each in by_name.values() if each.name.startswith("cd-shared-violated")]
    assert "spe 1." in diagram.words
    assert (
        diagram.words.endswith("All differ significantly.") or "Not significantly different" in diagram.words
    )
    assert diagram.svg.count('class="lead"') == 3
    same = run("r", {name: (name, 0.3) for name in "abc"})
    equal = replace(same.summary, statistics=compare([same]))
    assert not [name for name in named(charts(equal, {})) if name.startswith("cd-shared-violated")]
    two = run("r", MODELS)
    assert not [
        name
        for name in named(charts(replace(two.summary, statistics=compare([two])), {}))
        if name.startswith("cd-")
    ]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    if PROGRAM is None:
        pytest.skip("no Chromium on PATH")
    browser = Chromium(PROGRAM, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


def numbered(count: int) -> Iterator[tuple[int, Audited]]:
    for n in range(count):
        model, transform = ("one", "two")[n % 2], ("rename", "reorder", "layout")[n % 3]
        body = "".join(f"    line_{n}_{k} = {k}\n" for k in range(20))
        of = sample(f"s{n}", f"def f():\n    total = {n}\n{body}", path=f"pkg/m{n}.py")
        yield (
            0,
            violated(
                of,
                of.source.replace("total", "count"),
                model=model,
                transform=transform,
                moves=n + 1,
                before=float(n),
                after=n + 0.5,
            ),
        )


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with 60 violations, the fourth of them explained."""
    why = {
        "model": "two",
        "seed": 0,
        "sample": "s3",
        "transform": "rename",
        "variant": 0,
        "perturbed": "def f():\n    smallest = 3\n",
        "moves": [{"note": "total -> smallest"}],
        "moves_before": 4,
        "smallest": False,
        "queries": 9,
        "after": 8.5,
    }
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(page(full(), browser(numbered(60), [why], drawn))), encoding="utf-8")
    return path.as_uri()


def listed(chromium: Chromium) -> list[str]:
    texts: list[str] = chromium.read(
        "[...document.querySelectorAll('#list tbody a')].map((a) => a.textContent)"
    )
    return texts


def text_of(chromium: Chromium, selector: str) -> str:
    text: str = chromium.read(f"document.querySelector({selector!r}).innerText")
    return text


def link(name: str) -> str:
    return f"#v={quote(name, safe='')}"


def test_a_hostile_run_runs_nothing_and_asks_nothing(chromium: Chromium, tmp_path: Path) -> None:
    made, path = hostile(), tmp_path / "hostile.html"
    path.write_text(html(made), encoding="utf-8")
    chromium.open(path.as_uri())
    title = chromium.read("document.title")
    chromium.read("document.querySelector('#list tbody a').click()")
    chromium.wait("!document.querySelector('#detail').hidden")
    chromium.read("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert chromium.read("document.querySelectorAll('#detail .diff').length") == 1
    assert chromium.read("document.querySelectorAll('#detail .node').length") == 2
    assert wording.plain(PWNED) in text_of(chromium, "#detail .diff")
    assert chromium.read("document.title") == title == wording.plain(title)
    assert chromium.read("document.querySelectorAll('img, iframe, b, #detail script').length") == 0
    assert chromium.read("[...document.querySelectorAll('a')].every((a) => a.protocol === 'file:')")
    assert not re.search("[\x00\x1b\u202e\u2066\u2028]", chromium.read("document.body.innerText"))
    asked = [each["request"]["url"] for each in chromium.seen("Network.requestWillBeSent")]
    assert [each for each in asked if not each.startswith(path.as_uri())] == []
    assert chromium.seen("Runtime.exceptionThrown") == []
    assert chromium.seen("Page.javascriptDialogOpening") == []
    assert chromium.seen("Log.entryAdded") == []


def test_a_deep_link_opens_a_violation_with_its_diff_and_graph(chromium: Chromium, address: str) -> None:
    chromium.open(address + link("two/0/s57/rename/0"))
    assert text_of(chromium, "#detail h3") == "pkg/m57.py:7, rename, two"
    assert chromium.read("document.activeElement.id") == "detail"
    assert text_of(chromium, ".diff .gone mark") == "total"
    assert text_of(chromium, ".diff .new mark") == "count"
    assert text_of(chromium, ".diff .at.gone") == "2 −"
    assert chromium.read("document.querySelectorAll('.diff tbody tr').length") == 6
    chromium.read("document.querySelector('.fold button').click()")
    assert chromium.read("document.querySelectorAll('.diff tbody tr').length") == 23
    nodes = "[...document.querySelectorAll('.graph .node')].map((node) => node.y.baseVal.value)"
    chromium.read("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    first, second, third = chromium.read(nodes)
    assert first < second == third
    assert chromium.read("document.querySelectorAll('.graph .edge').length") == 2
    assert "pkg/m57.py:7" in listed(chromium)


def test_the_smallest_edit_stands_first(chromium: Chromium, address: str) -> None:
    chromium.open(address + link("two/0/s3/rename/0"))
    text = text_of(chromium, "#detail")
    assert (
        "total -> smallest (1 of 4 moves; none of its moves can be left out; 9 model calls; answer: 8.5)"
        in text
    )
    assert chromium.read("document.querySelectorAll('#detail > details[open]').length") == 0
    assert text_of(chromium, "#list tbody td:last-child") == "1 of 4"
    chromium.open(f"{address}#least=1")
    assert listed(chromium) == ["pkg/m3.py:7"]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("query=line_41_", ["41"]),
        ("query=M41+TWO", ["41"]),
        ("query=m41+one", []),
        ("model=one&transform=reorder&query=m4", ["4", "40", "46"]),
        ("sort=-size&model=one&transform=rename", [str(n) for n in range(54, -1, -6)]),
        ("sort=before&query=m1", ["1", *map(str, range(10, 20))]),
        ("sort=-where&query=m1", [*map(str, range(19, 9, -1)), "1"]),
        ("page=2", [str(n) for n in range(50, 60)]),
    ],
)
def test_the_address_filters_and_sorts(
    chromium: Chromium, address: str, query: str, shown: list[str]
) -> None:
    chromium.open(f"{address}#{query}")
    assert listed(chromium) == [f"pkg/m{n}.py:7" for n in shown]
    assert text_of(chromium, "#count").startswith(
        "60 of" if query.startswith("page") else f"{len(shown)} of 60"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        "v=nobody",
        "sort=__proto__",
        "sort=--size",
        "page=-3",
        "page=1e99",
        "page=x",
        "%E0%A4%A",
        "=",
        "#",
        "v=%00",
    ],
)
def test_a_wrong_link_does_no_harm(chromium: Chromium, address: str, wrong: str) -> None:
    chromium.open(f"{address}#{wrong}")
    assert chromium.seen("Runtime.exceptionThrown") == []
    assert len(listed(chromium)) == (10 if "1e99" in wrong else 50)
    assert ("names a violation that is not on this page" in text_of(chromium, "#violations")) == (
        "v=" in wrong
    )


def test_without_a_mouse(chromium: Chromium, address: str) -> None:
    chromium.open(address)
    chromium.press("Tab")
    assert chromium.read("document.activeElement.className") == "skip"
    chromium.read("document.querySelector('#query').focus()")
    chromium.type("line_1")
    assert chromium.read("location.hash") == "#query=line_1"
    assert text_of(chromium, "#count") == "11 of 60 violations"
    chromium.read("document.querySelector('[data-key=size]').focus()")
    for way in ("ascending", "descending"):
        chromium.press("Enter")
        assert chromium.read("document.activeElement.parentNode.getAttribute('aria-sort')") == way
    assert listed(chromium)[0] == "pkg/m19.py:7"
    chromium.press("Tab")
    chromium.press("ArrowDown")
    chromium.press("ArrowDown")
    chromium.press("ArrowUp")
    assert chromium.read("document.activeElement.textContent") == "pkg/m18.py:7"
    chromium.press("Enter")
    chromium.wait("document.activeElement.id === 'detail'")
    assert text_of(chromium, "#detail h3") == "pkg/m18.py:7, rename, one"
    assert chromium.read("new URLSearchParams(location.hash.slice(1)).get('v')") == "one/0/s18/rename/0"
    chromium.press("Escape")
    assert chromium.read("document.activeElement.textContent") == "pkg/m18.py:7"
    chromium.read("history.back()")
    chromium.wait("document.querySelector('#detail').hidden")
    assert text_of(chromium, "#count") == "11 of 60 violations"


def test_clear_brings_all_back_and_the_theme_turns(chromium: Chromium, address: str) -> None:
    chromium.open(f"{address}#query=m4&model=one")
    chromium.read("document.querySelector('#filters button').click()")
    assert text_of(chromium, "#count") == "60 of 60 violations"
    assert (
        chromium.read("document.querySelector('#query').value + document.querySelector('#model').value") == ""
    )
    shade = "getComputedStyle(document.body).backgroundColor"
    light = chromium.read(shade)
    chromium.read("document.querySelector('#theme').click()")
    assert chromium.read(shade) != light
    chromium.call("Emulation.setEmulatedMedia", media="print")
    assert chromium.read(shade) == light == "rgb(255, 255, 255)"
    chromium.call("Emulation.setEmulatedMedia", media="")


def test_a_phone_scrolls_one_way_only(chromium: Chromium, address: str) -> None:
    chromium.open(address + link("two/0/s57/rename/0"), width=360)
    assert chromium.read("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert chromium.read("innerWidth") == 360
    small = "[...document.querySelectorAll('figure text')].map((t) => t.getBoundingClientRect().height)"
    assert min(chromium.read(small)) > 10
    assert (
        chromium.read(
            "getComputedStyle(document.querySelector('.diff .pad, .diff .same td:last-child')).display"
        )
        == "none"
    )


def test_a_line_of_a_million_characters_is_cut_round_the_difference(
    chromium: Chromium, tmp_path: Path
) -> None:
    head = "a " * (LINE // 4)
    of = sample("long", f"{head}BEFORE {head}\n\U0001f600 same\n")
    browsed = browser([(0, violated(of, of.source.replace("BEFORE", "AFTER")))], [], undrawn)
    path = tmp_path / "long.html"
    path.write_text(html(page(full(), browsed)), encoding="utf-8")
    assert path.stat().st_size < 300_000
    chromium.open(path.as_uri() + link("vanilla/0/long/rename/0"))
    assert text_of(chromium, ".diff .gone mark") == "BEFORE"
    assert text_of(chromium, ".diff .new mark") == "AFTER"
    assert "… (1,000,007 characters)" not in text_of(chromium, ".diff .new")
    assert "characters)" in text_of(chromium, ".diff tbody")
    assert len(text_of(chromium, "#detail")) < 5_000
    assert "\U0001f600 same" in text_of(chromium, ".diff tbody")


def test_without_a_decompressor_the_page_says_so(chromium: Chromium, address: str) -> None:
    script = chromium.call(
        "Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream"
    )
    chromium.call("Page.navigate", url=f"{address}?old")
    chromium.wait("document.querySelector('#browser [role=alert]') !== null")
    assert "codeaudit explain" in text_of(chromium, "#browser")
    chromium.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


@pytest.mark.slow
def test_the_page_escapes_what_it_shows_once() -> None:
    summary = replace(full(), corpus="a & b <c>")
    text = html(page(summary))
    assert escape("a & b <c>") in text
    assert "&amp;amp;" not in text
