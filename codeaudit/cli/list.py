"""The command `codeaudit list`: the names for the command line.

It imports no transform and no framework, except for `transforms --verbose`, which shows an example of each.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

import click

from codeaudit.audit.corpora.native import DATA_SETS
from codeaudit.audit.corpora.specs import forms
from codeaudit.audit.models import catalogue
from codeaudit.audit.records import Query
from codeaudit.audit.registry import DEFAULT_TASK, TASKS
from codeaudit.audit.tasks.wordings import SUMMARIES
from codeaudit.transforms.errors import CodeauditError, UsageError
from codeaudit.transforms.language import (
    DEFAULT,
    LANGUAGES,
    Language,
    TransformEntry,
    TransformFamily,
    every_language,
)
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registration import Registry, load_target
from codeaudit.transforms.registry import (
    ENTRIES,
    PLUG_INS,
    TRANSFORMS,
    entry_of,
    languages_of,
    left_out,
    meant,
    transform_for,
)
from codeaudit.transforms.suites import SUITE, SUITES, Original, published

KINDS: Final = ("models", "tasks", "transforms", "corpora")
FURTHER_KINDS: Final = ("prompts", "languages", "formats", "suites")
"""Listed only when they are named."""
CONTEXT: Final = 3
"""Unchanged lines around each change of an example."""


@click.command("list")
@click.argument("what", metavar="[KIND]", type=click.Choice((*KINDS, *FURTHER_KINDS)), required=False)
@click.argument("name", required=False)
@click.option("--verbose", "-v", is_flag=True, help="Describe each name; show an example of each transform.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Format of the output."
)
def listing(what: str | None, name: str | None, verbose: bool, form: str) -> int:
    """List models, tasks, transforms or corpora (all of these without an argument), prompts, languages,
    formats or published suites. With the NAME of a suite: what its paper has, and our counterparts.

    A plug-in that cannot be used is one line on stderr.

    \b
    Examples:
      codeaudit list models
      codeaudit list transforms --verbose | less
      codeaudit list suites averloc
    """
    if name is not None:
        if what != "suites":
            raise UsageError(f"list {what} takes no name; only list suites does")
        published(name)  # raises UsageError with the nearest name
        name = name.removeprefix(f"{SUITE}/")
    kinds = KINDS if what is None else (what,)
    if form == "json":
        records = {kind: list(_records(kind)) for kind in kinds}
        if name is not None:
            records["suites"] = [suite for suite in records["suites"] if suite["name"] == f"{SUITE}/{name}"]
        click.echo(json.dumps(records, indent=2))
        return 0
    if name is not None or (what == "suites" and verbose):
        click.echo("\n\n".join("\n".join(_suite(suite)) for suite in ([name] if name else SUITES)))
        return 0
    for number, kind in enumerate(kinds):
        if what is None:
            click.echo(f"{'' if number == 0 else chr(10)}{kind}")
        indent = "" if what else "  "
        if kind == "transforms":
            _write_transforms(indent=indent, verbose=verbose)
        else:
            _write(
                _table(kind, verbose=verbose),
                indent=indent,
                verbose=verbose or what is None or kind in ("prompts", "suites"),
            )
        if kind == "corpora" and verbose:
            _write_data_sets(indent)
        if kind == "tasks" and verbose:
            _write_tasks(indent)
        if kind == "prompts":
            _write_prompts(indent, verbose=verbose)
    return 0


def _write(rows: Iterable[tuple[str, str]], *, indent: str, verbose: bool) -> None:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    for name, summary in rows:
        click.echo(f"{indent}{name:{width}}  {summary}".rstrip() if verbose else f"{indent}{name}")


def _write_data_sets(indent: str) -> None:
    """The data sets that are read in their own columns."""
    click.echo(f"\n{indent}data sets that are read in their own columns, from files or as hfds:NAME@SPLIT")
    for data_set in DATA_SETS:
        click.echo(f"{indent}  {data_set.name}: {data_set.place}")
        click.echo(f"{indent}    columns: {', '.join(data_set.columns)}")
        click.echo(f"{indent}    licence: {data_set.licence}")
        click.echo(f"{indent}    known errors: {data_set.known_errors or 'none that we know'}")


def _write_prompts(indent: str, *, verbose: bool) -> None:
    """Each prompt as a model sees it: of the default task, or of every task."""
    names = [name for name in TASKS.built_in if verbose or name == DEFAULT_TASK]
    for name in names:
        task = TASKS.get(name)
        example = EXAMPLES.get(task.language, EXAMPLES[DEFAULT])
        for prompt in SUMMARIES if task.prompt else ():
            wording = task.asked(prompt)
            if wording is None:
                continue
            click.echo(f"\n{indent}{name}, {prompt}:")
            other = example if task.beside else ""
            query = Query(source=example, other=other, language=task.language, task=name)
            for turn in wording.messages(query):
                click.echo(
                    "".join(f"{indent}    {line}".rstrip() + "\n" for line in turn.content.split("\n"))
                )


EXAMPLES: Final = {
    DEFAULT: "def MASK(a, b):\n    return a if a > b else b",
    "x86": "addq %rax, %rbx",
    "algebra": "mul x x =? mul INT+ 2 x",
}
"""The code in the examples of prompts, by language."""


def _write_tasks(indent: str) -> None:
    """What each task asks, reads and scores, and who answers it."""
    for name, task in TASKS.working(_report):
        click.echo(f"\n{indent}{name}: {task.question}")
        click.echo(f"{indent}  an answer: {task.accepted}")
        click.echo(f"{indent}  score: {task.score_name}, {task.better} is better")
        click.echo(f"{indent}  corpus without --corpus: {task.corpus or 'none; name one'}")
        models = catalogue.bundled_for(name)
        click.echo(f"{indent}  bundled models: {', '.join(models) or 'none; name one with --model'}")


def _table(kind: str, *, verbose: bool) -> list[tuple[str, str]]:
    match kind:
        case "models":
            return [*_checkpoints(), *_providers(verbose=verbose)]
        case "tasks":
            return list(TASKS.summaries(_report))
        case "transforms":
            return _transforms()
        case "corpora":
            return list(forms(_report))
        case "prompts":
            return list(SUMMARIES.items())
        case "suites":
            return [(f"{SUITE}/{name}", suite_line(name)) for name in SUITES]
        case "languages":
            return list(LANGUAGES.summaries(_report))
        case _:
            formats: Registry[Any] = load_target("codeaudit.reports.registry:FORMATS")
            return list(formats.summaries(_report))


def _transforms() -> list[tuple[str, str]]:
    """Also reports the languages that cannot be used, because their transforms are missing."""
    # Loading is what shows that a language is broken; the value is not needed.
    for _ in LANGUAGES.working(_report):
        pass
    return list(TRANSFORMS.summaries(_report))


def _report(error: CodeauditError) -> None:
    click.echo(f"codeaudit: {error}", err=True)


def _records(kind: str) -> Iterator[dict[str, object]]:
    for name, summary in _table(kind, verbose=True):
        record: dict[str, object] = {"name": name, "summary": summary}
        if kind == "transforms":
            entry = entry_of(name)
            record |= {
                "family": entry.family,
                "kind": entry.kind,
                "twin": entry.twin,
                "interface": entry.interface,
                "assumes": entry.assumes or None,
                "rests_on": entry.rests_on,
                "languages": languages_of(name),
                "default": any(_standing(name, language) for language in every_language())
                or name == "identity",
            }
        if kind == "suites":
            record |= asdict(published(name))
        yield record


def _suite(name: str) -> Iterator[str]:
    """A published suite: each of its transforms with ours, and what else differs."""
    suite = published(name)
    yield f"{SUITE}/{name}: {suite_line(name)}"
    yield f"  paper: {suite.paper}"
    yield f"  looked up in: {suite.source}"
    for original in suite.originals:
        yield f"  {original.name}: {counterparts_in_words(original)}"
    if suite.attack:
        yield f"  search: --attack {suite.attack}"
    yield from (f"  {difference}" for difference in suite.differences)
    if suite.figures:
        yield f"  Published: {suite.figures}"


def suite_line(name: str) -> str:
    """What a published suite is, and of how many of its transforms we have a counterpart."""
    suite = published(name)
    every = len(suite.originals)
    return f"{suite.summary}; counterparts of {every - len(left_out(name))} of {every} transforms"


def counterparts_in_words(original: Original) -> str:
    """Our transforms for one of a published suite with their languages, and how they differ."""
    by_languages: dict[tuple[str, ...], list[str]] = {}
    for name in original.ours:
        by_languages.setdefault(meant(name), []).append(name)
    ours = ", ".join(f"{', '.join(names)} ({', '.join(spoken)})" for spoken, names in by_languages.items())
    return "; ".join(filter(None, (ours or "none", original.note)))


def _checkpoints() -> list[tuple[str, str]]:
    return [(name, _card_line(card)) for name, card in catalogue.bundled().items()]


def _card_line(card: Mapping[str, object]) -> str:
    parameters = card.get("parameters")
    parts = [card.get("summary"), card.get("task")]
    facts = [str(part) for part in parts if part]
    if isinstance(parameters, int):
        facts.append(f"{parameters:,} parameters")
    return "; ".join(["bundled", *facts])


def _providers(*, verbose: bool) -> list[tuple[str, str]]:
    rows = []
    for head, provider in catalogue.PROVIDERS.working(_report):
        arguments = ", ".join(provider.arguments)
        # The arguments make long lines: they stand only where descriptions were asked for.
        summary = provider.summary + (f" (-M {arguments})" if arguments and verbose else "")
        rows += [(f"{head}/{name}", line) for name, line in provider.names.items()]
        if not provider.names:
            rows.append((provider.form, summary))
    return [
        *rows,
        ("PATH", "a folder that `codeaudit train` wrote"),
        ("canonical/MODEL", "any of them, shown canonical code only"),
    ]


# ── transforms ───────────────────────────────────────────────────────────────────────────────────────────


def _write_transforms(*, indent: str, verbose: bool) -> None:
    """The transforms by family; `--transform` takes a family's name too."""
    names = dict(_transforms())
    width = max(map(len, names))
    identity = TransformFamily("identity", "", {"identity": ENTRIES["identity"]})
    _write_members(identity, None, indent, width, verbose=verbose)
    listed = {"identity"}
    for language in every_language():
        for family in language.families:
            click.echo(f"\n{indent}{family.name}: {family.summary}")
            _write_members(family, language, f"{indent}  ", width, verbose=verbose)
            listed |= family.transforms.keys()
    if added := {name: entry_of(name) for name in names if name not in listed}:
        click.echo(f"\n{indent}{PLUG_INS}: transforms of installed packages")
        family = TransformFamily(PLUG_INS, "", added)
        _write_members(family, None, f"{indent}  ", width, verbose=verbose)


