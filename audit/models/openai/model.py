"""The provider of `openai/MODEL`: arguments, fingerprint, and remedies for fields that an endpoint rejects.

It describes the endpoint; `codeaudit.audit.models.endpoints` asks it. The client library is imported with the
first request, because that takes half a second.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal, Self
from urllib.parse import urlencode, urlsplit

from codeaudit.audit.interface import Ranking
from codeaudit.audit.models.endpoints.arguments import (
    BATCH_ARGUMENTS,
    ENDPOINT_ARGUMENTS,
    NONE,
    BaseDecoding,
    Batching,
    Patience,
    Prices,
    check_answers_differ,
    given,
    json_object,
    one_of,
    or_none,
    prompts,
    read_count,
    read_number,
    sent,
    shown_name,
)
from codeaudit.audit.models.endpoints.client import EndpointAddress, EndpointClient, address
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.proxies import proxy_for
from codeaudit.audit.models.endpoints.secrets import (
    check_named,
    grouped,
    is_secret,
    key_variable,
    resolved,
    without_names,
)
from codeaudit.audit.models.endpoints.session import Endpoint
from codeaudit.audit.models.provider import SPENDING, ArgumentReader, Provider, Settings
from codeaudit.audit.models.text_models import (
    CHAT_ARGUMENTS,
    KWARGS,
    TEMPERATURE,
    chat_arguments,
    samples,
    shown_prompt,
)
from codeaudit.audit.registry import tasks_answered_by
from codeaudit.transforms.errors import ModelError, UsageError

OURS: Final = frozenset({"input", "messages", "model", "n", "prompt", "store", "stream"})
"""Fields of a request that `extra_body` cannot set."""

Api = Literal["chat", "completions", "responses", "embeddings"]
EMBEDDINGS: Final = "embeddings"
_WRITING: Final = (
    *("temperature", "seed", "samples", "max_tokens", "tokens_field", "reasoning_effort", "structured"),
    *("logprobs", "noise", "stream", "system", "template", "prompt"),
)
"""Arguments about texts that a model writes, which have no effect on embeddings."""
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
        found = {key: sent(value) for key, value in given(settings, *names).items()}
        structured = settings.arguments.get("structured") is True
        logprobs = settings.arguments.get("logprobs") is True
        _check_api(str(found.get("api", "chat")), settings, structured=structured)
        _check_logprobs(settings, logprobs=logprobs)
        if found.get("api") == EMBEDDINGS:
            found |= {"temperature": None, "seed": None, "max_tokens": None}
        if found.get("api") == "responses":
            found |= {"seed": None, "tokens_field": "max_output_tokens"}
        if reasons(model):
            found = {"temperature": None, "tokens_field": "max_completion_tokens", **found}
        # Nobody knows how long a model thinks; its own limit holds unless the user gives one.
        if reasons(model) or "reasoning_effort" in found:
            found.setdefault("max_tokens", None)
        # The text was checked by its reader.
        body = json.loads(str(settings.arguments.get("extra_body") or "{}"))
        if found.get("samples", 1) != 1:
            check_answers_differ(found, body)
            found.setdefault("temperature", TEMPERATURE)
        stream = settings.arguments.get("stream") is True
        return cls(
            **found,  # type: ignore[arg-type]
            bounded="max_tokens" in found,
            extra_body=({KWARGS: told} if (told := chat_arguments(settings.arguments)) else {}) | body,
            stream=stream,
            structured=structured,
            logprobs=logprobs,
        )

    @property
    def fields(self) -> dict[str, object]:
        """The fields of a request; fields that are not sent are absent."""
        return self.sent(self.max_tokens)

    def sent(self, bound: int | None, *, seed: int | None = None) -> dict[str, object]:
        """As `fields`, for replies of up to `bound` tokens, and with an answer's own `seed`."""
        seed = self.seed if seed is None else seed
        known: dict[str, object] = {
            "temperature": self.temperature,
            "seed": seed,
            self.tokens_field: bound,
        }
        if self.reasoning_effort is not None:
            nested = self.api == "responses"
            name = "reasoning" if nested else "reasoning_effort"
            known[name] = {"effort": self.reasoning_effort} if nested else self.reasoning_effort
        if self.logprobs:
            known |= LOGPROBS[self.api]
        return {name: value for name, value in known.items() if value is not None}

    def __str__(self) -> str:
        """Every parameter, also those that are not sent, as text for fingerprints."""
        fields = {"temperature": self.temperature, "seed": self.seed, self.tokens_field: self.max_tokens}
        told: dict[str, object] = {"api": self.api}
        told |= {name: NONE if value is None else value for name, value in fields.items()}
        # Only if they are set, so that cached answers of models without them stay valid.
        if self.samples > 1:
            told["samples"] = self.samples
        if self.reasoning_effort is not None:
            told["reasoning_effort"] = self.reasoning_effort
        if self.structured:
            told["structured"] = "true"
        if self.logprobs:
            told["logprobs"] = LIKELIEST
        if self.extra_body:
            told["extra_body"] = json.dumps(self.extra_body, sort_keys=True, separators=(",", ":"))
        return urlencode(told, safe='{}":,[]')


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


