"""The `-M` arguments that every endpoint provider takes, and readers for further ones.

A reader turns an argument's text into its value and raises `UsageError` with the reason.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from math import isfinite
from typing import Final, Self, TypeVar

from codeaudit.audit.models.provider import ArgumentReader, Settings
from codeaudit.audit.models.text_models import TEMPERATURE, Prompts, draws, named, read_template
from codeaudit.audit.prompts import Prompt
from codeaudit.transforms.errors import UsageError

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How many requests are sent at once and in a minute, and how long failures are endured."""

    concurrency: int | None = None
    """Requests at once, fewer if the endpoint says that there are too many; `None`: find the best number."""
    timeout: float = 120.0
    """Seconds for one request, from connecting to the last byte."""
    retries: int = 5
    """Times that a request is repeated after 408, 409, 425, 429, 5xx, a timeout or a broken connection."""
    backoff: float = 0.5
    """Seconds before the first repetition, doubled for each further one, up to 8 s. `Retry-After` wins."""
    patience: float = 600.0
    """Seconds without an answer to any query after which the run ends."""
    unreadable: int = 20
    """Replies in a row without a readable answer after which the run ends; 0 for no end."""
    failures: int = 32
    """Queries in a row without a reply, after all their retries, after which the run ends; 0 for no end."""
    rpm: float | None = None
    """Largest number of requests in any minute; `None` without a limit."""
    tpm: float | None = None
    """Largest number of tokens, of prompts and replies, in any minute."""

    @classmethod
    def read(cls, settings: Settings) -> Self:
        """The given arguments; defaults for the others."""
        return cls(**arguments_of(settings, *(field.name for field in fields(cls))))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per million tokens, in any currency."""

    into: float = 0.0
    """For the tokens of prompts."""
    out: float = 0.0
    """For the tokens of replies."""

    @classmethod
    def read(cls, settings: Settings) -> Self | None:
        """The given prices; `None` without any, because then no cost can be computed.

        Raises:
            UsageError: the cost is limited, and a price is missing.
        """
        prices = arguments_of(settings, "price_in", "price_out")
        if settings.max_cost is not None and len(prices) < 2:
            flag = settings.flag
            raise UsageError(
                f"--max-cost needs both prices per million tokens: write {flag}price_in=X {flag}price_out=Y"
            )
        if not prices:  # a cost of 0 would look as if the endpoint were free
            return None
        return cls(into=float(prices.get("price_in") or 0), out=float(prices.get("price_out") or 0))

    def cost(self, into: float, out: float, *, batched: bool = False) -> float:
        """The cost of `into` tokens of prompts and `out` tokens of replies, singly or in a batch."""
        return (into * self.into + out * self.out) / 1e6 * (BATCH_SHARE if batched else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """How queries are asked as batches."""

    wait: float | None
    """Seconds to wait for answers; `None` without an end."""

    @classmethod
    def read(cls, settings: Settings) -> Self | None:
        """Batching by the arguments of a model; `None` without batches.

        Raises:
            UsageError: a wait is given without batches.
        """
        waits = settings.arguments.get("batch_wait")
        if settings.arguments.get("batch") is not True:
            if waits is not None:
                raise UsageError(f"{settings.flag}batch_wait needs {settings.flag}batch=true")
            return None
        return cls(wait=None if waits is None else float(waits))


BATCH_SHARE: Final = 0.5
"""What a token costs in a batch, of its usual price, with every vendor that has batches."""


def arguments_of(settings: Settings, *names: str) -> dict[str, str | float]:
    """The arguments of these names that the user set."""
    return {name: settings.arguments[name] for name in names if name in settings.arguments}


def read_number(key: str, text: str, *, least: float, above: bool = False) -> float:
    """A finite number of at least `least`, or above it.

    Raises:
        UsageError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    # `float` reads "nan" and "inf", too, which are no limits.
    if not isfinite(value) or value < least or (above and value == least):
        raise UsageError(f"-M {key}={text} must be a number {'above' if above else 'of at least'} {least:g}")
    return value


def read_count(key: str, text: str, *, least: int | None) -> int:
    """A whole number of at least `least`; any for `None`.

    Raises:
        UsageError: it is none.
    """
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is None or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise UsageError(f"-M {key}={text} must be a whole number{bound}")
    return value


