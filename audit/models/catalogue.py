"""Reads the SPEC of a model on the command line: finds its provider, checks it, loads it.

A SPEC is `PROVIDER/REST`, `canonical/SPEC`, the name of a bundled checkpoint, or the folder of one.
Listing and checking import no framework.
"""

import logging
import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from codeaudit.audit import checkpoints
from codeaudit.audit.checks import load_json
from codeaudit.audit.interface import Model
from codeaudit.audit.models import hints
from codeaudit.audit.models.provider import (
    BASE_URL,
    BINDING,
    OPTIONS,
    Option,
    Provider,
    Settings,
    family,
)
from codeaudit.audit.models.text_models import samples, temperature
from codeaudit.transforms.columns import SEAL
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.registration import Entry, Registry, load_target, nearest

_log: Final = logging.getLogger(__name__)

CANONICAL: Final = "canonical"
"""`canonical/SPEC` is the model SPEC behind the canonical form."""
_PERMUTED: Final = {
    "columns": "codeaudit.audit.papers.permutation_equivariance.wrapper:PermutedColumns",
    "rows": "codeaudit.audit.papers.permutation_equivariance.wrapper:PermutedRows",
}
"""By the name of the wrapper: what permutes a model's network."""

PROVIDERS: Final[Registry[Provider]] = Registry(
    "model provider",
    {
        name: Entry(f"codeaudit.audit.models.{module}:PROVIDER", "")
        for name, module in {
            "fake": "fake",
            "py": "callable",
            "exec": "program",
            "openai": "openai.model",
            "hf": "hf.arguments",
            "file": "predictions",
            "inspect": "inspect.model",
        }.items()
    },
    {name: Entry(f"codeaudit.audit.models.inspect.model:{name.upper()}", "") for name in hints.SHORT},
    group="codeaudit.models",
    expects=Provider,
)
"""By the first part of a SPEC."""


def _load_checkpoint(spec: str, settings: Settings) -> Model:
    # A name that is also a folder here means the bundled checkpoint; `./NAME` means the folder.
    place = spec if spec in bundled() else str(Path(os.path.expanduser(spec)))
    model: Model = load_target("codeaudit.audit.papers.registry:load")(
        place, device=settings.device, precision=settings.precision
    )
    if settings.arguments:
        draw = getattr(model, "draw", None)
        if draw is None:
            options = ", ".join(f"-M {name}" for name in settings.arguments)
            raise UsageError(f"{spec!r} is no language model, so it has no {options}")
        draw(**settings.arguments)
    return model


CHECKPOINT: Final = Provider(
    form="PATH",
    summary="a folder that `codeaudit train` wrote",
    load=_load_checkpoint,
    accepts=frozenset({"device", "precision", "batch_size"}),
    arguments={"samples": samples, "temperature": temperature},
)
"""The provider of every SPEC without the name of a provider."""


def bundled() -> dict[str, Mapping[str, object]]:
    """The bundled checkpoints with their model cards, by name, without loading any."""
    return {name: _card(checkpoints.FOLDER / name) for name in checkpoints.names()}


def bundled_for(task: str, language: str | None = None) -> tuple[str, ...]:
    """The bundled checkpoints for a task, and for a language if one is named, of a run without `--model`.

    A card without languages is of a network that was made for none. A card with `"by_default": false` is of a
    checkpoint that is asked by its name only, such as the large one beside a small one.
    """
    return tuple(
        name
        for name, card in bundled().items()
        if card.get("by_default", True)
        and task in _tasks(card, otherwise=task)
        and (language is None or language in _languages(card, otherwise=language))
    )


def _tasks(card: Mapping[str, object], *, otherwise: str) -> tuple[str, ...]:
    named = card.get("tasks", [card.get("task", otherwise)])
    return tuple(map(str, named)) if isinstance(named, list) else (otherwise,)


def _languages(card: Mapping[str, object], *, otherwise: str) -> tuple[str, ...]:
    named = card.get("languages")
    return tuple(map(str, named)) if isinstance(named, list) else (otherwise,)