def _body(text: str) -> str:
    """Check the fields of each request; they stay a text because arguments are texts or numbers."""
    if taken := sorted(OURS & json.loads(json_object("extra_body", text)).keys()):
        raise UsageError(f"-M extra_body cannot set {', '.join(taken)}")
    return text


def _named(text: str) -> str:
    key, _, value = text.partition("=")
    return check_named(key, value)


def _table(key: str, text: str) -> str:
    raise UsageError(f"-M {key} has a name behind it: -M {key}.NAME=VALUE, once for each")


def _key_env(text: str) -> str:
    return NONE if text == NONE else key_variable(text)


ARGUMENTS: Final[Mapping[str, ArgumentReader]] = {
    "api": partial(one_of, "api", ("chat", "completions", "responses", EMBEDDINGS)),
    "temperature": partial(or_none, partial(read_number, "temperature", least=0)),
    "seed": partial(or_none, partial(read_count, "seed", least=None)),
    "samples": samples,
    "max_tokens": partial(or_none, partial(read_count, "max_tokens", least=1)),
    "tokens_field": partial(one_of, "tokens_field", ("max_tokens", "max_completion_tokens")),
    "reasoning_effort": partial(one_of, "reasoning_effort", EFFORTS),
    "structured": bool,
    "logprobs": bool,
    "noise": partial(read_number, "noise", least=0),
    "extra_body": _body,
    "stream": bool,
    **BATCH_ARGUMENTS,
    "system": str,
    "template": str,
    "prompt": str,
    **CHAT_ARGUMENTS,
    **ENDPOINT_ARGUMENTS,
    "version": str,
    "name": shown_name,
    "key_env": _key_env,
    "headers.NAME": _named,
    "query.NAME": _named,
    "headers": partial(_table, "headers"),
    "query": partial(_table, "query"),
}
"""The readers of the arguments."""


HOME: Final = "https://api.openai.com/v1"
"""The address without `--base-url` and `OPENAI_BASE_URL`."""
KEY: Final = "OPENAI_API_KEY"
"""The environment variable of the key."""
TOKENS: Final = ("max_tokens", "max_completion_tokens")
"""The names of the limit on the tokens of a reply in a chat."""
REMEDIES: Final[Mapping[str, str]] = {
    "max_tokens": "try {M}tokens_field=max_completion_tokens, a smaller {M}max_tokens=N, or leave it out "
    "with {M}max_tokens=none",
    "max_completion_tokens": "try {M}tokens_field=max_tokens, a smaller {M}max_tokens=N, or leave it out "
    "with {M}max_tokens=none",
    "temperature": "leave it out with {M}temperature=none",
    "seed": "leave it out with {M}seed=none",
    "max_output_tokens": "a smaller or larger {M}max_tokens=N, or leave it out with {M}max_tokens=none",
    "reasoning_effort": "leave it out, or name another {M}reasoning_effort",
    "logprobs": "leave out {M}logprobs",
    "top_logprobs": "leave out {M}logprobs",
    "include": "leave out {M}logprobs",
    "reasoning": "leave out {M}reasoning_effort, or name another one",
}
"""By the field that an endpoint rejects; `{M}` is the flag of the model's arguments."""
_COMPLETIONS: Final = re.compile(r"/(?:chat/)?completions\Z|/chat\Z|/responses\Z")
_VERSION: Final = re.compile(r"/v\d|/openai(?:/|\Z)")


def load(name: str, settings: Settings) -> EndpointModel:
    """The model of that name. Nothing is asked yet. The key is kept in memory only.

    Raises:
        UsageError: there is no name, the address is none, or an argument has a wrong value.
        ModelError: the address is OpenAI's own and there is no key.
    """
    if not name.strip():
        raise UsageError("model 'openai/' names no model; write openai/MODEL")
    where = _address(settings)
    if settings.sends and where.url == HOME and not (where.key or where.basic or where.named):
        raise ModelError(
            f"{HOME} asks for a key: set {where.key_name}, or name another endpoint with --base-url"
        )
    if settings.sends:
        where = replace(where, proxy=proxy_for(where.url, settings.proxy))
    decoding, asked = Decoding.read(settings, name), prompts(settings)
    patience, batching = Patience.read(settings), Batching.read(settings)
    if batching is not None and decoding.stream:
        raise UsageError(
            f"{settings.flag}stream does not go with {settings.flag}batch; leave out one of them"
        )
    if batching is not None and decoding.api == EMBEDDINGS:  # a ranking needs all texts of a query at once
        raise UsageError(f"{settings.flag}batch has no effect on embeddings; leave it out")
    endpoint = Endpoint(
        model=name,
        address=where,
        connect=partial(_client, where, name, decoding, patience.timeout, batched=batching is not None),
        prompts=asked,
        samples=decoding.samples,
        patience=patience,
        prices=Prices.read(settings),
        spending=settings.spending,
        longest=decoding.longest,
        remedy=partial(_remedy, decoding, settings.flag),
        address_hint=proposal(where.url),
        refusal_hint=f"; {settings.flag}FIELD=none leaves out temperature, seed or max_tokens, and "
        f"{settings.flag}extra_body adds a field",
        size_hint=f"; the prompt and {settings.flag}max_tokens together must fit its context: a smaller "
        f"{settings.flag}max_tokens=N leaves more room",
        sampling_hint=f" {settings.flag}extra_body may have to ask for it",
    )
    version = sent(settings.arguments.get("version"))
    # In plain text, because people compare it in manifests.
    told = urlencode({"prompts": asked.digest, **({} if version is None else {"version": version})})
    fingerprint = f"openai/{name}@{where.url}?{decoding}&{told}{where.identity and f'&{where.identity}'}"
    shown = settings.arguments.get("name")
    return EndpointModel(
        endpoint,
        name=f"openai/{name}" + (f" ({shown})" if shown else ""),
        fingerprint=fingerprint,
        prompt=shown_prompt(str(settings.arguments.get("prompt", ""))),
        noise=float(settings.arguments.get("noise", 0.0)),
        batching=batching,
        tasks=tasks_answered_by(Ranking) if decoding.api == EMBEDDINGS else (),
    )


