"""The `-M` arguments of a run, and which of its models each is for.

`key=value` is for all models that take it, `2:key=value` for the second one alone, which must take it.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.proxies import is_loopback
from codeaudit.audit.models.endpoints.secrets import is_secret, looks_secret, names_secret
from codeaudit.audit.models.endpoints.urls import redacted_url
from codeaudit.audit.models.provider import BASE_URL
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import nearest_or_all

_ARGUMENT: Final = re.compile(r"(?:(?P<place>\d{1,4}):)?(?P<key>[^=]+)=(?P<value>.*)", re.DOTALL)
KEY_ENV: Final = "key_env"
NO_KEY: Final = "none"
_SENT: Final = ("headers", "query")


class BoundArgument(NamedTuple):
    """One argument."""

    place: int
    """Which model it is for, from 1; 0: all that take it."""
    key: str
    value: str

    @property
    def name(self) -> str:
        """What stands before the `=`."""
        return f"{self.place}:{self.key}" if self.place else self.key

    @property
    def text(self) -> str:
        """What a user types behind `-M`."""
        return f"{self.name}={self.value}"

    @property
    def kept(self) -> str:
        """The same without user and password of an address."""
        return f"{self.name}={redacted_url(self.value)}" if self.key == BASE_URL else self.text

    @property
    def acts(self) -> bool:
        """Whether it decides where something is sent, or what of the user's goes with it."""
        return self.key in (BASE_URL, KEY_ENV) or self.key.partition(".")[0] in _SENT


def read_arguments(texts: Iterable[str]) -> tuple[BoundArgument, ...]:
    """The arguments in their order.

    Raises:
        UsageError: one has no `=`, or is for a model with the number 0.
    """
    arguments = []
    for text in texts:
        match = _ARGUMENT.fullmatch(text)
        if match is None:
            masked = "***" if looks_secret(text) else text
            raise UsageError(f"model argument {masked!r} must be -M key=value")
        argument = BoundArgument(int(match["place"] or 0), match["key"], match["value"])
        if match["place"] and not argument.place:
            raise UsageError(f"-M {argument.name}: the first model has the number 1")
        arguments.append(argument)
    return tuple(arguments)


def of_model(
    arguments: Iterable[BoundArgument], place: int, accepted: Collection[str] | None
) -> dict[str, str]:
    """What the model at a place is given, by key: its own, and those for all that it takes. The last wins.

    `accepted` are the names that it takes; `None`: any.
    """
    several = tuple(arguments)
    common = {
        argument.key: argument.value
        for argument in several
        if not argument.place and (accepted is None or catalogue.is_among(argument.key, accepted))
    }
    return common | {
        argument.key: argument.value for argument in several if argument.place and argument.place == place
    }


def check_arguments(
    arguments: Sequence[BoundArgument], models: Sequence[str], given: Collection[str], base_url: str | None
) -> None:
    """Check that each argument is for a model that takes it, and that no vendor gets the key of another.

    `models` are the names of all models, `given` those that are objects, `base_url` the address of models
    without one of their own.

    Raises:
        UsageError: an argument is for no model, or a key would go to several vendors.
    """
    specs = [spec for spec in models if spec not in given]
    accepted = frozenset().union(*(catalogue.accepted(spec) for spec in specs))
    for argument in arguments:
        if argument.place:
            _check_bound(argument, models, given)
        elif not catalogue.is_among(argument.key, accepted):
            raise UsageError(
                f"no model here takes the argument {argument.key!r}; {_hint(argument.key, accepted)}"
            )
        else:
            _check_meant(argument, arguments, specs)
    if base_url is not None and specs and has_idle_url(arguments, models):
        raise UsageError(
            f"--base-url {redacted_url(base_url)} has no effect: every model has an address of its own; "
            "leave it out"
        )
    _check_keys(arguments, models, given, base_url)