ENDPOINT_ARGUMENTS: Final[Mapping[str, ArgumentReader]] = {
    "concurrency": partial(read_count, "concurrency", least=1),
    "timeout": partial(read_number, "timeout", least=0, above=True),
    "retries": partial(read_count, "retries", least=0),
    "backoff": partial(read_number, "backoff", least=0),
    "patience": partial(read_number, "patience", least=0, above=True),
    "unreadable": partial(read_count, "unreadable", least=0),
    "failures": partial(read_count, "failures", least=0),
    "rpm": partial(read_number, "rpm", least=0, above=True),
    "tpm": partial(read_number, "tpm", least=0, above=True),
    "price_in": partial(read_number, "price_in", least=0),
    "price_out": partial(read_number, "price_out", least=0),
}
"""The readers of `Patience` and `Prices`."""


BATCH_ARGUMENTS: Final[Mapping[str, ArgumentReader]] = {
    "batch": bool,
    "batch_wait": partial(read_number, "batch_wait", least=0),
}
"""The readers of `Batching`."""


# ── arguments of some endpoints ──────────────────────────────────────────────────────────────────────────

NONE: Final = "none"
"""The text of an argument whose field is not sent."""


def or_none(read: Callable[[str], float], text: str) -> str | float:
    """The value of an argument, or `none`."""
    return NONE if text == NONE else read(text)


def one_of(key: str, known: tuple[str, ...], text: str) -> str:
    """A word that is one of the known ones.

    Raises:
        UsageError: it is none.
    """
    if text not in known:
        raise UsageError(f"-M {key}={text} must be one of: {', '.join(known)}")
    return text


def json_object(key: str, text: str) -> str:
    """Check the JSON text of an object.

    Raises:
        UsageError: it is none.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(f'-M {key} must be a JSON object, as {{"top_k": 1}}')
    return text


def shown_name(text: str) -> str:
    """What a model is called in the report.

    Raises:
        UsageError: it does not fit into one line.
    """
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
        raise UsageError(f"-M name must be a text in one line, at most {LONGEST_NAME} characters long")
    return text.strip()


LONGEST_NAME: Final = 60


def check_answers_differ(arguments: Mapping[str, str | float | None], body: Mapping[str, object]) -> None:
    """Raises: UsageError if all answers to a query would be equal."""
    several = f"-M samples={arguments['samples']}"
    if arguments.get("temperature") == 0:
        raise UsageError(
            f"{several} with temperature=0 would be one answer many times; write a temperature above 0, "
            f"or leave it out for {TEMPERATURE}"
        )
    if names := sorted({"seed", "temperature"} & body.keys()):
        raise UsageError(
            f"{several}: each answer has a seed of its own, so that -M extra_body cannot set {names[0]}; "
            f"write -M {names[0]}=VALUE"
        )


def sent(value: str | float | None) -> str | float | None:
    """The value of an argument; `None` if it is not to be sent."""
    return None if value == NONE else value


def prompts(settings: Settings) -> Prompts:
    """The prompts that the user named, or those with the user's template and system turn.

    Raises:
        ModelError: the template cannot be read.
        UsageError: there is no such prompt, or the template has no place for the code.
    """
    template, system = (sent(settings.arguments.get(key)) for key in ("template", "system"))
    return named(
        str(settings.arguments.get("prompt", "")),
        template=None if template is None else read_template(str(template)),
        system=None if system is None else str(system),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDecoding:
    """What decides an answer of every vendor's model, besides the model and the prompt."""

    temperature: float | None = 0.0
    seed: int | None = 0
    samples: int = 1
    """How many answers are drawn for a query, each with its own request and seed."""
    max_tokens: int | None = 256
    bounded: bool = False
    """Whether the user set `max_tokens`. If not, a prompt may ask for longer answers."""

    def longest(self, prompt: Prompt) -> int | None:
        """The limit on the tokens of a reply to a prompt; `None` without one."""
        # A prompt that asks for code or thoughts may need more tokens. The user's own limit holds.
        return self.max_tokens if prompt.longest is None or self.bounded else prompt.longest

    def seed_of(self, attempt: int) -> int | None:
        """The seed of an answer; each of several has its own (31 bits, as all servers take)."""
        if self.samples == 1 or self.seed is None:
            return self.seed
        return draws(attempt, seed=self.seed).getrandbits(31)
