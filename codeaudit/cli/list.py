"""`codeaudit list`: what there is to name on the command line. Imports no engine and no framework, but for
`transforms --verbose`, which shows what each engine does."""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

import click

from codeaudit.audit.corpora.specs import FORMS
from codeaudit.audit.models import catalogue
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.entries import TransformEntry
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import CONTROLS, ENTRIES, FAMILIES, STANDARD, languages, transform_for

KINDS: Final = ("models", "tasks", "transforms", "corpora")
CONTEXT: Final = 3
"""Unchanged lines around each change of an example."""


@click.command("list")
@click.argument("what", type=click.Choice(KINDS), required=False)
@click.option("--verbose", "-v", is_flag=True, help="Say what each one is; of a transform, show an example.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For people or not."
)
def listing(what: str | None, verbose: bool, form: str) -> int:
    """List models, tasks, transforms or corpora; all of them without an argument.

    \b
    Examples:
      codeaudit list models
      codeaudit list transforms --verbose | less
    """
    kinds = KINDS if what is None else (what,)
    if form == "json":
        click.echo(json.dumps({kind: list(_records(kind)) for kind in kinds}, indent=2))
        return 0
    for number, kind in enumerate(kinds):
        if what is None:
            click.echo(f"{'' if number == 0 else chr(10)}{kind}")
        indent = "" if what else "  "
        if kind == "transforms":
            _write_transforms(indent=indent, verbose=verbose)
        else:
            _write(_table(kind, verbose=verbose), indent=indent, verbose=verbose or what is None)
    return 0


def _write(rows: Iterable[tuple[str, str]], *, indent: str, verbose: bool) -> None:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    for name, summary in rows:
        click.echo(f"{indent}{name:{width}}  {summary}".rstrip() if verbose else f"{indent}{name}")


def _table(kind: str, *, verbose: bool) -> list[tuple[str, str]]:
    match kind:
        case "models":
            return [*_checkpoints(), *_providers(verbose=verbose)]
        case "tasks":
            return [(name, TASKS.summary(name)) for name in TASKS]
        case "transforms":
            return [(name, entry.summary) for name, entry in ENTRIES.items()]
        case _:
            return list(FORMS.items())


def _records(kind: str) -> Iterator[dict[str, object]]:
    for name, summary in _table(kind, verbose=True):
        told: dict[str, object] = {"name": name, "summary": summary}
        if kind == "transforms":
            entry = ENTRIES[name]
            told |= {
                "family": entry.family,
                "kind": entry.kind,
                "twin": entry.twin,
                "interface": entry.interface,
                "languages": languages(name),
                "default": any(_standing(name, language) for language in languages(name) or ("",)),
            }
        yield told


def _checkpoints() -> list[tuple[str, str]]:
    return [(name, _card_line(card)) for name, card in catalogue.bundled().items()]


def _card_line(card: Mapping[str, object]) -> str:
    parameters = card.get("parameters")
    parts = [card.get("summary"), card.get("task")]
    told = [str(part) for part in parts if part]
    if isinstance(parameters, int):
        told.append(f"{parameters:,} parameters")
    return "; ".join(["bundled", *told])


def _providers(*, verbose: bool) -> list[tuple[str, str]]:
    rows = []
    for head in catalogue.PROVIDERS:
        try:
            provider = catalogue.PROVIDERS.get(head)
        except CannotAudit as error:
            rows.append((f"{head}/…", str(error)))
            continue
        taken = ", ".join(provider.arguments)
        summary = provider.summary + (f" (-M {taken})" if taken and verbose else "")
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
    width = max(map(len, ENTRIES))
    _write_members({"identity": ENTRIES["identity"]}, indent, width, verbose=verbose)
    for family in FAMILIES:
        (name,) = {entry.family for entry in family.ENTRIES.values()}
        click.echo(f"\n{indent}{name}: {(family.__doc__ or '').partition(chr(10))[0]}")
        _write_members(family.ENTRIES, f"{indent}  ", width, verbose=verbose)


def _write_members(members: Mapping[str, TransformEntry], indent: str, width: int, *, verbose: bool) -> None:
    for name, entry in members.items():
        if verbose:
            _write_transform(name, entry, indent)
        else:
            click.echo(f"{indent}{name:{width}}  {entry.summary}{_standing(name, entry.language)}")


def _write_transform(name: str, entry: TransformEntry, indent: str) -> None:
    click.echo(f"{indent}{name}{_standing(name, entry.language)}")
    twin = f"; its control: {entry.twin}" if entry.twin else ""
    for line in (entry.summary, _promise(entry) + twin, *_example(name, entry)):
        click.echo(f"{indent}    {line}".rstrip())


def _promise(entry: TransformEntry) -> str:
    if entry.kind == "preserving":
        return "keeps the meaning" + (", changes what callers see" if entry.interface else "")
    return "changes the meaning" if entry.kind == "control" else "changes nothing"


def _example(name: str, entry: TransformEntry) -> Iterator[str]:
    """The change of a transform's example, as a diff without its heading."""
    if not entry.example:
        return
    origin = Origin(path="<example>", line=1)
    sample = Sample(id="example", language=entry.language, source=entry.example, label=None, origin=origin)
    (outcome,) = perturb_one(sample, transform_for(name, entry.language), variants=1, seed=0, sites="all")
    if not isinstance(outcome, Perturbed):
        yield f"({outcome.reason})"
        return
    before, after = (text.removesuffix("\n").split("\n") for text in (entry.example, outcome.source))
    diff = difflib.unified_diff(before, after, lineterm="", n=CONTEXT)
    yield from (line for line in islice(diff, 2, None) if not line.startswith("@@"))


def _standing(name: str, language: str) -> str:
    default = (*STANDARD.get(language, ()), *CONTROLS.get(language, ()), "identity")
    return " [default]" if name in default else ""
