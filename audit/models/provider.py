"""What a model provider is: the record that makes models of the command line's `NAME/REST`.

A provider is registered under NAME: ours in `catalogue.PROVIDERS`, those of plug-ins by an entry point of the
group `codeaudit.models`. The record is imported to list or check models, so its module must be light; what
loads a model is imported when a model is loaded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from codeaudit.audit.interface import BaseModel, Model
from codeaudit.audit.models.endpoints.spending import Spending
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.registration import adapted, load_target, misfit


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where and how a model runs. An option that the provider does not accept has its default."""

    device: str = "auto"
    """`auto`, or a device as torch names it."""
    precision: str | None = None
    """`float32`, …; `None` for that of the model's files."""
    base_url: str | None = None
    """The endpoint's address; `None` for the provider's own."""
    proxy: str | None = None
    """The proxy to the endpoint; `None` for that of the environment."""
    batch_size: int = 32
    """Largest number of queries in one call of `predict`."""
    max_requests: int | None = None
    """What all models of the run may send together; `None` without a limit."""
    max_tokens: int | None = None
    """The same in tokens of prompts and replies."""
    max_cost: float | None = None
    """The same in the currency of the models' prices."""
    spending: Spending = field(default_factory=Spending)
    """Counts what all models of the run spend, below these limits."""
    sends: bool = True
    """Whether queries will be sent. If not, the model only tells what they would need, and needs no key."""
    arguments: Mapping[str, str | float] = field(default_factory=dict)
    """The `-M` arguments that the user gave, read by the provider's readers."""
    place: int = 0
    """Which of several models this is, from 1, for messages; 0 if it is the only one."""

    @property
    def flag(self) -> str:
        """`-M `, and what binds an argument to this model if there are several."""
        return f"-M {self.place}:" if self.place else "-M "


Option: TypeAlias = Literal[
    "base_url", "proxy", "device", "precision", "batch_size", "max_requests", "max_tokens", "max_cost"
]
"""An option of the command line that only some providers accept."""
ArgumentReader: TypeAlias = Callable[[str], str | float]
"""Reads the text of an argument: a type such as `float`, or a function that raises `UsageError`."""

TRUTHS: Final = {"true": True, "false": False}
KINDS: Final[Mapping[object, str]] = {bool: "true or false", int: "a whole number", float: "a number"}
"""The words for the types that read arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Makes the models `NAME/REST`."""

    form: str
    """How a user writes the models, for lists: `openai/MODEL`."""
    summary: str
    load: str | Callable[[str, Settings], Model]
    """Makes a model of REST and the settings; as text `package.module:function`, imported when needed."""
    accepts: frozenset[Option] = frozenset({"batch_size"})
    """The options of the command line that have an effect on its models."""
    arguments: Mapping[str, ArgumentReader] = field(default_factory=dict)
    """The readers of its `-M` arguments; no other argument is accepted. `headers.NAME` stands for every
    argument that begins with `headers.`; its reader gets the whole argument, `KEY=VALUE`.
    """
    names: Mapping[str, str] = field(default_factory=dict)
    """Every REST with its summary; empty if any REST may do."""
    default_base_url: Callable[[], str] | None = None
    """The address without `--base-url`, for the record of a run."""
    runs_here: bool = False
    """Whether its models are code of the user's on this machine. Those with a device are not meant here."""
    key: str = ""
    """The variable whose value is sent as the key unless `-M key_env` names another; empty for none."""

    def takes(self, key: str) -> bool:
        """Whether its models have an argument of this name."""
        return (key == BASE_URL and BASE_URL in self.accepts) or family(key) in self.arguments

    def model(self, spec: str, rest: str, settings: Settings, texts: Mapping[str, str]) -> Model:
        """The model of a SPEC. `texts` are its `-M` arguments as text.

        Raises:
            UsageError: an argument does not exist or has a wrong value.
            ModelError: the model exists and cannot be loaded, or what was loaded is no model.
        """
        if BASE_URL in texts and self.takes(BASE_URL):
            settings = replace(settings, base_url=texts[BASE_URL])
        others = {key: text for key, text in texts.items() if key != BASE_URL or not self.takes(key)}
        arguments = {key: self._value(spec, key, text) for key, text in others.items()}
        # A loader must not use an option that the user was told has no effect.
        default = Settings()
        unused = {name: getattr(default, name) for name in OPTIONS if name not in self.accepts}
        load: Callable[[str, Settings], Model] = (
            load_target(self.load) if isinstance(self.load, str) else self.load
        )
        model = load(rest, replace(settings, arguments=arguments, **unused))
        if wrong := misfit(model, Model, noun="model"):
            raise ModelError(f"model {spec!r}: {wrong}")
        complete: Model = adapted(model, BaseModel)
        return complete

    def _value(self, spec: str, key: str, text: str) -> str | float:
        if not self.takes(key):
            known = ", ".join(sorted(self.arguments)) or "none"
            raise UsageError(f"model {spec!r} takes no argument {key!r}; known: {known}")
        reader = self.arguments[family(key)]
        try:
            # bool("false") is true, so a truth value is read by its name.
            return (
                TRUTHS[text] if reader is bool else reader(text if key in self.arguments else f"{key}={text}")
            )
        except (ValueError, KeyError) as error:
            kind = KINDS.get(reader, "of the right form")
            raise UsageError(f"-M {key}={text} must be {kind}") from error


BASE_URL: Final = "base_url"
"""The `-M` argument that is `--base-url` for one model."""


def family(key: str) -> str:
    """The name under which a provider lists an argument: `headers.NAME` for `headers.api-key`."""
    head, dot, rest = key.partition(".")
    return f"{head}.NAME" if dot and rest else key


OPTIONS: Final[Mapping[Option, str]] = {name: f"--{name.replace('_', '-')}" for name in get_args(Option)}
"""The options as the user writes them."""
BINDING: Final[frozenset[Option]] = frozenset({"base_url", "proxy", "max_requests", "max_tokens", "max_cost"})
"""Options that must have an effect: without it another model would answer, requests would take another way,
or a limit would not hold."""
SPENDING: Final[frozenset[Option]] = frozenset({"max_requests", "max_tokens", "max_cost"})
"""Options that limit what a run spends; every model behind an endpoint accepts them."""
