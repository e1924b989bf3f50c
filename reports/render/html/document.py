"""The HTML page: tables, figures and the browser of violations, in one file without network access.

No text of a run becomes markup: `markup` escapes texts, and the script inserts data as text nodes only. A
content security policy allows only this page's own script and style, by their hashes.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.resources import files
from itertools import chain
from typing import Any, Final, NamedTuple

from codeaudit.audit.records import Answer, Audited, Predicted, Unjudged, Violated, answer_from_json
from codeaudit.reports import wording
from codeaudit.reports.explanations import RepeatCounts, answer_text, reply_text, steadiness
from codeaudit.reports.first_screen import every_sheet, first_screen
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.render.html.charts import Chart, charts, escaped, items, legend, mark, sentences
from codeaudit.reports.sheets import Cell, Column, Sheet, sheets
from codeaudit.reports.verdict import verdict_within
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import Sample

BEHIND: Final = ("size", "asked")
"""Columns that say nothing of robustness. On a narrow screen they would stand in front of those that do."""


def opening(summary: Summary, lines: Sequence[str]) -> str:
    """Return the sentences above everything else.

    Args:
        summary: the numbers.
        lines: when which models were asked what, and what that cost, in sentences.
    """
    lead = sentences(
        [*first_screen(summary).lead, *verdict_within(summary)],
        "No answer to a perturbed input could be judged.",
    )
    return f'{lead}<div class="asked">{"".join(f"<p>{escaped(line)}</p>" for line in lines)}</div>'


def scorecards(summary: Summary) -> str:
    """Return a card for each model, in the order of the models, with the numbers of the first screen."""
    sheet = violations_first(first_screen(summary))
    cards = "".join(_card(sheet.columns, row, number) for number, row in enumerate(sheet.rows))
    return f'<div class="cards">{cards}</div><ul class="notes">{_legend(sheet)}</ul>' if cards else ""


def violations_first(sheet: Sheet) -> Sheet:
    """Return a table with its columns on size and number of samples behind the others."""
    order = sorted(range(len(sheet.columns)), key=lambda n: sheet.columns[n].head in BEHIND)
    return Sheet(
        title=sheet.title,
        columns=tuple(sheet.columns[n] for n in order),
        rows=tuple(tuple(row[n] for n in order) for row in sheet.rows),
        notes=sheet.notes,
        legend=sheet.legend,
        lead=sheet.lead,
        dense=sheet.dense,
    )


def _card(columns: Sequence[Column], row: Sequence[Cell], number: int) -> str:
    name, *cells = row
    rows = "".join(_line(column.head, cell) for column, cell in zip(columns[1:], cells, strict=True))
    head = f'<svg width="14" height="14" aria-hidden="true">{mark(number, 7, 7)}</svg>'
    return f'<article class="card"><h3>{head} {escaped(" ".join(name.lines))}</h3><dl>{rows}</dl></article>'


def _line(head: str, cell: Cell) -> str:
    first, *more = cell.lines or ("",)
    rest = f' <span class="soft">{escaped(", ".join(more))}</span>' if more else ""
    return f"<dt>{escaped(head)}</dt><dd><strong>{escaped(first)}</strong>{rest}</dd>"


def _legend(sheet: Sheet) -> str:
    return "".join(f'<li class="legend-text">{escaped(line)}</li>' for line in sheet.legend)


BUDGET: Final = 2_600_000
"""Maximum number of characters of packed data, so that a page stays below 3 MB."""
NEARLY: Final = int(1.03 * BUDGET)
"""Samples are chosen up to this size. It is measured nearly; what is too much is dropped in the end."""
CANDIDATES: Final = 2 * BUDGET
"""Size above which no more samples are looked at. It is measured by a fast packer, which packs less well."""
LARGE: Final = 20_000
"""Number of characters above which a text counts as large. Samples with large texts are dropped first."""
LONG: Final = 2_000
"""Maximum number of characters of an answer."""
SCORES: Final = 3

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A dependence graph to draw: the lines of a function, their direct dependences, and their layers."""

    lines: tuple[str, ...]
    after: tuple[tuple[int, ...], ...]
    """For each line, the lines that it directly depends on."""
    layers: tuple[int, ...]


class ViolationRow(NamedTuple):
    """A violation on the page."""

    place: int
    """Number of its sample."""
    text: str
    """The rest, as an object of JSON: objects of Python would take ten times the memory."""

    def placed(self, number: int) -> str:
        """All of it as JSON, with another number of the sample."""
        return f'{{"place":{number},{self.text[1:]}'


