"""Which proxy a request to an endpoint goes through. Nothing else decides it."""

import os
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from codeaudit.audit.models.endpoints.urls import redacted_url, server_of, was_redacted
from codeaudit.transforms.errors import ModelError, UsageError

OPTION: Final = "--proxy"
SOCKS: Final = ("socks5", "socks5h")
SCHEMES: Final = ("http", "https", *SOCKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy. Only `shown` may be printed."""

    url: str = field(repr=False)
    """With user and password, if it has them."""
    shown: str
    """Who named it, and its address without user and password."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """User and password, together and apart, as written and as meant."""
        user = urlsplit(self.url).netloc.rpartition("@")[0]
        return tuple(part for text in (user, unquote(user)) for part in (text, *text.split(":", 1)))


def proxy_for(url: str, text: str | None) -> Proxy | None:
    """The proxy for requests to a URL; `None`: they go there directly.

    That is `text`, the value of `--proxy`. Without it, it is the proxy of the environment (`HTTP_PROXY`,
    `HTTPS_PROXY`, `ALL_PROXY`, in lower case too, but for `NO_PROXY`) or of the system's settings. This
    machine itself is never reached through one of these: its proxy would read what nobody else should.

    Raises:
        UsageError: the proxy has no valid address.
        ModelError: it needs a package that is not installed.
    """
    if text is not None:
        return _read(text, OPTION)
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host):
        return None
    by_scheme = getproxies()
    exempt = [host.strip() for host in by_scheme.get("no", "").split(",")]
    if "*" in exempt or proxy_bypass(parts.netloc) or proxy_bypass(host):
        return None
    for scheme in (parts.scheme, "all"):
        if value := by_scheme.get(scheme):
            return _read(value, _variable(f"{scheme}_proxy"))
    return None


def wrong_proxy(url: str) -> str:
    """Why the proxy of the environment for a URL cannot be used; empty if it can, or if there is none.

    For libraries that read the environment themselves, because their messages hold the password.
    """
    try:
        proxy_for(url, None)
    except (UsageError, ModelError) as error:
        return str(error)
    return ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or its number."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        number = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(number, "ipv4_mapped", None)
    return (mapped or number).is_loopback


def _variable(name: str) -> str:
    """The variable of the environment that a proxy comes from."""
    names = [variable for variable in os.environ if variable.lower() == name and os.environ[variable]]
    return name if name in names else next(iter(names), "the proxy of the system")


def _read(value: str, source: str) -> Proxy:
    text = value.strip()
    setting = f"{source}={redacted_url(text)!r}"
    if was_redacted(text):
        raise UsageError(f"{setting} was recorded without its user and password; give it anew")
    url = text if "://" in text else f"http://{text}"
    server = server_of(url)
    if server is None or server.scheme not in SCHEMES or server.path not in ("", "/"):
        raise UsageError(
            f"{setting} is no address of a proxy; write http://HOST:PORT, or https or socks5 in place of http"
        )
    if server.scheme in SOCKS and find_spec("socksio") is None:
        raise ModelError(
            f"{setting} needs the package socksio, which is not installed; "
            'try: pip install "codeaudit-ml[socks]"'
        )
    return Proxy(url=url, shown=setting)
