"""Writes what the program knows about itself into the pages: its transforms, its commands.

    python docs/site/generated.py

A page has a line `<!-- generated: WHAT -->`, and the build of the site puts Markdown in its place. The same
stands below that line in the repository: the command above rewrites it, and a test fails where it is stale.
"""

import inspect
import posixpath
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import click

from codeaudit.audit.corpora.native import DATA_SETS
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.kinds import BY_ANSWER, kinds_for
from codeaudit.audit.registry import TASKS
from codeaudit.cli.list import counterparts_in_words, example, promise, suite_line
from codeaudit.cli.main import COMMANDS, cli
from codeaudit.cli.options import subject
from codeaudit.option_table import Heading
from codeaudit.transforms.assumptions import Reach
from codeaudit.transforms.language import LANGUAGES, TransformEntry
from codeaudit.transforms.suites import SUITE, SUITES

ANCHORS: Final = {"cpp": "c-11-to-23"}
"""Headings of the page of promises that are not the name of the language."""
MARK: Final = re.compile(
    r"^<!-- generated: (?P<what>[\w-]+) ?(?P<of>.*?) -->$"
    r"(?:\n(?:(?!<!-- generated)[^\n]*\n)*?<!-- /generated -->$)?",
    re.MULTILINE,
)
"""With what stands below it in the repository: the text and its end."""
ROOT: Final = Path(__file__).parents[2]
MEASURED: Final = ROOT / "benchmarks" / "results"


def filled(text: str) -> str:
    """A page with what is generated in the place of its marks.

    Raises:
        KeyError: a mark names nothing that can be generated.
    """
    return MARK.sub(_text, text)


def written(text: str) -> str:
    """A page as it should stand in the repository.

    Raises:
        KeyError: as in `filled`.
    """
    return MARK.sub(_between, text)


def _text(mark: re.Match[str]) -> str:
    return "\n".join(_WRITERS[mark["what"]](*filter(None, [mark["of"]]))).strip()


def _between(mark: re.Match[str]) -> str:
    return f"{mark[0].partition(chr(10))[0]}\n\n{_text(mark)}\n\n<!-- /generated -->"


def setup(app: Any) -> Mapping[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _keep_prose, priority=1)  # before napoleon reads it
    return {"parallel_read_safe": True}


def _fill(app: Any, page: str, text: list[str]) -> None:
    text[0] = filled(text[0])


def _keep_prose(app: Any, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Rename the section on what a function returns, so that napoleon takes no sentence for a type."""
    for number, line in enumerate(lines[:-1]):
        if line == "Returns" and lines[number + 1].startswith("---"):
            lines[number : number + 2] = ["Result", "------"]


# ── transforms ───────────────────────────────────────────────────────────────────────────────────────────


def _families(name: str) -> Iterator[str]:
    """The names of a language's transforms, a row for each family."""
    yield "| family | keeps the meaning | controls |\n|---|---|---|"
    for family in LANGUAGES.get(name).families:
        of_kind = {
            kind: ", ".join(
                f"`{member}`{'§' if entry.kind == 'prose' else ''}"
                f"{'†' if entry.interface else ''}{'‡' if entry.assumes else ''}"
                for member, entry in family.transforms.items()
                if (entry.kind == "control") == (kind == "control")
            )
            for kind in ("preserving", "control")
        }
        title = f"[{family.name}](reference/{name}.md#{family.name}): {family.summary.rstrip('.')}"
        yield f"| {title} | {of_kind['preserving']} | {of_kind['control']} |"


def _transforms(name: str) -> Iterator[str]:
    """The transforms of a language, by family."""
    language = LANGUAGES.get(name)
    for family in language.families:
        yield f"## {family.name}\n\n{family.summary}\n"
        for member, entry in family.transforms.items():
            yield f"### {member}\n"
            yield f"{_sentence(entry.summary)} {_sentence(promise(entry))}{_further(member, entry, name)}\n"
            if lines := list(example(member, entry, language)):
                yield "\n".join(["```diff", *lines, "```\n"])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _further(name: str, entry: TransformEntry, language: str) -> str:
    record = LANGUAGES.get(language)
    sentences = [
        f"Its control is `{entry.twin}`." if entry.twin else "",
        "It is part of a default run." if name in (*record.standard, *record.controls) else "",
        "`--dependence` chooses what it promises." if entry.related else "",
        f"It [rests on](../promises.md#{ANCHORS.get(language, language)}) "
        f"{', '.join(f'`{id}`' for id in entry.rests_on)}."
        if entry.rests_on
        else "",
    ]
    return "".join(f" {sentence}" for sentence in sentences if sentence)


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────


def _commands() -> Iterator[str]:
    """Every command with its arguments and options."""
    above = click.Context(cli, info_name="codeaudit", **cli.context_settings)
    for name in COMMANDS:
        command = cli.get_command(above, name)
        assert command is not None
        yield from _command(command, name, above)


def _command(command: click.Command, name: str, above: click.Context) -> Iterator[str]:
    """A command, and those of its group."""
    with click.Context(command, info_name=name, parent=above) as context:
        yield f"## {context.command_path}\n"
        yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
        yield from _paragraphs(command.help or "")
        yield from _options(command, context)
        for inner, child in command.commands.items() if isinstance(command, click.Group) else ():
            yield from _command(child, inner, context)


def _paragraphs(text: str) -> Iterator[str]:
    """A help text; a paragraph that the terminal must not wrap is shown as it is."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        first, _, rest = paragraph.partition("\n")
        if first == "\b":
            title, _, lines = rest.partition("\n")
            yield f"{title}\n\n```text\n{textwrap.dedent(lines)}\n```\n"
        else:
            yield _literal(" ".join(paragraph.split())) + "\n"


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows: dict[Heading, list[tuple[str, str]]] = {}
    # A command keeps its help option with the names of its first context, which may be another one's.
    extra = click.Option(context.help_option_names, is_flag=True, help="Show this message and exit.")
    for param in (*command.params, extra):
        if isinstance(param, click.Option) and (record := param.get_help_record(context)) is not None:
            rows.setdefault(subject(param.name), []).append(record)
    for heading in filter(rows.__contains__, get_args(Heading)):
        yield f"**{heading}**\n\n| option | meaning |\n|---|---|"
        yield from (f"| `{_cell(option)}` | {_literal(_cell(text))} |" for option, text in rows[heading])
        yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _literal(text: str) -> str:
    """Text outside of backticks in which no character is markup."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]])", r"\\\1", part) for part in parts)


