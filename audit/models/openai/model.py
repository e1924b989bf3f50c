"""The provider of `openai/MODEL`: address, fingerprint, and remedies for fields that an endpoint rejects.

It describes the endpoint; `codeaudit.audit.models.endpoints` asks it. The client library is imported with the
first request, because that takes half a second.
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import Final
from urllib.parse import urlencode

from codeaudit.audit.models.endpoints.address import EndpointAddress, address
from codeaudit.audit.models.endpoints.arguments import Patience, Prices
from codeaudit.audit.models.endpoints.client import EndpointClient
from codeaudit.audit.models.endpoints.model import Endpoint, EndpointModel
from codeaudit.audit.models.openai.arguments import ARGUMENTS, Decoding, prompts, sent
from codeaudit.audit.models.provider import Provider
from codeaudit.audit.models.settings import Settings
from codeaudit.transforms.errors import ModelError, UsageError

HOME: Final = "https://api.openai.com/v1"
"""The address without `--base-url` and `OPENAI_BASE_URL`."""
KEY: Final = "OPENAI_API_KEY"
"""The environment variable of the key."""
REMEDIES: Final[Mapping[str, str]] = {
    "max_tokens": "try -M tokens_field=max_completion_tokens",
    "max_completion_tokens": "try -M tokens_field=max_tokens",
    "temperature": "leave it out with -M temperature=none",
    "seed": "leave it out with -M seed=none",
}
"""By the field that an endpoint rejects."""


def load(name: str, settings: Settings) -> EndpointModel:
    """The model of that name. Nothing is asked yet. The key is kept in memory only.

    Raises:
        UsageError: there is no name, the address is none, or an argument has a wrong value.
        ModelError: the address is OpenAI's own and there is no key.
    """
    if not name.strip():
        raise UsageError("model 'openai/' names no model; write openai/MODEL")
    where = address(settings.base_url or default_base_url(), os.environ.get(KEY), key_name=KEY)
    if where.url == HOME and not (where.key or where.basic):
        raise ModelError(f"{HOME} asks for a key: set {KEY}, or name another endpoint with --base-url")
    decoding, asked = Decoding.read(settings), prompts(settings)
    patience = Patience.read(settings)
    endpoint = Endpoint(
        model=name,
        address=where,
        connect=partial(_client, where, name, decoding, patience.timeout),
        prompts=asked,
        samples=decoding.samples,
        patience=patience,
        prices=Prices.read(settings),
        remedy=partial(_remedy, decoding),
        address_hint="; most end in /v1",
        sampling_hint=" -M extra_body may have to ask for it",
    )
    version = sent(settings.arguments.get("version"))
    # In plain text, because people compare it in manifests.
    told = urlencode({"prompts": asked.digest, **({} if version is None else {"version": version})})
    fingerprint = f"openai/{name}@{where.url}?{decoding}&{told}"
    return EndpointModel(endpoint, name=f"openai/{name}", fingerprint=fingerprint)


def default_base_url() -> str:
    """The address without `--base-url`."""
    return os.environ.get("OPENAI_BASE_URL") or HOME


def _client(where: EndpointAddress, model: str, decoding: Decoding, timeout: float) -> EndpointClient:
    from codeaudit.audit.models.openai.client import Client

    return Client(where, model, decoding, timeout)


def _remedy(decoding: Decoding, field: str) -> str:
    if field in decoding.extra_body:
        return "take it out of -M extra_body"
    return REMEDIES.get(field, "") if field in decoding.fields else ""


PROVIDER: Final = Provider(
    form="openai/MODEL",
    summary="a model behind an OpenAI-compatible endpoint, by default OpenAI's; see --base-url",
    load=load,
    accepts=frozenset({"base_url", "batch_size"}),
    arguments=ARGUMENTS,
    default_base_url=default_base_url,
)
