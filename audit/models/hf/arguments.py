"""What `-M` may set of a model of `transformers`. Imported by the catalogue: no framework here."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Final, Self

from codeaudit.audit.models.prompts import Prompts, customised
from codeaudit.audit.models.provider import ArgumentReader, Provider
from codeaudit.audit.models.samples import TEMPERATURE, samples
from codeaudit.audit.models.settings import Settings
from codeaudit.transforms.errors import UsageError

HEADS: Final[Mapping[str, str]] = {
    "classification": "sequence classification",
    "causal": "causal language modelling",
    "seq2seq": "sequence-to-sequence modelling",
    "masked": "masked language modelling",
    "embedding": "embeddings",
}
"""How a model may answer, with the words for people."""


def _count(key: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"-M {key}={text} must be a positive whole number")
    return int(text)


def _temperature(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not isfinite(value) or value <= 0:
        raise UsageError(
            f"-M temperature={text} must be a number above 0; without it, the likeliest token is taken"
        )
    return value


def _truth(key: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise UsageError(f"-M {key}={text} must be true or false")
    return text == "true"


def _head(text: str) -> str:
    if text not in HEADS:
        raise UsageError(f"-M head={text} must be one of {', '.join(HEADS)}")
    return text


def _labels(text: str) -> str:
    labels = [label.strip() for label in text.split(",")]
    if len(labels) < 2 or not all(labels):
        raise UsageError(f"-M labels={text} must be words with commas between them, as labels=clean,buggy")
    return ",".join(labels)


ARGUMENTS: Final[Mapping[str, ArgumentReader]] = {
    "head": _head,
    "labels": _labels,
    "names": str,
    "template": str,
    "system": str,
    "chat": partial(_truth, "chat"),
    "max_new_tokens": partial(_count, "max_new_tokens"),
    "samples": samples,
    "temperature": _temperature,
    "masks": partial(_count, "masks"),
    "truncate": partial(_truth, "truncate"),
    "revision": str,
    "trust_remote_code": partial(_truth, "trust_remote_code"),
}
"""How the text of each is read; each says itself what is wrong with it."""

ALWAYS: Final = frozenset({"head", "template", "truncate", "revision", "trust_remote_code"})
"""Those that have an effect on a model of every kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of one model; `None` or empty where the user gave none."""

    head: str | None = None
    """How it answers, where its config does not say so or is to be overruled."""
    labels: tuple[str, ...] = ()
    """What the outputs of a classifier mean, in their order."""
    names: Path | None = None
    """A file with the names among which the nearest is looked for, one a line."""
    template: str | None = None
    """What the model is shown, with the places of `codeaudit.audit.models.prompts`."""
    system: str | None = None
    """The turn of the chat before it."""
    chat: bool | None = None
    """Whether the tokenizer's chat template is used; `None` for wherever it has one."""
    max_new_tokens: int = 128
    """Where an answer that does not end by itself is cut off."""
    samples: int = 1
    """How many answers a query has."""
    temperature: float | None = None
    """That of the softmax from which tokens are drawn; `None` for the likeliest token."""
    masks: int = 3
    """The most tokens that a filled-in answer may have."""
    truncate: bool = False
    """Whether the end of a source that is too long is cut off."""
    revision: str | None = None
    """A branch, a tag or a commit on the hub."""
    trust_remote_code: bool = False
    """Whether code that comes with the model may run."""
    given: frozenset[str] = field(default_factory=frozenset)
    """The names of those that the user set."""

    @classmethod
    def read(cls, settings: Settings) -> Self:
        """Those that were given, over the defaults.

        Raises:
            UsageError: the template cannot be read or has no place for the code.
        """
        found: dict[str, object] = {**settings.arguments, "given": frozenset(settings.arguments)}
        if "labels" in found:
            found["labels"] = tuple(str(found["labels"]).split(","))
        if "names" in found:
            found["names"] = Path(str(found["names"])).expanduser()
        if "template" in found:
            found["template"] = _text(Path(str(found["template"])).expanduser())
        if found.get("samples", 1) != 1:
            found.setdefault("temperature", TEMPERATURE)
        made = cls(**found)  # type: ignore[arg-type]
        _ = made.prompts
        return made

    @property
    def prompts(self) -> Prompts:
        """What a model that writes text is asked.

        Raises:
            UsageError: the template has no place for the code.
        """
        return customised(template=self.template, system=self.system)

    def only(self, taken: Collection[str], *, model: str, head: str) -> None:
        """See that every argument that was given has an effect.

        Raises:
            UsageError: one has none on a model with this head.
        """
        if idle := sorted(self.given - ALWAYS - set(taken)):
            known = ", ".join(sorted(ALWAYS | set(taken)))
            raise UsageError(
                f"-M {idle[0]} has no effect on {model!r}, which answers by {HEADS[head]}; known: {known}"
            )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot read -M template={path}: {why}") from error


PROVIDER: Final = Provider(
    form="hf/NAME_OR_PATH",
    summary="a Hugging Face model: a folder, or a name on the hub",
    load="codeaudit.audit.models.hf.load:load",
    accepts=frozenset({"device", "precision", "batch_size"}),
    arguments=ARGUMENTS,
)
