"""The provider of `openai/MODEL`: arguments, fingerprint, and remedies for fields that an endpoint rejects.

It describes the endpoint; `codeaudit.audit.models.endpoints` asks it. The client library is imported with the
first request, because that takes half a second.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import urlencode, urlsplit

from codeaudit.audit.interface import Ranking
from codeaudit.audit.models.endpoints.arguments import (
    BATCH_ARGUMENTS,
    ENDPOINT_ARGUMENTS,
    NONE,
    Batching,
    Patience,
    Prices,
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
from codeaudit.audit.models.openai.decoding import EFFORTS, EMBEDDINGS, TOKENS, Decoding
from codeaudit.audit.models.provider import SPENDING, ArgumentReader, Provider, Settings
from codeaudit.audit.models.text_models import (
    CHAT_ARGUMENTS,
    KWARGS,
    samples,
    shown_prompt,
)
from codeaudit.audit.registry import tasks_answered_by
from codeaudit.transforms.errors import ModelError, UsageError

OURS: Final = frozenset({"input", "messages", "model", "n", "prompt", "store", "stream"})
"""Fields of a request that `extra_body` cannot set."""


def _body(text: str) -> str:
    """Check the fields of each request; they stay a text because arguments are texts or numbers."""
    if names := sorted(OURS & json.loads(json_object("extra_body", text)).keys()):
        raise UsageError(f"-M extra_body cannot set {', '.join(names)}")
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
    decoding, wordings = Decoding.read(settings, name), prompts(settings)
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
        prompts=wordings,
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
    identity = urlencode({"prompts": wordings.digest, **({} if version is None else {"version": version})})
    fingerprint = f"openai/{name}@{where.url}?{decoding}&{identity}{where.identity and f'&{where.identity}'}"
    alias = settings.arguments.get("name")
    return EndpointModel(
        endpoint,
        name=f"openai/{name}" + (f" ({alias})" if alias else ""),
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
    by_kind: dict[str, dict[str, str]] = {}
    pairs: list[tuple[str, str]] = []
    named: list[str] = []
    for kind in ("headers", "query"):
        given_ones = dict(grouped(settings.arguments, kind))
        by_kind[kind] = {}
        for name, text in sorted(given_ones.items()):
            value, secrets = resolved(f"{kind}.{name}", text, needed=settings.sends)
            by_kind[kind][name] = value
            named += secrets
            # Header names are the same in small letters.
            pairs.append((f"{kind}.{name.lower() if kind == 'headers' else name}", without_names(text)))
        # A vendor with a secret of its own must not see the key of another one.
    own_secret = any(is_secret(text) for kind in by_kind for _, text in grouped(settings.arguments, kind))
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
        own_headers=by_kind["headers"],
        query=by_kind["query"],
        named=tuple(named),
        identity=urlencode(pairs, safe="$.{}:,"),
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
