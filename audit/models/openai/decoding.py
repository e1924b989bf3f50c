"""What decides an answer behind an OpenAI-compatible endpoint, besides the model and the prompt."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Self
from urllib.parse import urlencode

from codeaudit.audit.models.endpoints.arguments import (
    NONE,
    BaseDecoding,
    arguments_of,
    check_answers_differ,
    sent,
)
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.models.text_models import KWARGS, TEMPERATURE, chat_arguments
from codeaudit.transforms.errors import UsageError

Api = Literal["chat", "completions", "responses", "embeddings"]
EMBEDDINGS: Final = "embeddings"
_WRITING: Final = (
    *("temperature", "seed", "samples", "max_tokens", "tokens_field", "reasoning_effort", "structured"),
    *("logprobs", "noise", "stream", "system", "template", "prompt"),
)
"""Arguments about texts that a model writes, which have no effect on embeddings."""
TOKENS: Final = ("max_tokens", "max_completion_tokens")
"""The names of the limit on the tokens of a reply in a chat."""
EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
_REASONING: Final = re.compile(r"(?:\A|[/:_-])(?:o[1-9](?!\d)|gpt-[5-9])(?!\w*-chat\b)", re.I)
"""In the names of OpenAI's models that think before they answer, wherever they are served. They take no
temperature, and another name for the limit on tokens."""


def reasons(model: str) -> bool:
    """Whether a model is known by its name to be one of OpenAI's that think before they answer."""
    return _REASONING.search(model) is not None


LIKELIEST: Final = 5
"""Number of tokens whose log-probabilities are asked for, at each place of a reply."""
LOGPROBS: Final[Mapping[Api, Mapping[str, object]]] = {
    "chat": {"logprobs": True, "top_logprobs": LIKELIEST},
    "completions": {"logprobs": LIKELIEST},
    "responses": {"top_logprobs": LIKELIEST, "include": ["message.output_text.logprobs"]},
}
"""The fields that ask for them, by interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding(BaseDecoding):
    """Everything except the model and the prompt that decides an answer."""

    api: Api = "chat"
    """Which interface of the endpoint is used: chat, or continuation of a text."""
    tokens_field: str = "max_tokens"
    """The endpoint's name of the field `max_tokens`."""
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Further fields of each request."""
    reasoning_effort: str | None = None
    """How much a model shall think; `None`: the field is not sent."""
    structured: bool = False
    """Whether the reply must be a JSON object with the answer in it."""
    logprobs: bool = False
    """Whether replies come with the log-probabilities of their tokens."""
    stream: bool = False
    """Whether replies are asked for as streams of events. They have the same text."""

    @classmethod
    def read(cls, settings: Settings, model: str = "") -> Self:
        """The given arguments; defaults for the others, which depend on the `model`.

        Raises:
            UsageError: several answers are wanted and all would be equal, or arguments do not go together.
        """
        # `-M seed=none` is another thing than no argument: the field is not sent, instead of its default.
        names = ("api", "temperature", "seed", "samples", "max_tokens", "tokens_field", "reasoning_effort")
        arguments = {key: sent(value) for key, value in arguments_of(settings, *names).items()}
        structured = settings.arguments.get("structured") is True
        logprobs = settings.arguments.get("logprobs") is True
        _check_api(str(arguments.get("api", "chat")), settings, structured=structured)
        _check_logprobs(settings, logprobs=logprobs)
        if arguments.get("api") == EMBEDDINGS:
            arguments |= {"temperature": None, "seed": None, "max_tokens": None}
        if arguments.get("api") == "responses":
            arguments |= {"seed": None, "tokens_field": "max_output_tokens"}
        if reasons(model):
            arguments = {"temperature": None, "tokens_field": "max_completion_tokens", **arguments}
        # Nobody knows how long a model thinks; its own limit holds unless the user gives one.
        if reasons(model) or "reasoning_effort" in arguments:
            arguments.setdefault("max_tokens", None)
        # The text was checked by its reader.
        body = json.loads(str(settings.arguments.get("extra_body") or "{}"))
        if arguments.get("samples", 1) != 1:
            check_answers_differ(arguments, body)
            arguments.setdefault("temperature", TEMPERATURE)
        stream = settings.arguments.get("stream") is True
        return cls(
            **arguments,  # type: ignore[arg-type]
            bounded="max_tokens" in arguments,
            extra_body=({KWARGS: chat} if (chat := chat_arguments(settings.arguments)) else {}) | body,
            stream=stream,
            structured=structured,
            logprobs=logprobs,
        )

    @property
    def fields(self) -> dict[str, object]:
        """The fields of a request; fields that are not sent are absent."""
        return self.sent(self.max_tokens)

    def sent(self, bound: int | None, *, seed: int | None = None) -> dict[str, object]:
        """The fields of a request for replies of up to `bound` tokens, with an answer's own `seed`."""
        seed = self.seed if seed is None else seed
        fields: dict[str, object] = {
            "temperature": self.temperature,
            "seed": seed,
            self.tokens_field: bound,
        }
        if self.reasoning_effort is not None:
            nested = self.api == "responses"
            name = "reasoning" if nested else "reasoning_effort"
            fields[name] = {"effort": self.reasoning_effort} if nested else self.reasoning_effort
        if self.logprobs:
            fields |= LOGPROBS[self.api]
        return {name: value for name, value in fields.items() if value is not None}

    def __str__(self) -> str:
        """Every parameter, also those that are not sent, as text for fingerprints."""
        fields = {"temperature": self.temperature, "seed": self.seed, self.tokens_field: self.max_tokens}
        values: dict[str, object] = {"api": self.api}
        values |= {name: NONE if value is None else value for name, value in fields.items()}
        # Only if they are set, so that cached answers of models without them stay valid.
        if self.samples > 1:
            values["samples"] = self.samples
        if self.reasoning_effort is not None:
            values["reasoning_effort"] = self.reasoning_effort
        if self.structured:
            values["structured"] = "true"
        if self.logprobs:
            values["logprobs"] = LIKELIEST
        if self.extra_body:
            values["extra_body"] = json.dumps(self.extra_body, sort_keys=True, separators=(",", ":"))
        return urlencode(values, safe='{}":,[]')


def _check_api(api: str, settings: Settings, *, structured: bool) -> None:
    """Raises: UsageError if an interface does not have what an argument asks for."""
    arguments = settings.arguments
    if api == EMBEDDINGS and (idle := [name for name in _WRITING if name in arguments]):
        raise UsageError(f"{settings.flag}{idle[0]} has no effect on embeddings; leave it out")
    if api == "completions" and structured:
        raise UsageError(f"{settings.flag}structured goes with chats only; leave out {settings.flag}api")
    if api != "responses":
        return
    if arguments.get("seed", NONE) != NONE:
        raise UsageError(f"{settings.flag}seed: the interface `responses` has no seed; leave it out")
    if "tokens_field" in arguments or arguments.get("stream") is True:
        name = "stream" if arguments.get("stream") is True else "tokens_field"
        raise UsageError(f"{settings.flag}{name} does not go with {settings.flag}api=responses; leave it out")


def _check_logprobs(settings: Settings, *, logprobs: bool) -> None:
    """Raises: UsageError if an argument has no effect, or does not go with another one."""
    flag = settings.flag
    if logprobs and settings.arguments.get("stream") is True:
        raise UsageError(f"{flag}logprobs does not go with {flag}stream; leave out one of them")
    if "noise" in settings.arguments and not logprobs:
        raise UsageError(f"{flag}noise needs {flag}logprobs=true: without them no flip has a margin")
