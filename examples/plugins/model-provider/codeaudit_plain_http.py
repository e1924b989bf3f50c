"""The models `plain/MODEL`: a server that answers `POST {"model", "prompt"}` with `{"text", "tokens"}`.

Concurrency, retries, throttle, cost meter and `--base-url` come from codeaudit's endpoint layer.
"""

import asyncio
import json
from functools import partial
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from codeaudit.audit.models.endpoints.arguments import ENDPOINT_ARGUMENTS, Patience, Prices
from codeaudit.audit.models.endpoints.client import Reply, RequestError, address
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.proxies import Proxy, proxy_for
from codeaudit.audit.models.endpoints.session import Endpoint
from codeaudit.audit.models.provider import SPENDING, Provider, Settings
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query


class PlainClient:
    """Sends one request at a time, in a thread, because urllib blocks."""

    def __init__(self, url: str, model: str, timeout: float, proxy: Proxy | None) -> None:
        self.url, self.model, self.timeout = url, model, timeout
        self.opener = build_opener(ProxyHandler(dict.fromkeys(("http", "https"), proxy.url) if proxy else {}))

    async def ask(self, prompt: Prompt, query: Query, attempt: int = 0) -> Reply:
        """Send the prompt. Every failure becomes a `RequestError` that says whether to try again."""
        body = json.dumps({"model": self.model, "prompt": prompt.text(query)}).encode()
        try:
            answer = json.loads(await asyncio.to_thread(self._post, body))
            return Reply(text=str(answer["text"]), tokens=tuple(answer["tokens"]))
        except HTTPError as error:
            busy = error.code in (429, 503)
            raise RequestError(str(error.code), again=busy, busy=busy, status=error.code) from None
        except (URLError, TimeoutError) as error:
            raise RequestError("unreachable", message=str(error), again=True, unreachable=True) from None
        except (ValueError, KeyError, TypeError):
            raise RequestError("unreadable reply", again=True) from None

    async def close(self) -> None:
        """Nothing is kept open."""

    def _post(self, body: bytes) -> bytes:
        with self.opener.open(Request(self.url, body), timeout=self.timeout) as response:
            return bytes(response.read())


def load(model: str, settings: Settings) -> EndpointModel:
    """The model of that name at `--base-url`; nothing is asked yet."""
    where = address(settings.base_url or "http://127.0.0.1:8080", None, key_name="PLAIN_KEY")
    patience = Patience.read(settings)
    endpoint = Endpoint(
        model=model,
        address=where,
        connect=partial(
            PlainClient, where.url, model, patience.timeout, proxy_for(where.url, settings.proxy)
        ),
        patience=patience,
        prices=Prices.read(settings),
        spending=settings.spending,
    )
    fingerprint = f"plain/{model}@{where.url}?prompts={endpoint.prompts.digest}"
    return EndpointModel(endpoint, name=f"plain/{model}", fingerprint=fingerprint)


PLAIN = Provider(
    form="plain/MODEL",
    summary="a model behind a plain HTTP server",
    load=load,
    accepts=frozenset({"base_url", "proxy", *SPENDING}),
    arguments=ENDPOINT_ARGUMENTS,
)
