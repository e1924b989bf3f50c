"""Shell completion of models, tasks, transforms and corpora. It imports no framework."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from codeaudit.audit.corpora.specs import forms
from codeaudit.audit.models import catalogue
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.registry import ALL, TRANSFORMS
from codeaudit.transforms.registry import families as families_of

Items = list[CompletionItem]


def models(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """Bundled checkpoints, named models of a provider and the heads of specs; a folder otherwise."""
    named = [f"{head}/{name}" for head, provider in catalogue.providers().items() for name in provider.names]
    heads = [f"{head}/" for head, provider in catalogue.providers().items() if not provider.names]
    known = [*catalogue.bundled(), *named, *heads, f"{catalogue.CANONICAL}/"]
    return _starting(known, begun) or _files(begun)


def tasks(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """All tasks."""
    return _starting(TASKS, begun)


def transforms(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """Transforms and families; behind a comma those that are not named yet."""
    before, comma, last = begun.rpartition(",")
    named = before.split(",")
    families = dict.fromkeys(["identity", *(family.name for family in families_of())])
    free = (name for name in dict.fromkeys((ALL, *families, *TRANSFORMS)) if name not in named)
    return _starting((f"{before}{comma}{name}" for name in free if name.startswith(last)), begun)


def corpora(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """Corpora that have a name, and the beginnings of those with a part of their own; a file otherwise."""
    words = (form.partition(":")[0] for form, _ in forms() if not form.startswith("PATH"))
    return _starting(dict.fromkeys(words), begun) or _files(begun)


def _starting(names: Iterable[str], begun: str) -> Items:
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _files(begun: str) -> Items:
    return [CompletionItem(begun, type="file")]
