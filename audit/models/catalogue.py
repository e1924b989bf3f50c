"""The command line's SPEC of a model, read: names to lazy targets. Listing imports no framework."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Final

from codeaudit.audit import checkpoints
from codeaudit.audit.interface import Model
from codeaudit.audit.models.hf.arguments import ARGUMENTS as NETWORK_ARGUMENTS
from codeaudit.audit.models.openai.arguments import ARGUMENTS as ENDPOINT_ARGUMENTS
from codeaudit.audit.models.settings import Settings
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.loading import load_target

CANONICAL: Final = "canonical"
"""`canonical/MODEL` is that model behind the canonical form."""
COLUMNS: Final = "columns"
"""The wrapper that permutes the hidden columns of a model's weights."""
ENDPOINT: Final = "openai"
"""The provider whose models are at an address."""

Parser = Callable[[str], str | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A kind of models, `provider/name` on the command line."""

    target: str
    """`package.module:function` from (name, settings) to a model."""
    form: str
    summary: str
    names: Mapping[str, str] = field(default_factory=dict)
    """All that it has, each with its summary; empty where any name may do."""
    arguments: Mapping[str, Parser] = field(default_factory=dict)
    """What `-M` may set, with how its text is read."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    "fake": Provider(
        target="codeaudit.audit.models.fake:load",
        form="fake/NAME",
        summary="answers without understanding",
        names={
            "constant": "always the same answer: never flips, and sees no control either",
            "hash": "an answer that depends on every character: always flips",
            "length": "an answer by the number of lines and characters",
        },
    ),
    "py": Provider(
        target="codeaudit.audit.models.callable:load",
        form="py/MODULE:CALLABLE",
        summary="a callable from a list of queries to a list of answers",
        arguments={"version": str},
    ),
    "exec": Provider(
        target="codeaudit.audit.models.program:load",
        form="exec/COMMAND",
        summary='a program: a line {"id", "task", "language", "source"} in, a line {"id", "answer"} out',
        arguments={"version": str, "timeout": float},
    ),
    ENDPOINT: Provider(
        target="codeaudit.audit.models.openai.model:load",
        form="openai/MODEL",
        summary="a model behind an OpenAI-compatible endpoint, by default OpenAI's; see --base-url",
        arguments=ENDPOINT_ARGUMENTS,
    ),
    "hf": Provider(
        target="codeaudit.audit.models.hf.load:load",
        form="hf/NAME_OR_PATH",
        summary="a Hugging Face model: a folder, or a name on the hub",
        arguments=NETWORK_ARGUMENTS,
    ),
    "file": Provider(
        target="codeaudit.audit.models.predictions:load",
        form="file/PREDICTIONS",
        summary='answers made elsewhere for a suite: rows {"id", "answer"}, `id` being its column `input`',
        arguments={"id": str, "answer": str},
    ),
}


def bundled() -> dict[str, Mapping[str, object]]:
    """The bundled checkpoints with their model cards, by name, without loading any."""
    folders = sorted(path.parent for path in checkpoints.FOLDER.glob("*/config.json"))
    return {folder.name: _card(folder) for folder in folders}


def bundled_for(task: str, language: str | None = None) -> tuple[str, ...]:
    """The bundled checkpoints that were made for a task, and for a language if one is named.

    A card without languages is of a network that was made for none.
    """
    return tuple(
        name
        for name, card in bundled().items()
        if task in _tasks(card, otherwise=task)
        and (language is None or language in _languages(card, otherwise=language))
    )


def _tasks(card: Mapping[str, object], *, otherwise: str) -> tuple[str, ...]:
    named = card.get("tasks", [card.get("task", otherwise)])
    return tuple(map(str, named)) if isinstance(named, list) else (otherwise,)


def _languages(card: Mapping[str, object], *, otherwise: str) -> tuple[str, ...]:
    named = card.get("languages")
    return tuple(map(str, named)) if isinstance(named, list) else (otherwise,)