def check(spec: str) -> None:
    """Check that a SPEC names a known model, as far as this can be seen without loading it.

    Raises:
        UsageError: no such model or provider; the message contains the nearest name.
        ModelError: no such folder.
        CannotAudit: the provider is a broken plug-in.
    """
    head, slash, rest = spec.partition("/")
    if slash and head == CANONICAL:
        check(rest)
        return
    provider, rest = _provider_of(spec)
    if provider is CHECKPOINT:
        folder = Path(os.path.expanduser(spec))
        known = spec in bundled() or folder.is_dir()
        if spec not in bundled() and known and (hint := hints.for_folder(folder)):
            raise ModelError(f"model {spec!r} is no checkpoint of codeaudit; {hint}")
    else:
        known = not provider.names or rest in provider.names
        if head in PROVIDERS and hints.is_on_hub(head, rest):
            raise UsageError(f"unknown model {spec!r}; did you mean 'hf/{spec}'?")
    if not known:
        raise _unknown(spec)


def accepted_options(specs: Iterable[str]) -> frozenset[Option]:
    """The options of the command line that have an effect on at least one of these models."""
    return frozenset().union(*(_provider_of(spec)[0].accepts for spec in specs))


def check_options(specs: Iterable[str], options: Iterable[Option]) -> None:
    """Check that each of the given options has an effect on at least one of these models.

    An address without effect is an error, because the answers would come from another model than
    the user means; so is a limit on the spending without effect.
    The other options change speed or precision only, so a line on stderr says that they have no effect.

    Raises:
        UsageError: no model accepts an option of `BINDING`; the message lists the models that do.
    """
    accepted = accepted_options(specs)
    for option in options:
        if option not in accepted:
            able = [
                provider.form
                for provider in (*providers().values(), CHECKPOINT)
                if option in provider.accepts
            ]
            message = f"{OPTIONS[option]}: no model here accepts it; it goes with {', '.join(able)}"
            if option in BINDING:
                raise UsageError(message)
            _log.warning("codeaudit: %s", message)


def accepted(spec: str) -> frozenset[str]:
    """The `-M` arguments of a model; `headers.NAME` stands for all that begin with `headers.`."""
    provider = _provider_of(spec)[0]
    extra = {BASE_URL} if provider.takes(BASE_URL) else set()
    return frozenset(provider.arguments) | extra


def is_among(key: str, accepted: Collection[str]) -> bool:
    """Whether an `-M` argument is one of the accepted ones."""
    return family(key) in accepted


def key_of(spec: str) -> str:
    """The variable of the key that a model is asked with if no argument names another; empty for none."""
    return _provider_of(spec)[0].key


def task_of(spec: str) -> str | None:
    """The task that a checkpoint was made for, as its files say; `None` for every other model."""
    spec = spec.removeprefix(f"{CANONICAL}/")
    if spec in bundled():
        return _word(bundled()[spec].get("task"))
    return _word(_read_json(Path(os.path.expanduser(spec)) / "config.json").get("task"))


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def runs_here(spec: str) -> bool:
    """Whether a model works on this machine, so that its answers cost time and mostly nothing else: on a
    device, or as a callable or a program of the user's.
    """
    provider = _provider_of(spec)[0]
    return "device" in provider.accepts or provider.runs_here


def base_url(specs: Iterable[str], url: str | None) -> str | None:
    """The address of the models behind an endpoint: the given one, else the default; `None` without any."""
    for provider in (_provider_of(spec)[0] for spec in specs):
        if "base_url" in provider.accepts:
            return url or (provider.default_base_url() if provider.default_base_url else None)
    return None


def load(spec: str, settings: Settings, texts: Mapping[str, str]) -> Model:
    """The model of a SPEC. `texts` are its `-M` arguments as text.

    Raises:
        UsageError: no such model or provider, or an argument that it does not take.
        ModelError: the model exists and cannot be loaded.
        CannotAudit: the provider is a broken plug-in.
    """
    head, slash, rest = spec.partition("/")
    if slash and head == CANONICAL:
        return wrapped(load(rest, settings, texts))
    check(spec)
    provider, rest = _provider_of(spec)
    _check_seal(spec, Path(os.path.expanduser(rest)))
    return provider.model(spec, rest, settings, texts)


