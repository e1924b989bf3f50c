"""The provider of `inspect/VENDOR/MODEL`: models of every vendor that inspect-ai reaches.

inspect-ai (https://inspect.aisi.org.uk) knows the protocols of about 25 vendors. It makes each request; what
is asked, how often, how fast and for how much is decided by `codeaudit.audit.models.endpoints`. So its own
retries and its cache are not used. It is imported with the first request, because that takes seconds.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Final, NamedTuple
from urllib.parse import urlencode

from codeaudit.audit.models.endpoints.arguments import (
    BATCH_ARGUMENTS,
    ENDPOINT_ARGUMENTS,
    NONE,
    Batching,
    Patience,
    Prices,
    or_none,
    prompts,
    read_count,
    read_number,
    sent,
    shown_name,
)
from codeaudit.audit.models.endpoints.client import EndpointAddress, EndpointClient, address
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.secrets import key_variable
from codeaudit.audit.models.endpoints.session import Endpoint
from codeaudit.audit.models.hints import NAMED_FOR_URLS, SHORT, at_endpoint
from codeaudit.audit.models.inspect.decoding import LOGPROBS, OPTIONS, VendorDecoding
from codeaudit.audit.models.provider import SPENDING, ArgumentReader, Provider, Settings
from codeaudit.audit.models.text_models import samples, shown_prompt
from codeaudit.transforms.distribution import Extra, how_to_install, version_of
from codeaudit.transforms.errors import ModelError, UsageError


class Vendor(NamedTuple):
    """What is known of a vendor before inspect-ai is imported."""

    title: str
    key: str = ""
    """The variable of its key; empty if it needs none, or takes it in another way."""
    url: str = ""
    """Its address, for messages and fingerprints; empty if it depends on the account."""
    package: str = ""
    """The distribution that speaks its protocol."""


VENDORS: Final[Mapping[str, Vendor]] = {
    "anthropic": Vendor("Anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com", "anthropic"),
    "google": Vendor("Google", "GOOGLE_API_KEY", "https://generativelanguage.googleapis.com", "google-genai"),
    "openai": Vendor("OpenAI", "OPENAI_API_KEY", "https://api.openai.com/v1", "openai"),
    "azureai": Vendor("Azure AI", "AZUREAI_API_KEY", "", "azure-ai-inference"),
    "bedrock": Vendor("AWS Bedrock", "", "", "aioboto3"),
    "mistral": Vendor("Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai", "mistralai"),
    "grok": Vendor("xAI", "XAI_API_KEY", "https://api.x.ai", "xai-sdk"),
    "groq": Vendor("Groq", "GROQ_API_KEY", "https://api.groq.com", "groq"),
    "together": Vendor("Together", "TOGETHER_API_KEY", "https://api.together.xyz/v1", "openai"),
    "deepseek": Vendor("DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com", "openai"),
    "fireworks": Vendor("Fireworks", "FIREWORKS_API_KEY", "https://api.fireworks.ai/inference/v1", "openai"),
    "openrouter": Vendor("OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openai"),
    "perplexity": Vendor("Perplexity", "PERPLEXITY_API_KEY", "https://api.perplexity.ai", "openai"),
    "ollama": Vendor("Ollama", "", "http://localhost:11434/v1", "openai"),
    "vllm": Vendor("vLLM", "VLLM_API_KEY", "", "openai"),
    "sglang": Vendor("SGLang", "SGLANG_API_KEY", "", "openai"),
}
"""Vendors with a short name: `anthropic/MODEL` is `inspect/anthropic/MODEL`. Others go by the long one."""
LOCAL: Final = frozenset({"ollama", "vllm", "sglang"})
"""Servers on the user's machine, which need no key."""
NAME: Final[Extra] = "inspect"
PACKAGE: Final = "inspect_ai"
BATCHING: Final = "anthropic"
"""The vendor whose batches are known here."""
ARGUMENTS: Final[Mapping[str, ArgumentReader]] = {
    "temperature": partial(or_none, partial(read_number, "temperature", least=0)),
    "seed": partial(or_none, partial(read_count, "seed", least=None)),
    "samples": samples,
    "max_tokens": partial(or_none, partial(read_count, "max_tokens", least=1)),
    **OPTIONS,
    "logprobs": bool,
    "noise": partial(read_number, "noise", least=0),
    "system": str,
    "template": str,
    "prompt": str,
    **ENDPOINT_ARGUMENTS,
    "version": str,
    "name": shown_name,
    "key_env": lambda text: NONE if text == NONE else key_variable(text),
}
"""The readers of the arguments."""


