"""The opening of the page: the verdict first, then what was asked, then a card for each model."""

import base64
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.finished_runs import _opening
from codeaudit.reports.first_screen import first_screen
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.render.html.document import (
    BEHIND,
    Browser,
    Page,
    browser,
    html,
    opening,
    scorecards,
    violations_first,
)
from codeaudit.reports.verdict import verdict
from tests.reports.render.test_html import (  # noqa: F401
    Reader,
    address,
    chromium,
    full,
    numbered,
    page,
    sample,
    undrawn,
    violated,
)
from tests.support.chromium import Chromium

ASKED = ("2026-11-23, 02:33 UTC: one answered.", "Cost: 3 requests.")


def shown(markup: str) -> str:
    return "".join(Reader(markup).texts)


def test_the_sentences_of_run_and_comparison_stand_first() -> None:
    summary = full()
    text = html(replace(page(summary), asked=ASKED))
    read = Reader(text)
    sections = [
        value for name, value in read.attributes if name == "aria-labelledby" and value.startswith("h-")
    ]
    assert sections[:3] == ["h-summary", "h-scorecards", "h-figures"]
    flat = "".join(read.texts)
    told = [*first_screen(summary).lead, *verdict(summary.statistics), *ASKED]
    assert len(told) > 4
    places = [flat.index(one) for one in told]
    assert places == sorted(places)
    assert places[-1] < flat.index(first_screen(summary).rows[0][3].lines[1])  # an interval of the first card


def test_every_number_of_the_first_screen_is_on_a_card() -> None:
    summary = full()
    sheet = first_screen(summary)
    cards = scorecards(summary)
    assert cards.count('<article class="card">') == len(summary.models) == len(sheet.rows)
    for card, row in zip(cards.split("<article")[1:], sheet.rows, strict=True):
        text = shown(f"<article{card.split('</article>')[0]}</article>")
        assert all(line in text for cell in row for line in cell.lines)


def test_violations_come_before_sizes() -> None:
    sheet = first_screen(full())
    ordered = violations_first(sheet)
    heads = [column.head for column in ordered.columns]
    assert heads[0] == "model"
    assert heads[-len(BEHIND) :] == list(BEHIND)
    assert sorted(heads) == sorted(column.head for column in sheet.columns)
    for old, new in zip(sheet.rows, ordered.rows, strict=True):
        by_head = dict(zip([column.head for column in sheet.columns], old, strict=True))
        assert [by_head[head] for head in heads] == list(new)


def test_a_run_without_judged_answers_says_so() -> None:
    nothing = Summary(task="t", corpus="c", seed=0, models=(), statistics=Comparison())
    assert "No answer" in opening(nothing, ())
    assert scorecards(nothing) == ""


def asked(manifest: dict[str, object]) -> list[str]:
    return list(_opening(manifest, full()))


def test_date_and_cost_are_told() -> None:
    used = {"model": "m", "requests": 1200, "tokens_in": 34000, "tokens_out": 560, "cost": 0.25}
    told = asked({"started": "2026-11-23T02:33:38+00:00", "usage": [used, used]})
    assert told[0].startswith("2026-11-23, 02:33 UTC: ")
    assert all(model.model in told[0] for model in full().models)
    assert "1,120 out" in told[1]
    assert "2,400 requests" in told[1]
    assert "0.5" in told[1]
    assert asked({})[1] == "Cost: none, because the models ran without requests."


def of_sample(name: str, changes: int) -> list[tuple[int, object]]:
    of = sample(name, f"def f():\n    return {name!r}\n", path=f"{name}.py")
    return [(0, violated(of, of.source + f"# {n}\n", variant=n)) for n in range(changes)]


def test_the_worst_sample_comes_first_and_samples_stay_together() -> None:
    # One record of each model and sample holds all its verdicts; here each holds one.
    found = browser([*of_sample("a", 1), *of_sample("b", 3), *of_sample("c", 2)], [], undrawn)  # type: ignore[list-item]
    paths = [found.samples[row.place]["path"] for row in found.rows]
    assert paths == ["b.py", "b.py", "b.py", "c.py", "c.py", "a.py"]


def pages(chromium: Chromium) -> int:  # noqa: F811
    made = chromium.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(made["data"])))


@pytest.mark.slow
def test_it_prints_on_two_pages(chromium: Chromium, address: str) -> None:  # noqa: F811
    chromium.open(address)
    assert pages(chromium) <= 2
    chromium.call("Emulation.setEmulatedMedia", media="print")
    visible = "getComputedStyle(document.querySelector('{}')).display !== 'none'"
    assert chromium.read(visible.format("#summary"))
    assert chromium.read(visible.format(".printed"))
    assert not any(chromium.read(visible.format(name)) for name in ("#violations", "#details", "nav"))
    chromium.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 800, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_opening_is_read_at_every_width(
    chromium: Chromium,  # noqa: F811
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    path = tmp_path / "report.html"
    found: Browser = browser(numbered(3), [], undrawn)
    path.write_text(
        html(Page(summary=full(), browser=found, asked=ASKED, about={"a": "b"})), encoding="utf-8"
    )
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    chromium.call("Emulation.setEmulatedMedia", media="", features=media)
    chromium.open(path.as_uri(), width=width)
    fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert chromium.read(fits)
    top = chromium.read("document.querySelector('.verdict').getBoundingClientRect().top")
    assert top < 300
    # Text against its background, by the contrast of WCAG 2 (at least 4.5 for text of this size).
    ratios: Sequence[float] = chromium.read(CONTRAST)
    assert len(ratios) > 20
    assert min(ratios) >= 4.5
    chromium.call("Emulation.setEmulatedMedia", media="", features=[])


CONTRAST = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((c) => c / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (node) => {
    for (let here = node; here; here = here.parentElement) {
      const colour = getComputedStyle(here).backgroundColor;
      if (!/, 0\\)$/.test(colour) && colour !== 'transparent') { return colour; }
    }
    return 'rgb(255, 255, 255)';
  };
  const chosen = '.verdict li, .asked p, .card h3, .card dt, .card dd, .card .soft, .legend-text, nav a';
  return [...document.querySelectorAll(chosen)].map((node) => {
    const [one, other] = [light(getComputedStyle(node).color), light(back(node))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  });
})()"""