def check(spec: str) -> None:
    """Whether a SPEC names something that exists, as far as can be told without loading it.

    Raises:
        UsageError: no such model or provider; the message holds the nearest.
        ModelError: no such folder.
    """
    head, slash, name = spec.partition("/")
    if slash and head == CANONICAL:
        check(name)
    elif slash and head in PROVIDERS:
        names = PROVIDERS[head].names
        if names and name not in names:
            raise _unknown(spec)
    elif spec not in bundled() and not Path(spec).expanduser().is_dir():
        raise _unknown(spec)


def accepted(spec: str) -> frozenset[str]:
    """The `-M` arguments that a model takes."""
    head, _, name = spec.partition("/")
    if head == CANONICAL:
        return accepted(name)
    return frozenset(PROVIDERS[head].arguments) if head in PROVIDERS else frozenset()


def at_endpoint(spec: str) -> bool:
    """Whether a model is asked over the network, at the address that `--base-url` gives."""
    head, _, name = spec.partition("/")
    return at_endpoint(name) if head == CANONICAL else head == ENDPOINT


def load(spec: str, settings: Settings, given: Mapping[str, str]) -> Model:
    """The model that a SPEC names. `given` are its `-M` arguments as text.

    Raises:
        UsageError: no such model or provider, or an argument that it does not take.
        ModelError: the model exists and cannot be loaded.
    """
    head, slash, name = spec.partition("/")
    if slash and head == CANONICAL:
        return wrapped(load(name, settings, given))
    if slash and head in PROVIDERS:
        return _provided(head, name, settings, given)
    check(spec)
    if given:
        raise UsageError(f"model {spec!r} takes no -M arguments; given: {', '.join(sorted(given))}")
    place = spec if spec in bundled() else str(Path(spec).expanduser())
    trained = import_module("codeaudit.audit.papers.trained")
    model: Model = trained.load(place, device=settings.device, precision=settings.precision)
    return model


def wrapped(model: Model) -> Model:
    """The model behind the canonical form."""
    wrapper: Model = import_module("codeaudit.audit.models.canonical").Canonical(model)
    return wrapper


def permuted(model: Model, *, seed: int) -> Model:
    """The model with another way to answer repeated queries: with permuted weights.

    Raises:
        ModelError: it has no weights here.
    """
    wrapper: Model = import_module("codeaudit.audit.papers.permutation_equivariance.wrapper").Columns(
        model, seed=seed
    )
    return wrapper


def _provided(head: str, name: str, settings: Settings, given: Mapping[str, str]) -> Model:
    check(f"{head}/{name}")
    provider = PROVIDERS[head]
    arguments = {key: _typed(f"{head}/{name}", key, value) for key, value in given.items()}
    load_one: Callable[[str, Settings], Model] = load_target(provider.target)
    return load_one(name, replace(settings, arguments=arguments))


def _typed(spec: str, key: str, value: str) -> str | float:
    known = PROVIDERS[spec.partition("/")[0]].arguments
    if key not in known:
        raise UsageError(
            f"model {spec!r} takes no argument {key!r}; known: {', '.join(sorted(known)) or 'none'}"
        )
    try:
        return known[key](value)
    except ValueError as error:
        raise UsageError(
            f"argument {key}={value!r} of model {spec!r} must be a {known[key].__name__}"
        ) from error


def _unknown(spec: str) -> UsageError | ModelError:
    path = Path(spec).expanduser()
    if path.is_file():
        return ModelError(
            f"model {spec!r} is a file; a checkpoint is a folder with config.json and model.safetensors"
        )
    if spec.startswith((".", "/", "~")):
        return ModelError(f"no checkpoint at {spec!r}: there is no such folder")
    names = [f"{head}/{name}" for head, provider in PROVIDERS.items() for name in provider.names]
    known = [*bundled(), *names]
    near = get_close_matches(spec, known, n=1, cutoff=0.5)
    forms = [provider.form for provider in PROVIDERS.values() if not provider.names]
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join([*known, *forms, 'a folder'])}"
    return UsageError(f"unknown model {spec!r}; {hint}")


def _card(folder: Path) -> Mapping[str, object]:
    try:
        card = json.loads((folder / "model-card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return card if isinstance(card, dict) else {}