def _write_members(
    family: TransformFamily, language: Language | None, indent: str, width: int, *, verbose: bool
) -> None:
    for name, entry in family.transforms.items():
        if verbose:
            _write_transform(name, entry, language, indent)
        else:
            click.echo(f"{indent}{name:{width}}  {entry.summary}{_standing(name, language)}")


def _write_transform(name: str, entry: TransformEntry, language: Language | None, indent: str) -> None:
    click.echo(f"{indent}{name}{_standing(name, language)}")
    twin = f"; its control: {entry.twin}" if entry.twin else ""
    lines = example(name, entry, language) if language is not None else ()
    resting = [f"rests on: {', '.join(entry.rests_on)}"] if entry.rests_on else []
    for line in (entry.summary, promise(entry) + twin, *resting, *lines):
        click.echo(f"{indent}    {line}".rstrip())


def promise(entry: TransformEntry) -> str:
    """What a transform does to the meaning, in words."""
    if entry.kind == "preserving":
        effect = ", changes what callers see" if entry.interface else ""
        return "keeps the meaning" + effect + (f", if {entry.assumes}" if entry.assumes else "")
    if entry.kind == "prose":
        return f"changes words alone; assumed: {entry.assumes}"
    return "changes the meaning" if entry.kind == "control" else "changes nothing"


def example(name: str, entry: TransformEntry, language: Language) -> Iterator[str]:
    """The change of a transform's example, as a diff without its heading."""
    if not entry.example:
        return
    origin = Origin(path="<example>", line=1)
    sample = Sample(id="example", language=language.name, source=entry.example, label=None, origin=origin)
    # All sites, so that the example shows everything that the transform does in it.
    (outcome,) = perturb_one(sample, transform_for(name, language.name), variants=1, seed=0, sites="all")
    if not isinstance(outcome, Perturbed):
        yield f"({outcome.reason})"
        return
    before, after = (text.removesuffix("\n").split("\n") for text in (entry.example, outcome.source))
    diff = difflib.unified_diff(before, after, lineterm="", n=CONTEXT)
    # Without the two lines of file names and the positions: an example has no file.
    yield from (line for line in islice(diff, 2, None) if not line.startswith("@@"))


def _standing(name: str, language: Language | None) -> str:
    default = ("identity",) if language is None else (*language.standard, *language.controls)
    return " [default]" if name in default else ""