@dataclass(slots=True)
class Browser:
    """The violations of a run, grouped by sample."""

    samples: list[dict[str, Any]] = field(default_factory=list)
    rows: list[ViolationRow] = field(default_factory=list)
    left_out: int = 0
    """Number of violations that were dropped to keep the page small."""

    @property
    def total(self) -> int:
        """Number of all violations."""
        return len(self.rows) + self.left_out


def browser(
    audited: Iterable[tuple[int, Audited]],
    explanations: Sequence[Row],
    draw: Callable[[Sample], Drawing | None],
) -> Browser:
    """Collect the violations of meaning-keeping transforms: explained ones first, then by sample.

    Those that cannot fit on the page are only counted, so that memory does not grow with the run.
    """
    # By the name of the variant, since explanations are kept in a table of their own.
    explained = {_name(row): row for row in explanations}
    candidates = _Candidates(explained={row["sample"] for row in explanations})
    for seed, record in audited:
        counts = _repeat_counts(record)
        for violated in record.verdicts:
            if not isinstance(violated, Violated) or violated.perturbed.kind != "preserving":
                continue
            candidate = candidates.of(record.sample)
            if candidate is None:
                continue
            perturbed = violated.perturbed
            # First, because what is weighed is the last text.
            rewritten = {"other": candidate.text_number(perturbed.other)} if perturbed.other else {}
            row = {
                **rewritten,
                "model": record.model,
                "seed": seed,
                "transform": perturbed.transform,
                "variant": perturbed.variant,
                "text": candidate.text_number(perturbed.source),
                "notes": [move.note[:LONG] for move in perturbed.moves],
                "before": _prediction(violated.before),
                "after": _prediction(violated.after),
            }
            if counts.changed:
                row["repeats"] = steadiness(counts)
            name = (record.model, seed, record.sample.id, perturbed.transform, perturbed.variant)
            if why := explained.get(name):
                row["least"] = {
                    "text": candidate.text_number(why["perturbed"]),
                    "notes": [move["note"][:LONG] for move in why["moves"]],
                    "of": why["moves_before"],
                    "smallest": why["smallest"],
                    "queries": why["queries"],
                    "after": _answer(answer_from_json(why["after"])),
                }
            candidates.add(candidate, row)
    return candidates.fitting(draw)


def _repeat_counts(record: Audited) -> RepeatCounts:
    """The judged repeats of a sample."""
    repeats = [verdict for verdict in record.verdicts if verdict.perturbed.kind == "identity"]
    judged = [isinstance(repeat, Violated) for repeat in repeats if not isinstance(repeat, Unjudged)]
    return RepeatCounts(len(judged), sum(judged))


@dataclass(slots=True)
class _Candidate:
    """A sample that may come onto the page, with its violations."""

    sample: Sample
    place: int
    """Number of the sample among all with a violation."""
    rows: list[str] = field(default_factory=list)
    """As `ViolationRow.text`; first those with a smallest edit."""
    least: int = 0
    """How many have a smallest edit."""
    # Models mostly meet the same variants: each text is stored once per sample, and rows name its index.
    texts: dict[str, int] = field(default_factory=dict)
    size: int = 0
    large: bool = False
    drawn: bool = False
    drawing: Drawing | None = None

    def text_number(self, source: str) -> int:
        """Return the index of a perturbed source among those of the sample."""
        self.large = self.large or max(len(source), len(self.sample.source)) > LARGE
        return self.texts.setdefault(source, len(self.texts))

    def entry(self) -> dict[str, Any]:
        """Return the sample as the page has it."""
        sample = self.sample
        entry: dict[str, Any] = {
            "id": sample.id,
            "path": sample.origin.path,
            "line": sample.origin.line,
            "language": sample.language,
            "source": sample.source,
            "texts": list(self.texts),
        }
        if sample.other and sample.other != sample.source:
            entry["other"] = sample.other
        if sample.label is not None:
            entry["label"] = _answer(sample.label)
        if graph := self.drawing:
            entry["graph"] = {"lines": graph.lines, "after": graph.after, "layers": graph.layers}
        return entry