def _hint(key: str, accepted: Collection[str]) -> str:
    if names_secret(key):
        return "the variable that holds a key is named by -M key_env=NAME"
    return nearest_or_all(key, accepted) if accepted else "known: none"


def _check_meant(argument: BoundArgument, arguments: Iterable[BoundArgument], specs: Iterable[str]) -> None:
    """Check that an argument for all models that is given twice was not meant for one model each.

    Raises:
        UsageError: it may have been.
    """
    values = {other.value for other in arguments if other.name == argument.name}
    takers = [spec for spec in specs if catalogue.is_among(argument.key, catalogue.accepted(spec))]
    if len(values) > 1 and len(takers) > 1:
        raise UsageError(
            f"-M {argument.name} is given {len(values)} times, and several models take it; "
            f"-M 1:{argument.key}=… is for the first --model, -M 2:{argument.key}=… for the second"
        )


def _check_bound(argument: BoundArgument, models: Sequence[str], given: Collection[str]) -> None:
    if argument.place > len(models):
        count = {0: "no --model is", 1: "one --model is"}.get(len(models), f"{len(models)} --model are")
        raise UsageError(f"-M {argument.name}: {count} named; the number says which one the argument is for")
    spec = models[argument.place - 1]
    accepted = frozenset() if spec in given else catalogue.accepted(spec)
    if not catalogue.is_among(argument.key, accepted):
        raise UsageError(
            f"-M {argument.name}: model {spec!r} takes no such argument; {_hint(argument.key, accepted)}"
        )


def has_idle_url(arguments: Iterable[BoundArgument], models: Sequence[str]) -> bool:
    """Whether every model behind an endpoint has an address of its own, so that `--base-url` is of none."""
    several = tuple(arguments)
    behind = [
        place for place, spec in enumerate(models, start=1) if catalogue.is_among(BASE_URL, _accepted(spec))
    ]
    return bool(behind) and all(BASE_URL in of_model(several, place, None) for place in behind)


def _accepted(spec: str) -> frozenset[str]:
    # Objects of the caller have names that may look like anything.
    try:
        return catalogue.accepted(spec)
    except UsageError:
        return frozenset()


def _check_keys(
    arguments: Sequence[BoundArgument], models: Sequence[str], given: Collection[str], base_url: str | None
) -> None:
    """Check that a key that nobody named for a model goes to one vendor only."""
    places: dict[str, dict[str, int]] = {}
    for place, spec in enumerate(models, start=1):
        variable = "" if spec in given else catalogue.key_of(spec)
        own = of_model(arguments, place, catalogue.accepted(spec)) if variable else {}
        named = KEY_ENV in own or any(
            key.partition(".")[0] in _SENT and is_secret(value) for key, value in own.items()
        )
        if not variable or named or not os.environ.get(variable, "").strip():
            continue
        url = own.get(BASE_URL) or catalogue.base_url([spec], base_url) or ""
        parts = urlsplit(redacted_url(url))
        if not is_loopback(parts.hostname or ""):
            places.setdefault(variable, {}).setdefault(f"{parts.scheme}://{parts.netloc}", place)
    for variable, addresses in places.items():
        if len(addresses) > 1:
            (one, _), (other, place) = list(addresses.items())[:2]
            raise UsageError(
                f"{variable} would be sent to {one} and to {other}; write -M {place}:{KEY_ENV}=NAME with the "
                f"variable of the key for {other} ({NO_KEY}: no key is sent)"
            )


def rebound(texts: Iterable[str], before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Arguments that were bound to the models `before`, for the models `after`: each goes with its model.

    Those of models that are not there any more are left out.
    """
    free = list(enumerate(before, start=1))
    places: dict[int, int] = {}
    for now, spec in enumerate(after, start=1):
        if bound := next((pair for pair in free if pair[1] == spec), None):
            free.remove(bound)
            places[bound[0]] = now
    return tuple(
        argument._replace(place=places.get(argument.place, 0)).text
        for argument in read_arguments(texts)
        if not argument.place or argument.place in places
    )
