"""`codeaudit list`: what there is to name on the command line. Imports no engine and no framework."""

from collections.abc import Iterable, Mapping
from typing import Final

import click

from audit.corpora.specs import FORMS
from audit.models import catalogue
from audit.registry import TASKS
from transforms.registry import CONTROLS, STANDARD, TRANSFORMS

KINDS: Final = ("models", "tasks", "transforms", "corpora")


@click.command("list")
@click.argument("what", type=click.Choice(KINDS), required=False)
@click.option("--verbose", "-v", is_flag=True, help="Say what each one is.")
def listing(what: str | None, verbose: bool) -> int:
    """List models, tasks, transforms or corpora; all of them without an argument."""
    for number, kind in enumerate(KINDS if what is None else [what]):
        if what is None:
            click.echo(f"{'' if number == 0 else chr(10)}{kind}")
        _write(_table(kind, verbose=verbose), indent="" if what else "  ", verbose=verbose or what is None)
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
            return [(name, TRANSFORMS.summary(name) + _standing(name)) for name in TRANSFORMS]
        case _:
            return list(FORMS.items())


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
    for head, provider in catalogue.PROVIDERS.items():
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


def _standing(name: str) -> str:
    standard = any(name in names for names in STANDARD.values())
    control = any(name in names for names in CONTROLS.values())
    return " [default]" if standard or control or name == "identity" else ""