class _Candidates:
    """The samples that may come onto the page; of a large run, not more than twice its room."""

    def __init__(self, *, explained: Collection[str]) -> None:
        self._explained = explained
        self._by_id: dict[str, _Candidate] = {}
        self._places: dict[str, int] = {}
        self._refused = 0
        self._full = False
        self._size = 0
        self._meter = _PackedSize(level=1)

    def of(self, sample: Sample) -> _Candidate | None:
        """Return the candidate of a sample. `None` if there is no room; then its violation is counted."""
        if (known := self._by_id.get(sample.id)) is not None:
            return known
        if sample.id in self._places or (self._full and sample.id not in self._explained):
            self._refused += 1
            return None
        self._places[sample.id] = len(self._places)
        self._by_id[sample.id] = candidate = _Candidate(sample, self._places[sample.id])
        self._weigh(candidate, sample.source)
        return candidate

    def add(self, candidate: _Candidate, row: dict[str, Any]) -> None:
        """Add a violation of a candidate."""
        text = json.dumps(row, separators=(",", ":"))
        if "least" in row:
            candidate.rows.insert(candidate.least, text)
            candidate.least += 1
        else:
            candidate.rows.append(text)
        # A text that was there before costs nothing.
        new = next(reversed(candidate.texts)) if row["text"] == len(candidate.texts) - 1 else ""
        self._weigh(candidate, new, text)
        if self._size > CANDIDATES:
            self._full = True
            # First samples with large texts, because a few of them may take most of the room.
            self._drop(other for other in self._order() if other.large)
            last = [other for other in self._order() if other.sample.id not in self._explained]
            # More than is needed, so that this is done seldom.
            while last and self._size > 0.9 * CANDIDATES:
                self._drop([last.pop()])

    def fitting(self, draw: Callable[[Sample], Drawing | None]) -> Browser:
        """Return those that fit, or a few more, with their drawings. Explained ones come first."""
        fit = self._drawn(draw)
        if len(fit) < len(self._by_id) and any(candidate.large for candidate in self._by_id.values()):
            self._drop(candidate for candidate in self._order() if candidate.large)
            fit = self._drawn(draw)
        self._drop(self._order()[len(fit) :])
        fit.sort(key=lambda candidate: candidate.place)
        # By sample, worst first: those with a smallest edit, then those with the most changed answers.
        order = sorted(
            range(len(fit)),
            key=lambda place: (fit[place].sample.id not in self._explained, -len(fit[place].rows), place),
        )
        rows = [ViolationRow(place, text) for place in order for text in fit[place].rows]
        return Browser(samples=[candidate.entry() for candidate in fit], rows=rows, left_out=self._refused)

    def _drawn(self, draw: Callable[[Sample], Drawing | None]) -> list[_Candidate]:
        """The first ones that fit."""
        meter, fit = _PackedSize(level=9), []
        for candidate in self._order():
            # A drawing is expensive: only of what fits.
            if not candidate.drawn:
                candidate.drawn, candidate.drawing = True, draw(candidate.sample)
            meter.add(json.dumps(candidate.entry(), separators=(",", ":")))
            meter.add("".join(candidate.rows))
            if meter.characters > NEARLY:
                break
            fit.append(candidate)
        return fit

    def _order(self) -> list[_Candidate]:
        return sorted(
            self._by_id.values(),
            key=lambda candidate: (candidate.sample.id not in self._explained, candidate.place),
        )

    def _weigh(self, candidate: _Candidate, *texts: str) -> None:
        size = sum(map(self._meter.add, texts))
        candidate.size += size
        self._size += size

    def _drop(self, candidates: Iterable[_Candidate]) -> None:
        for candidate in candidates:
            self._refused += len(candidate.rows)
            self._size -= candidate.size
            del self._by_id[candidate.sample.id]


class _PackedSize:
    """The size of texts on the page, nearly: their number of characters when they are packed."""

    def __init__(self, *, level: int) -> None:
        self._deflated = zlib.compressobj(level)
        self.characters = 0

    def add(self, text: str) -> int:
        """Add a text. Returns by how much the size grew; some of it may show later."""
        # As in `_pack`: deflated, then base64.
        grown = len(self._deflated.compress(text.encode("utf-8", "surrogatepass"))) * 4 // 3
        self.characters += grown
        return grown


def packed(content: Browser) -> str:
    """Return the data as base64 of deflated JSON. The last violations are dropped if there are too many."""
    code = _pack(content)
    if len(code) > BUDGET:
        # First samples with large texts, because a few of them may take most of the room.
        longest = [max(map(len, (sample["source"], *sample["texts"]))) for sample in content.samples]
        _keep(content, [row for row in content.rows if longest[row.place] <= LARGE])
        code = _pack(content)
    while len(code) > BUDGET:
        # In proportion to what is too much, a little less each time: compression makes the size no exact
        # multiple.
        _keep(content, content.rows[: int(0.95 * len(content.rows) * BUDGET / len(code))])
        code = _pack(content)
    return code


def _keep(content: Browser, rows: list[ViolationRow]) -> None:
    content.left_out += len(content.rows) - len(rows)
    content.rows = rows


