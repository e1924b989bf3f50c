"""The page of a comparison."""

import re
from html import escape

from codeaudit.reports.compare import compare
from codeaudit.reports.records import ComparedRun
from codeaudit.reports.render.html.comparison import RunOnPage, comparison_html
from codeaudit.reports.verdict import verdict
from tests.reports.render.test_html import HOSTILE, IMAGE, PWNED
from tests.reports.test_compare import MODELS, run


def page(*runs: ComparedRun) -> str:
    return comparison_html(
        compare(runs), [RunOnPage(run=compared, about={"seed": compared.name}) for compared in runs]
    )


def test_it_has_the_verdict_the_runs_and_the_tests() -> None:
    one, other = run("monday", {"spe": ("1", 0.0)}), run("tuesday", {"vanilla": ("2", 0.9)})
    text = page(one, other)
    (first, *_) = verdict(compare([one, other]))
    assert text.replace("\u00a0%", " %").count(f"<li>{escape(first)}</li>") == 1
    captions = re.findall(r"<caption>(.*?)</caption>", text)
    assert captions[0].startswith("monday: function-name on stdlib")
    assert captions[1].startswith("tuesday: ")
    assert any(caption.startswith("Effect sizes") for caption in captions)
    assert "<h1>codeaudit: spe and vanilla compared</h1>" in text
    assert re.findall(r"<h3>(.*?)</h3><dl><dt>seed</dt>", text) == ["monday", "tuesday"]
    assert 'href="#figures"' in text


def test_rates_of_different_corpora_share_no_picture() -> None:
    old = run("old", {"m": ("1", 0.1)})
    drawn = {corpus: page(old, run("new", {"m": ("2", 0.4)}, corpus=corpus)) for corpus in ("stdlib", "src")}
    assert "against the violation rate" in drawn["stdlib"]
    assert "against the violation rate" not in drawn["src"]
    # Both weights of one name have a name of their own.
    assert all("m (old) and m (new) compared" in text for text in drawn.values())


def test_a_model_of_several_runs_is_drawn_once() -> None:
    text = page(run("a", MODELS), run("b", {"spe": ("1", 0.0)}, seeds=(1,)))
    legend = text[text.index('<ul class="legend">') :]
    assert re.findall(r"</svg> (.*?)</li>", legend[: legend.index("</ul>")]) == ["spe", "vanilla"]


def test_no_text_of_a_run_becomes_markup() -> None:
    hostile = HOSTILE.replace("\ud800", "")  # names stand in files
    text = page(run(hostile, {hostile: ("1", 0.1)}), run("b", {"vanilla": ("2", 0.4)}))
    assert PWNED not in text
    assert IMAGE not in text
    assert escape(IMAGE) in text
