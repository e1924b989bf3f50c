"""LoRA adapters of the package peft: a folder with few weights, which are added to those of a base model.

peft imports a module that `adapter_config.json` names, and some of its settings change the base. So only the
settings are passed on that are known here, and an adapter with another one is refused.
"""

import warnings
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError, safe_open

from codeaudit.audit.checks import load_json
from codeaudit.audit.models.hf.heads import in_one_line
from codeaudit.transforms.distribution import how_to_install
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.grammar import first_of

CONFIG: Final = "adapter_config.json"
WEIGHTS: Final = "adapter_model.safetensors"
_PREFIX: Final = "base_model.model."
"""In front of the name of each weight."""
_DECIDING: Final = (
    *("r", "lora_alpha", "target_modules", "exclude_modules", "target_parameters", "fan_in_fan_out", "bias"),
    *("use_rslora", "use_dora", "lora_bias", "modules_to_save", "layers_to_transform", "layers_pattern"),
    *("rank_pattern", "alpha_pattern", "trainable_token_indices", "ensure_weight_tying"),
)
"""The settings that are passed on to peft."""
_IDLE: Final = frozenset(
    {
        *("peft_type", "task_type", "base_model_name_or_path", "revision", "inference_mode", "lora_dropout"),
        *("init_lora_weights", "auto_mapping", "peft_version", "loftq_config", "eva_config"),
    }
)
"""Settings that decide no answer, or that are read here."""
_STARTS: Final = (None, True, False, "gaussian", "orthogonal", "eva")
"""The values of `init_lora_weights` that leave the base model as it is."""
_HEADS: Final[Mapping[str, str]] = {
    "CAUSAL_LM": "causal",
    "FEATURE_EXTRACTION": "embedding",
    "SEQ_2_SEQ_LM": "seq2seq",
    "SEQ_CLS": "classification",
}
"""The head by the task that an adapter was made for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """An adapter that was read, and not yet put into a network."""

    name: str
    """The SPEC of the model, for messages."""
    folder: Path
    settings: Mapping[str, Any]
    """The content of its config."""
    shapes: Mapping[str, tuple[int, ...]]
    """The shapes of its weights, by their names in the network."""

    @property
    def head(self) -> str | None:
        """The head that it was made for; `None` if it does not say."""
        return _HEADS.get(str(self.settings.get("task_type")))

    @property
    def base(self) -> str:
        """The folder or the name of its base model; empty if it does not say."""
        return str(self.settings.get("base_model_name_or_path") or "")

    @property
    def outputs(self) -> int | None:
        """The number of outputs of its own classification head; `None` if it has none."""
        # The head's inner layers are as wide as the network.
        rows = [
            shape[0]
            for name, shape in self.shapes.items()
            if len(shape) == 2 and name.startswith(("classifier.", "score.", "classification_head."))
        ]
        return min(rows, default=None)

    def apply(self, network: Any) -> None:
        """Put its weights into a network.

        Raises:
            ModelError: they do not fit, or some are missing.
        """
        import peft
        from safetensors.torch import load_file

        try:
            self._resize(network)
            settings = {key: self.settings[key] for key in _DECIDING if self.settings.get(key) is not None}
            tensors = {_bare(key): value for key, value in load_file(self.folder / WEIGHTS).items()}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                peft.inject_adapter_in_model(peft.LoraConfig(inference_mode=True, **settings), network)
                report = peft.set_peft_model_state_dict(network, tensors)
        except Exception as error:  # peft passes on errors of any type
            raise ModelError(
                f"cannot load {self.name!r}: its adapter does not fit its base model: {in_one_line(error)}"
            ) from error
        marks = ("lora_", ".modules_to_save.", "trainable_tokens_")
        missing = [key for key in report.missing_keys if any(mark in key for mark in marks)]
        if odd := sorted(report.unexpected_keys) or sorted(missing):
            what = "has weights for which its base model has no place" if report.unexpected_keys else "has no"
            raise ModelError(
                f"cannot load {self.name!r}: its adapter {what} {first_of(odd, 1)}; is it the right base?"
            )

    def _resize(self, network: Any) -> None:
        """Give a network as many words as the adapter has, if it brings the vectors of all words."""
        words = network.get_input_embeddings()
        prefix = next(name for name, module in network.named_modules() if module is words)
        for name in (f"{prefix}.weight", f"{prefix}.base_layer.weight"):
            if name in self.shapes and self.shapes[name][0] != len(words.weight):
                network.resize_token_embeddings(self.shapes[name][0], mean_resizing=False)


def read_adapter(folder: Path, name: str) -> Adapter | None:
    """The adapter in a folder; `None` if there is none.

    Raises:
        ModelError: it cannot be read, or it is none that is read here.
    """
    if not (folder / CONFIG).is_file():
        return None
    settings = _settings(folder, name)
    if flaw := _flaw(folder, settings):
        raise ModelError(f"cannot load {name!r}: {flaw}")
    if find_spec("peft") is None:
        raise ModelError(
            f"{name!r} is a LoRA adapter, which needs the package peft: {how_to_install('lora')}"
        )
    if wrong := _unknown(settings):
        raise ModelError(f"cannot load {name!r}: its {CONFIG} sets {wrong!r}, which is not read here")
    try:
        with safe_open(folder / WEIGHTS, "pt") as file:
            shapes = {_bare(key): tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ModelError(f"cannot load {name!r}: {WEIGHTS} is damaged: {in_one_line(error)}") from error
    return Adapter(name=name, folder=folder, settings=settings, shapes=shapes)


def _settings(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        settings = load_json((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = None
    if not isinstance(settings, dict):
        raise ModelError(f"cannot load {name!r}: {CONFIG} is damaged; copy the adapter again")
    return settings


def _flaw(folder: Path, settings: Mapping[str, Any]) -> str:
    """Why an adapter is not read; empty if it may be."""
    if any((folder / file).is_file() for file in ("model.safetensors", "model.safetensors.index.json")):
        return f"it holds whole weights and an adapter ({CONFIG}); move one of them to a folder of its own"
    if (kind := settings.get("peft_type")) != "LORA":
        return f"an adapter of type {kind!r}; only LoRA is read: merge it into its base model with peft"
    if not (folder / WEIGHTS).is_file():
        others = sorted(folder.glob("adapter_model.*"))
        where = f"only safetensors are read, and its weights are in {others[0].name}" if others else ""
        return where or f"no {WEIGHTS} in {str(folder)!r}"
    if (start := settings.get("init_lora_weights")) not in _STARTS:
        return (
            f"training its adapter began with {start!r}, which changes the base model; "
            "merge both with peft, and save the whole model"
        )
    return ""


def _unknown(settings: Mapping[str, Any]) -> str:
    """A setting that peft would heed and that is not passed on; empty if there is none."""
    import peft

    defaults = {
        field.name: field.default for field in fields(peft.LoraConfig) if field.default is not MISSING
    }
    return next(
        (
            key
            for key, value in sorted(settings.items())
            if key not in _DECIDING and key not in _IDLE and value and value != defaults.get(key)
        ),
        "",
    )


def _bare(key: str) -> str:
    return key.removeprefix(_PREFIX)