def load(rest: str, settings: Settings, *, form: str = f"{NAME}/") -> EndpointModel:
    """The model VENDOR/MODEL. Nothing is asked yet. The key is kept in memory only.

    Raises:
        UsageError: there is no vendor or no name, the address is none, or an argument has a wrong value.
        ModelError: inspect-ai is not installed, or there is no key.
    """
    name, _, model = rest.partition("/")
    if not (name.strip() and model.strip()):
        raise UsageError(f"model {form + rest!r} names no model; write {NAME}/VENDOR/MODEL")
    if find_spec(PACKAGE) is None:
        without = f"; without it: {at_endpoint(model, name)}" if name in NAMED_FOR_URLS else ""
        raise ModelError(
            f"model {form + rest!r} needs inspect-ai, which is not installed: {how_to_install(NAME)}{without}"
        )
    vendor = VENDORS.get(name, Vendor(name))
    where = _address(name, vendor, settings)
    generation, wordings = VendorDecoding.read(settings), prompts(settings)
    patience = Patience.read(settings)
    batching = Batching.read(settings)
    endpoint = Endpoint(
        model=model,
        address=where,
        connect=partial(
            _client,
            rest,
            where,
            settings.base_url,
            generation,
            patience.timeout,
            batched=batching is not None,
        ),
        prompts=wordings,
        samples=generation.samples,
        is_own=name in LOCAL,
        patience=patience,
        prices=Prices.read(settings),
        spending=settings.spending,
        longest=generation.longest,
        remedy=partial(_remedy, settings.flag),
        refusal_hint=f"; {settings.flag}FIELD=none leaves out temperature, seed or max_tokens",
        size_hint=f"; the prompt and {settings.flag}max_tokens together must fit its context",
    )
    version = sent(settings.arguments.get("version"))
    packages = {package: version_of(package) for package in ("inspect-ai", vendor.package) if package}
    identity = urlencode(
        {
            "prompts": wordings.digest,
            **{package: number for package, number in packages.items() if number},
            **({} if version is None else {"version": version}),
        }
    )
    alias = settings.arguments.get("name")
    return EndpointModel(
        endpoint,
        name=f"{form}{rest}" + (f" ({alias})" if alias else ""),
        fingerprint=f"{NAME}/{rest}@{where.url}?{generation}&{identity}",
        prompt=shown_prompt(str(settings.arguments.get("prompt", ""))),
        noise=float(settings.arguments.get("noise", 0.0)),
        batching=batching,
    )


_LEFT_OUT: Final = ("temperature", "seed", "max_tokens")


def _remedy(flag: str, field: str) -> str:
    """What to do about a field that the vendor rejects."""
    if field in LOGPROBS:
        return f"leave out {flag}logprobs"
    return f"leave it out with {flag}{field}=none" if field in _LEFT_OUT else ""


def _address(name: str, vendor: Vendor, settings: Settings) -> EndpointAddress:
    """Where the vendor is, with its key.

    Raises:
        UsageError: the address is none.
        ModelError: there is no key.
    """
    variable = str(settings.arguments.get("key_env") or vendor.key)
    key = "" if variable in ("", NONE) else os.environ.get(variable, "").strip()
    needed = bool(vendor.key) and name not in LOCAL and variable != NONE and settings.base_url is None
    if settings.sends and needed and not key:
        raise ModelError(f"{vendor.title} asks for a key: set {variable}")
    url = settings.base_url or vendor.url or f"https://{name}.invalid"
    return address(url, key, key_name=variable or vendor.key)


def _client(
    spec: str,
    where: EndpointAddress,
    base_url: str | None,
    generation: VendorDecoding,
    timeout: float,
    *,
    batched: bool,
) -> EndpointClient:
    if batched:
        from codeaudit.audit.models.inspect.batches import AnthropicBatches

        return AnthropicBatches(spec, where, base_url, generation, timeout)
    from codeaudit.audit.models.inspect.client import InspectClient

    return InspectClient(spec, where, base_url, generation, timeout)


def _loader(name: str) -> Callable[[str, Settings], EndpointModel]:
    def short(rest: str, settings: Settings) -> EndpointModel:
        if not rest.strip():
            raise UsageError(f"model '{name}/' names no model; write {name}/MODEL")
        return load(f"{name}/{rest}", settings, form="")

    return short


def _provider(name: str) -> Provider:
    vendor = VENDORS[name]
    return Provider(
        form=f"{name}/MODEL",
        summary=f"a model of {vendor.title}; needs the extra `{NAME}`",
        load=_loader(name),
        accepts=frozenset({"base_url", *SPENDING}),
        arguments={**ARGUMENTS, **(BATCH_ARGUMENTS if name == BATCHING else {})},
        default_base_url=lambda: vendor.url,
        key=vendor.key,
    )


PROVIDER: Final = Provider(
    form=f"{NAME}/VENDOR/MODEL",
    summary="a model of any vendor that inspect-ai reaches; needs the extra `inspect`",
    load=load,
    accepts=frozenset({"base_url", *SPENDING}),
    arguments=ARGUMENTS,
)


def __getattr__(name: str) -> Provider:
    """The provider of a vendor that goes by its own name: `ANTHROPIC` of `anthropic/MODEL`."""
    if name.lower() in SHORT and name.isupper():
        return _provider(name.lower())
    raise AttributeError(f"no vendor {name!r}")