def _check_seal(spec: str, folder: Path) -> None:
    """Tell of a checkpoint that `codeaudit seal` wrote, because nothing else shows it.

    Raises:
        ModelError: it is encrypted.
    """
    path = folder / SEAL
    if not path.is_file():
        return
    try:
        seal = load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    remedy = f"codeaudit unseal {shlex.quote(str(folder))} --key KEY --out DIR"
    if isinstance(seal, dict) and seal.get("scheme") == "cipher":
        raise ModelError(f"the weights of {spec!r} are encrypted; first: {remedy}")
    _log.warning("codeaudit: %s is sealed: without its key it answers worse; %s", spec, remedy)


def providers() -> dict[str, Provider]:
    """All providers by name, without broken plug-ins."""
    return dict(PROVIDERS.working())


def _provider_of(spec: str) -> tuple[Provider, str]:
    """The provider of a model, or of the model inside `canonical/`, and the REST that it is given."""
    head, slash, rest = spec.partition("/")
    if slash and head == CANONICAL:
        return _provider_of(rest)
    return (PROVIDERS.get(head), rest) if slash and head in PROVIDERS else (CHECKPOINT, spec)


def wrapped(model: Model) -> Model:
    """The model behind the canonical form."""
    wrapper: Model = load_target("codeaudit.audit.models.wrappers:canonical")(model)
    return wrapper


def permuted(model: Model, wrap: str, *, seed: int) -> Model:
    """The model, which also answers with its network permuted and broken.

    Raises:
        ModelError: it has no weights here.
    """
    wrapper: Model = load_target(_PERMUTED[wrap])(model, seed=seed)
    return wrapper


def _unknown(spec: str) -> UsageError | ModelError:
    path = Path(os.path.expanduser(spec))
    if path.is_file():
        hint = hints.for_file(path) or "a checkpoint is a folder with config.json and model.safetensors"
        return ModelError(f"model {spec!r} is a file; {hint}")
    if steps := hints.near_steps(path):
        return ModelError(f"no checkpoint at {spec!r}; there are {steps}")
    meant = hints.for_word(spec)
    if spec.startswith((".", "/", "~")) and not meant.startswith("py/"):  # certainly a path
        return ModelError(f"no checkpoint at {spec!r}: there is no such folder")
    names = [f"{head}/{name}" for head, provider in providers().items() for name in provider.names]
    known = [*bundled(), *names]
    head, slash, rest = spec.partition("/")
    if head in PROVIDERS:
        provider = PROVIDERS.get(head)
        near_own = nearest(spec, [f"{head}/{name}" for name in provider.names])
        known_own = "known: " + ", ".join(f"{head}/{name}" for name in provider.names)
        hint = known_own if provider.names else f"write {provider.form}"
        return UsageError(f"unknown model {spec!r}; {f'did you mean {near_own!r}?' if near_own else hint}")
    # `opnai/gpt` is nearer to `openai/gpt` than to any known name. `microsoft/codebert-base` is near no name
    # of ours, whatever letters they share.
    strange = slash and head not in PROVIDERS
    heads = get_close_matches(head.lower(), PROVIDERS, n=1, cutoff=0.7) if strange else []
    if heads and (head.lower() in PROVIDERS or head.lower() not in hints.NAMED_FOR_URLS):
        near: str | None = f"{heads[0]}/{rest}"
    else:
        near = meant if meant and head not in PROVIDERS else nearest(spec, known)
    forms = [
        provider.form
        for name, provider in providers().items()
        if not provider.names and name not in hints.SHORT
    ]
    if near:
        return UsageError(f"unknown model {spec!r}; did you mean {near!r}?")
    alike = get_close_matches(spec, known, n=3, cutoff=0)
    return UsageError(
        f"unknown model {spec!r}; known: {', '.join([*alike, *forms, 'a folder'])}, …; "
        "codeaudit list models shows all"
    )


def _card(folder: Path) -> Mapping[str, object]:
    return _read_json(folder / "model-card.json")


def _read_json(path: Path) -> Mapping[str, object]:
    """The object in a file; empty if there is none."""
    try:
        content = load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