def _pack(content: Browser) -> str:
    # Samples whose violations were all dropped are dropped, too.
    used = sorted({row.place for row in content.rows})
    number = {place: new for new, place in enumerate(used)}
    # ASCII escapes, so that lone surrogates survive; deflate makes up for their length.
    samples = (json.dumps(content.samples[place], separators=(",", ":")) for place in used)
    rows = (row.placed(number[row.place]) for row in content.rows)
    # One at a time, because the whole text takes ten times as much room as the result.
    deflated = zlib.compressobj(9)
    pieces = [
        deflated.compress(piece.encode("ascii"))
        for piece in chain(['{"samples":['], _joined(samples), ['],"rows":['], _joined(rows), ["]}"])
    ]
    return base64.b64encode(b"".join([*pieces, deflated.flush()])).decode("ascii")


def _joined(items: Iterable[str]) -> Iterator[str]:
    """The items of a list in JSON, with commas between."""
    for number, item in enumerate(items):
        yield f",{item}" if number else item


def _prediction(predicted: Predicted) -> dict[str, Any]:
    best = sorted(predicted.scores, key=lambda pair: (-pair[1], pair[0]))[:SCORES]
    entry: dict[str, Any] = {
        "answer": _answer(predicted.answer),
        "scores": [[label[:LONG], float(f"{score:.4g}")] for label, score in best],
    }
    if predicted.replies:
        entry["reply"] = _cut(reply_text(predicted))
        entry["read"] = predicted.replies[0].read
    return entry


def _answer(answer: Answer) -> str:
    return _cut(answer_text(answer))


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def _name(row: Row) -> tuple[object, ...]:
    return row["model"], row["seed"], row["sample"], row["transform"], row["variant"]


CUT: Final = 2_000
"""Maximum number of characters in a table cell."""
COLUMNS: Final = {
    "where": "sample",
    "model": "model",
    "transform": "transform",
    "before": "before",
    "after": "after",
    "size": "moves",
}
"""The columns of the list of violations: sort key and heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The content of a page."""

    summary: Summary
    browser: Browser
    asked: Sequence[str] = ()
    """When which models were asked what, and what that cost, in sentences."""
    about: Mapping[str, str]
    """Origin of the numbers, for the footer: versions, seed, hashes, machine."""
    predictions: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By model, the ratios of real-valued answers to variants over the answer to their original."""


def html(page: Page) -> str:
    """Return the page as text."""
    summary = page.summary
    title = f"codeaudit: {wording.plain(summary.task)} on {wording.plain(summary.corpus)}"
    figures = charts(summary, page.predictions)
    compared = sheets(summary.statistics) if summary.statistics != Comparison() else ()
    # Packing first: it may leave violations out, which the page then says.
    code = packed(page.browser)
    first, *others = every_sheet(summary)
    tables = (violations_first(replace(first, lead=())), *others)
    sections = {
        "summary": ("Verdict", "Verdict", opening(summary, page.asked)),
        "scorecards": ("Models", "Models", scorecards(summary)),
        "figures": ("Figures", "Figures", drawn([model.model for model in summary.models], figures)),
        "violations": ("Violations", "Violations", _browser(page.browser)),
        "details": ("Tables", "Tables", "".join(map(table, tables))),
        "comparison": ("Comparison", "Comparison of the models", "".join(map(table, compared))),
        "about": ("About", "About this run", facts(page.about)),
    }
    return document(title, sections, printed=_printed(page.browser), code=code)


Section = tuple[str, str, str]
"""Link in the navigation, heading, and content as markup; without content the section is left out."""


def document(title: str, sections: Mapping[str, Section], *, printed: str, code: str = "") -> str:
    """Return a page of these sections, by the names of their anchors.

    Args:
        title: plain text.
        sections: their contents are markup, in which every text is escaped.
        printed: the last line on paper, as plain text.
        code: packed data for the script.
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    filled = {name: section for name, section in sections.items() if section[2]}
    links = "".join(f'<li><a href="#{name}">{link}</a></li>' for name, (link, _, _) in filled.items())
    toggle = '<button type="button" id="theme" hidden>Dark</button>'
    navigation = f'<nav aria-label="Sections"><ul>{links}</ul>{toggle}</nav>'
    body = [
        '<a class="skip" href="#main">Skip to the report</a>',
        f"<header><h1>{escaped(title)}</h1>{navigation}</header>",
        '<main id="main" tabindex="-1">',
        *(_section(name, heading, content) for name, (_, heading, content) in filled.items()),
        f'<p class="printed">{escaped(printed)}</p>',
        "</main>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escaped(title)}</title>'
        f"<style>{style}</style></head>\n<body>\n{''.join(body)}\n"
        f'<script type="text/plain" id="data">{code}</script>\n<script>{script}</script>\n</body></html>\n'
    )