def _address(settings: Settings) -> EndpointAddress:
    """The endpoint with its key, headers and query.

    Raises:
        UsageError: the address is none, or a value cannot be sent.
        ModelError: a variable that an argument names is not set.
    """
    found: dict[str, dict[str, str]] = {}
    kept: list[tuple[str, str]] = []
    named: list[str] = []
    for kind in ("headers", "query"):
        given_ones = dict(grouped(settings.arguments, kind))
        found[kind] = {}
        for name, text in sorted(given_ones.items()):
            value, secrets = resolved(f"{kind}.{name}", text, needed=settings.sends)
            found[kind][name] = value
            named += secrets
            # Header names are the same in small letters.
            kept.append((f"{kind}.{name.lower() if kind == 'headers' else name}", without_names(text)))
        # A vendor with a secret of its own must not see the key of another one.
    own_secret = any(is_secret(text) for kind in found for _, text in grouped(settings.arguments, kind))
    variable = settings.arguments.get("key_env")
    if variable is None:
        variable = NONE if own_secret else KEY
    elif variable != NONE and settings.sends and not os.environ.get(str(variable), "").strip():
        raise ModelError(f"{settings.flag}key_env={variable}: this variable is not set")
    key = None if variable == NONE else os.environ.get(str(variable))
    where = address(
        settings.base_url or default_base_url(), key, key_name=KEY if variable == NONE else str(variable)
    )
    return replace(
        where,
        own_headers=found["headers"],
        query=found["query"],
        named=tuple(named),
        identity=urlencode(kept, safe="$.{}:,"),
    )


def proposal(url: str) -> str:
    """What may be wrong with an address that answers in another protocol, or has nothing there."""
    if ends := _COMPLETIONS.search(url):
        return f"; try {url[: ends.start()]}"
    if _VERSION.search(urlsplit(url).path):
        return "; is it the address of an OpenAI-compatible server?"
    return f"; try {url}/v1"


def default_base_url() -> str:
    """The address without `--base-url`."""
    return os.environ.get("OPENAI_BASE_URL") or HOME


def _client(
    where: EndpointAddress, model: str, decoding: Decoding, timeout: float, *, batched: bool
) -> EndpointClient:
    if batched:
        from codeaudit.audit.models.openai.batches import BatchingClient

        return BatchingClient(where, model, decoding, timeout)
    from codeaudit.audit.models.openai.client import Client

    return Client(where, model, decoding, timeout)


def _remedy(decoding: Decoding, flag: str, field: str) -> str:
    if field == KWARGS:
        return f"leave out {flag}{KWARGS}"
    if field in decoding.extra_body:
        return f"take it out of {flag}extra_body"
    if field == "stream":  # the client has tried every other way
        return f"leave out {flag}stream" if decoding.stream else ""
    if field == "chat":
        return f"it has no chat template: {flag}api=completions asks without a chat"
    if field == "system":
        return f"leave out {flag}system"
    if field in ("response_format", "text"):
        return f"leave out {flag}structured"
    # The client calls the limit on tokens otherwise if a refusal asks for that.
    limits = field in TOKENS and decoding.tokens_field in decoding.fields
    known = limits or field in decoding.fields
    return REMEDIES.get(field, "").replace("{M}", flag) if known else ""


PROVIDER: Final = Provider(
    form="openai/MODEL",
    summary="a model behind an OpenAI-compatible endpoint, by default OpenAI's; see --base-url",
    load=load,
    accepts=frozenset({"base_url", "proxy", *SPENDING}),
    arguments=ARGUMENTS,
    default_base_url=default_base_url,
    key=KEY,
)
