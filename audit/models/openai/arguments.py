"""What `-M` may set for an endpoint, and what it is asked with."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlencode

from codeaudit.audit.models.prompts import Prompts, customised
from codeaudit.audit.models.samples import TEMPERATURE, draws, samples
from codeaudit.audit.models.settings import Settings
from codeaudit.transforms.errors import UsageError

NONE: Final = "none"
"""The value of an argument that is not to be sent."""
OURS: Final = frozenset({"messages", "model", "n", "prompt", "stream"})
"""Fields of a request that `extra_body` cannot set."""

Api = Literal["chat", "completions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """All that decides an answer apart from the model and the prompt."""

    api: Api = "chat"
    """Which of an endpoint's two faces is asked: a chat, or the continuation of a text."""
    temperature: float | None = 0.0
    seed: int | None = 0
    samples: int = 1
    """How many answers a query has, each with a request and a seed of its own."""
    max_tokens: int | None = 256
    bounded: bool = False
    """Whether the user set that bound, so that no longer answers are asked for."""
    tokens_field: str = "max_tokens"
    """What the endpoint calls the bound on the tokens of an answer."""
    extra_body: Mapping[str, object] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, object]:
        """The fields of a request; what is not to be sent is absent."""
        return self.sent(None)

    def sent(self, longest: int | None, *, seed: int | None = None) -> dict[str, object]:
        """The same where an answer may take so many tokens, or has a seed of its own, if that is told."""
        bound = self.max_tokens if longest is None or self.bounded else longest
        seed = self.seed if seed is None else seed
        known = {"temperature": self.temperature, "seed": seed, self.tokens_field: bound}
        return {name: value for name, value in known.items() if value is not None}

    def seed_of(self, attempt: int) -> int | None:
        """The seed of one of several answers, of 31 bits, as all servers take; `None` for the common one."""
        if self.samples == 1 or self.seed is None:
            return None
        return draws(attempt, seed=self.seed).getrandbits(31)

    def __str__(self) -> str:
        """Every parameter, those that are not sent too, in a form to read and to compare."""
        told: dict[str, object] = {
            "api": self.api,
            "temperature": self.temperature,
            "seed": self.seed,
            self.tokens_field: self.max_tokens,
        }
        told = {name: NONE if value is None else value for name, value in told.items()}
        if self.samples > 1:
            told["samples"] = self.samples
        if self.extra_body:
            told["extra_body"] = json.dumps(self.extra_body, sort_keys=True, separators=(",", ":"))
        return urlencode(told, safe='{}":,[]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How hard an endpoint is asked, and for how long."""

    concurrency: int = 8
    """Requests under way at once, at most; fewer where the endpoint says that they are too many."""
    timeout: float = 120.0
    """Seconds for one request, from connecting to the last byte."""
    retries: int = 5
    """Times that a query is asked again after 408, 409, 425, 429, 5xx, a timeout or a broken connection."""
    backoff: float = 0.5
    """Seconds before the first of them; doubled for each that follows, up to 8 s. `Retry-After` wins."""
    patience: float = 600.0
    """Seconds without an answer to any query after which the run ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Per million tokens, in any currency."""

    into: float = 0.0
    out: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """All `-M` arguments of an endpoint, read."""

    decoding: Decoding
    patience: Patience
    prices: Prices | None
    """`None` where no price is given, so that no cost is told."""
    prompts: Prompts
    version: str | None


def _number(key: str, text: str, *, least: float, above: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or value < least or (above and value == least):
        raise UsageError(f"-M {key}={text} must be a number {'above' if above else 'of at least'} {least:g}")
    return value


def _count(key: str, text: str, *, least: int | None) -> float:
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is None or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise UsageError(f"-M {key}={text} must be a whole number{bound}")
    return value


def _or_none(read: Callable[[str], float], text: str) -> str | float:
    return NONE if text == NONE else read(text)


def _one_of(key: str, known: tuple[str, ...], text: str) -> str:
    if text not in known:
        raise UsageError(f"-M {key}={text} must be one of: {', '.join(known)}")
    return text


def _body(text: str) -> str:
    """The text itself, which `json.loads` will read."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError('-M extra_body must be a JSON object, as {"top_k": 1}')
    if taken := sorted(OURS & value.keys()):
        raise UsageError(f"-M extra_body cannot set {', '.join(taken)}")
    return text


_seed = partial(_count, "seed", least=None)
_max_tokens = partial(_count, "max_tokens", least=1)
_temperature = partial(_number, "temperature", least=0)

ARGUMENTS: Final[Mapping[str, Callable[[str], str | float]]] = {
    "api": partial(_one_of, "api", ("chat", "completions")),
    "temperature": partial(_or_none, _temperature),
    "seed": partial(_or_none, _seed),
    "samples": samples,
    "max_tokens": partial(_or_none, _max_tokens),
    "tokens_field": partial(_one_of, "tokens_field", ("max_tokens", "max_completion_tokens")),
    "extra_body": _body,
    "system": str,
    "template": str,
    "concurrency": partial(_count, "concurrency", least=1),
    "timeout": partial(_number, "timeout", least=0, above=True),
    "retries": partial(_count, "retries", least=0),
    "backoff": partial(_number, "backoff", least=0),
    "patience": partial(_number, "patience", least=0, above=True),
    "price_in": partial(_number, "price_in", least=0),
    "price_out": partial(_number, "price_out", least=0),
    "version": str,
}
"""How the text of each is read; each says itself what is wrong with it."""


def arguments(settings: Settings) -> Arguments:
    """The arguments that were given, over the defaults.

    Raises:
        UsageError: the template cannot be read or has no place for the code, or several answers would be
            equal.
    """
    given = {key: None if value == NONE else value for key, value in settings.arguments.items()}

    def of(*names: str) -> dict[str, object]:
        return {name: given[name] for name in names if name in given}

    body = json.loads(str(given.get("extra_body") or "{}"))
    if given.get("samples", 1) != 1:
        _see_that_they_differ(given, body)
        given.setdefault("temperature", TEMPERATURE)
    decoding = Decoding(
        **of("api", "temperature", "seed", "samples", "max_tokens", "tokens_field"),  # type: ignore[arg-type]
        bounded="max_tokens" in given,
        extra_body=body,
    )
    patience = Patience(
        **of("concurrency", "timeout", "retries", "backoff", "patience")  # type: ignore[arg-type]
    )
    priced = "price_in" in given or "price_out" in given
    prices = Prices(into=float(given.get("price_in") or 0), out=float(given.get("price_out") or 0))
    version = given.get("version")
    return Arguments(
        decoding=decoding,
        patience=patience,
        prices=prices if priced else None,
        prompts=_prompts(given.get("template"), given.get("system")),
        version=None if version is None else str(version),
    )


def _see_that_they_differ(given: Mapping[str, str | float | None], body: Mapping[str, object]) -> None:
    """Refuse what would make all answers to a query the same one."""
    several = f"-M samples={given['samples']}"
    if given.get("temperature") == 0:
        raise UsageError(
            f"{several} with temperature=0 would be one answer many times; write a temperature above 0, "
            f"or leave it out for {TEMPERATURE}"
        )
    if taken := sorted({"seed", "temperature"} & body.keys()):
        raise UsageError(
            f"{several}: each answer has a seed of its own, so that -M extra_body cannot set {taken[0]}; "
            f"write -M {taken[0]}=VALUE"
        )


def _prompts(template: str | float | None, system: str | float | None) -> Prompts:
    text = None
    if template is not None:
        try:
            text = Path(str(template)).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise UsageError(f"cannot read -M template={template}: {why}") from error
    return customised(template=text, system=None if system is None else str(system))