def _section(name: str, title: str, content: str) -> str:
    return (
        f'<section id="{name}" aria-labelledby="h-{name}"><h2 id="h-{name}">{title}</h2>{content}</section>\n'
    )


def drawn(models: Sequence[str], figures: Sequence[Chart]) -> str:
    """Return the figures with the legend of the models as markup; nothing without figures."""
    if not figures:
        return ""
    return f'<div class="figures">{legend(models)}{"".join(map(_figure, figures))}</div>'


def _figure(figure: Chart) -> str:
    name = figure.name
    return (
        f'<figure id="f-{name}"><figcaption id="t-{name}">{escaped(figure.title)}</figcaption>{figure.svg}'
        f'<details><summary>In words</summary><p id="w-{name}">{escaped(figure.words)}</p></details></figure>'
    )


def _browser(browser: Browser) -> str:
    if not browser.total:
        return "<p>No answer changed under an edit that keeps the meaning.</p>"
    sentence = f"{counted(browser.total, 'answer')} changed although the meaning was kept."
    if browser.left_out:
        sentence += f" {browser.left_out:,} of them are in the run folder only: this page would be too large."
    heads = "".join(
        f'<th scope="col" role="columnheader" aria-sort="none">'
        f'<button type="button" data-key="{key}">{head}</button></th>'
        for key, head in COLUMNS.items()
    )
    return (
        f"<p>{sentence}</p>"
        "<noscript><p>The browser of violations needs JavaScript; the tables do not.</p></noscript>"
        '<div id="browser" hidden>'
        '<form id="filters" role="search" aria-label="Filter violations"><label>Search '
        '<input id="query" type="search" autocomplete="off" placeholder="path, code, answer"></label>'
        '<label>Model <select id="model"><option value="">all</option></select></label>'
        '<label>Transform <select id="transform"><option value="">all</option></select></label>'
        '<label class="check"><input id="least" type="checkbox"> with a smallest edit only</label>'
        '<button type="reset">Clear</button></form>'
        '<p id="count" role="status"></p>'
        '<div class="scroll"><table id="list" role="table" aria-label="Violations">'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        '<tbody role="rowgroup"></tbody></table></div>'
        '<div id="pager"><button type="button" id="prev">Previous</button><span id="page"></span>'
        '<button type="button" id="next">Next</button></div>'
        '<article id="detail" aria-label="The chosen violation" tabindex="-1" hidden></article></div>'
    )


def _printed(browser: Browser) -> str:
    """The last line of the printed summary: what only the page itself has."""
    number = counted(browser.total, "changed answer")
    return f"Printed summary. The page itself also has all tables, the comparison, and the {number}."


def facts(about: Mapping[str, str]) -> str:
    """Return names and values as markup."""
    rows = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in about.items())
    return f"<dl>{rows}</dl>"


def table(sheet: Sheet) -> str:
    """Return a table with its notes and legend as markup."""
    heads = "".join(
        f'<th scope="col"{" class=number" if column.number else ""}>{escaped(column.head)}</th>'
        for column in sheet.columns
    )
    rows = "".join(f"<tr>{''.join(_cells(sheet, row))}</tr>" for row in sheet.rows)
    body = f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>" if sheet.columns else ""
    notes = items(sheet.notes)
    legends = "".join(f'<li class="legend-text">{escaped(text)}</li>' for text in sheet.legend)
    under = f'<ul class="notes">{notes}{legends}</ul>' if notes or legends else ""
    lead = items(sheet.lead)
    over = f'<ul class="notes">{lead}</ul>' if lead else ""
    return over + (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escaped(sheet.title)}">'
        f"<table><caption>{escaped(sheet.title)}</caption>{body}</table></div>{under}"
    )


def _cells(sheet: Sheet, row: Sequence[Cell]) -> Iterable[str]:
    for number, (column, cell) in enumerate(zip(sheet.columns, row, strict=True)):
        # Cut before the escaping, so that no entity such as &amp; is cut in two.
        lines = [escaped(line[:CUT]) for line in cell.lines]
        inner = (
            "<br>".join([f"<strong>{lines[0]}</strong>" if cell.bold else lines[0], *lines[1:]])
            if lines
            else ""
        )
        name = ' class="number"' if column.number else ""
        yield f'<th scope="row">{inner}</th>' if number == 0 else f"<td{name}>{inner}</td>"


def _asset(name: str) -> str:
    return files("codeaudit.reports.render.html").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
