"""What decides an answer of a vendor's model, besides the model and the prompt."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from codeaudit.audit.models.endpoints.arguments import (
    NONE,
    BaseDecoding,
    arguments_of,
    check_answers_differ,
    json_object,
    one_of,
    read_count,
    read_number,
    sent,
)
from codeaudit.audit.models.provider import ArgumentReader, Settings
from codeaudit.audit.models.text_models import TEMPERATURE
from codeaudit.transforms.errors import UsageError

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
LIKELIEST: Final = 5
"""Number of tokens whose log-probabilities are asked for, at each place of a reply."""
OPTIONS: Final[Mapping[str, ArgumentReader]] = {
    "top_p": partial(read_number, "top_p", least=0),
    "top_k": partial(read_count, "top_k", least=1),
    "frequency_penalty": partial(read_number, "frequency_penalty", least=-2),
    "presence_penalty": partial(read_number, "presence_penalty", least=-2),
    "effort": partial(one_of, "effort", EFFORTS[2:]),
    "verbosity": partial(one_of, "verbosity", ("low", "medium", "high")),
    "reasoning_effort": partial(one_of, "reasoning_effort", EFFORTS),
    "reasoning_tokens": partial(read_count, "reasoning_tokens", least=0),
    "reasoning_summary": partial(one_of, "reasoning_summary", ("none", "concise", "detailed", "auto")),
    "cache_prompt": bool,
    "extra_body": partial(json_object, "extra_body"),
}
"""Options of `inspect_ai.model.GenerateConfig`, by their names there. What is not given is not sent."""
LOGPROBS: Final = ("logprobs", "top_logprobs", "responseLogprobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorDecoding(BaseDecoding):
    """Everything except the model and the prompt that decides an answer."""

    options: Mapping[str, object] = field(default_factory=dict)
    """Further options of inspect-ai, by name."""
    logprobs: bool = False
    """Whether replies come with the log-probabilities of their tokens, of vendors that give them."""

    @classmethod
    def read(cls, settings: Settings) -> "VendorDecoding":
        """The given arguments; defaults for the others.

        Raises:
            UsageError: several answers are wanted and all would be equal.
        """
        names = ("temperature", "seed", "samples", "max_tokens")
        arguments: dict[str, Any] = {
            key: sent(value) for key, value in arguments_of(settings, *names).items()
        }
        options: dict[str, object] = dict(arguments_of(settings, *OPTIONS))
        if "extra_body" in options:
            options["extra_body"] = json.loads(str(options["extra_body"]))
        if arguments.get("samples", 1) != 1:
            check_answers_differ(arguments, {})
            arguments.setdefault("temperature", TEMPERATURE)
        # A model that reasons needs room for it, which nobody can know; its own default holds.
        if "max_tokens" not in arguments and options.keys() & {
            "reasoning_effort",
            "reasoning_tokens",
            "effort",
        }:
            arguments["max_tokens"] = None
        logprobs = settings.arguments.get("logprobs") is True
        if "noise" in settings.arguments and not logprobs:
            flag = settings.flag
            raise UsageError(f"{flag}noise needs {flag}logprobs=true: without them no flip has a margin")
        return cls(**arguments, bounded="max_tokens" in arguments, options=options, logprobs=logprobs)

    def __str__(self) -> str:
        """Every parameter, also those that are not sent, as text for fingerprints."""
        numbers = {"temperature": self.temperature, "seed": self.seed, "max_tokens": self.max_tokens}
        values: dict[str, object] = {
            name: NONE if value is None else value for name, value in numbers.items()
        }
        if self.samples > 1:
            values["samples"] = self.samples
        if self.logprobs:
            values["logprobs"] = LIKELIEST
        values |= {
            name: json.dumps(value, sort_keys=True, separators=(",", ":"))
            if isinstance(value, dict)
            else value
            for name, value in sorted(self.options.items())
        }
        return urlencode(values, safe='{}":,[]')