# ── data sets ────────────────────────────────────────────────────────────────────────────────────────────


def _data_sets() -> Iterator[str]:
    """The data sets that are read in their own columns."""
    yield "| data set | where | columns | licence | known errors |\n|---|---|---|---|---|"
    for data_set in DATA_SETS:
        errors = data_set.known_errors or "none that we know"
        cells = (data_set.name, data_set.place, ", ".join(data_set.columns), data_set.licence, errors)
        yield f"| {' | '.join(_literal(_cell(cell)) for cell in cells)} |"


# ── tasks ────────────────────────────────────────────────────────────────────────────────────────────────


def _tasks() -> Iterator[str]:
    """The languages and the kinds of models of each task."""
    languages = {name: LANGUAGES.get(name).title for name in LANGUAGES.built_in}
    yield f"| task | {' | '.join(languages.values())} |\n|---|{':-:|' * len(languages)}"
    for name in TASKS.built_in:
        cells = ("–" if TASKS.get(name).refuses(language) else "✓" for language in languages)
        yield f"| `{name}` | {' | '.join(cells)} |"
    kinds = ("program", "language model", *BY_ANSWER)
    yield f"\n| task | {' | '.join(kinds)} | bundled |\n|---|{':-:|' * len(kinds)}---|"
    for name in TASKS.built_in:
        own = kinds_for(TASKS.get(name))
        cells = ("✓" if kind in own else "–" for kind in kinds)
        bundled = ", ".join(f"`{spec}`" for spec in catalogue.bundled_for(name))
        yield f"| `{name}` | {' | '.join(cells)} | {bundled or '–'} |"


# ── published suites ─────────────────────────────────────────────────────────────────────────────────────


def _suites() -> Iterator[str]:
    """What each published suite has, our counterparts, and what else differs."""
    for name, suite in SUITES.items():
        yield f"## {SUITE}/{name}\n\n{_sentence(suite_line(name))}\n"
        yield f"{suite.paper}. Its transforms were looked up in <{suite.source}>.\n"
        yield "| the original's | ours (languages); what differs |\n|---|---|"
        for original in suite.originals:
            yield f"| {_literal(original.name)} | {_literal(_cell(counterparts_in_words(original)))} |"
        yield ""
        yield from (f"- {_literal(difference)}" for difference in suite.differences)
        if suite.figures:
            yield f"- Published: {_literal(suite.figures)}"
        yield ""


# ── measurements ─────────────────────────────────────────────────────────────────────────────────────────


def _measured(title: str) -> Iterator[str]:
    """The section with this title on one of the pages of measurements.

    Raises:
        ValueError: not exactly one has it.
    """
    sections = [
        (page, section[1])
        for page in sorted(MEASURED.glob("*.md"))
        for section in re.finditer(
            rf"^## {re.escape(title)}\n+(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    if len(sections) != 1:
        raise ValueError(f"{len(sections)} sections of {MEASURED} have the title {title!r}")
    ((page, text),) = sections
    yield re.sub(r"\]\((?!\w+:)([^)]+)\)", partial(_from_the_root, page), text.strip())


def _from_the_root(page: Path, link: re.Match[str]) -> str:
    """A relative link of a page of measurements, as it is right on every page."""
    file, sign, heading = link[1].partition("#")
    folder = f"/{MEASURED.relative_to(ROOT).as_posix()}"
    return f"]({posixpath.normpath(posixpath.join(folder, file or page.name))}{sign}{heading})"


# ── assumptions ──────────────────────────────────────────────────────────────────────────────────────────


_REACHES: Final[Mapping[Reach, str]] = {
    "place": "the place",
    "function": "the function",
    "callers": "the function and those that call it",
    "class": "the class",
    "file": "the file",
}


def _ledger(name: str) -> Iterator[str]:
    """What the transforms of a language assume of code that they cannot see."""
    yield "| entry | what is assumed | what shows the opposite | what is refused then | what else breaks |"
    yield "|---|---|---|---|---|"
    for row in LANGUAGES.get(name).ledger.values():
        unseen = f" Not looked for yet: {row.unseen}." if row.unseen else ""
        refused = f"{row.refused} Reach: {_REACHES[row.reach]}.{unseen}" if row.shown else "–"
        cells = (f"`{row.id}`", row.assumed, row.shown or "–", refused, _sentence(row.example))
        yield f"| {' | '.join(_literal(_cell(cell)) for cell in cells)} |"


_WRITERS: Final[Mapping[str, Callable[..., Iterator[str]]]] = {
    "families": _families,
    "transforms": _transforms,
    "commands": _commands,
    "data-sets": _data_sets,
    "tasks": _tasks,
    "suites": _suites,
    "measured": _measured,
    "ledger": _ledger,
}


def main() -> None:
    """Rewrite the pages that hold something generated."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text("utf-8")
        if (new := written(text)) != text:
            page.write_text(new, "utf-8")


if __name__ == "__main__":
    main()
