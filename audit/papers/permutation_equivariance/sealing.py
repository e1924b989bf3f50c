"""Opens a checkpoint for tracing, and plans its sealing by columns: proved before anything is written.

A checkpoint folder is one of ours or one of `transformers`.
"""

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from codeaudit.audit.checks import load_json, shown
from codeaudit.audit.papers import registry
from codeaudit.audit.papers.checkpoint import CONFIG, folder_of
from codeaudit.audit.records import Query
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.columns.keys import Key
from codeaudit.transforms.columns.layout import Layout, draw
from codeaudit.transforms.columns.permute import permute_module
from codeaudit.transforms.columns.proof import EXACT, SINGLE, Deviation, change, deviation, exactly
from codeaudit.transforms.columns.sealing import Seal, weight_files
from codeaudit.transforms.columns.tracing import AxisGroups, Call, infer, tensors, watched
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.language import LANGUAGES

BATCH: Final = 2
TOKENS: Final = 7
OTHER_TOKENS: Final = 5
"""Sizes of the made-up input; no two axes alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A loaded checkpoint."""

    folder: Path
    module: nn.Module
    call: Call
    answers: bool
    """Whether its outputs are answers, and not hidden states, which may come permuted."""
    names: Mapping[str, str]
    """The module's name of each tensor in the files that is one of its parameters."""


def open_checkpoint(place: str) -> Opened:
    """A bundled checkpoint by name, or a folder, of ours or of `transformers`.

    Raises:
        ModelError: there is no such checkpoint, or it cannot be loaded.
    """
    folder = folder_of(str(Path(os.path.expanduser(place))) if not folder_of(place).is_dir() else place)
    weight_files(folder)
    try:
        config = load_json((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{place!r} is no checkpoint: its {CONFIG} cannot be read") from error
    if not isinstance(config, dict):
        raise ModelError(f"{place!r} is no checkpoint: its {CONFIG} is no record")
    module, call = _ours(folder) if "schema" in config else _foreign(folder, config)
    module.eval()
    with torch.no_grad():
        result = call(module)
    # Hidden states are a network's inner columns: they may come permuted. Logits may not.
    answers = not isinstance(result, Mapping) or any(name.endswith("logits") for name in result)
    if not tensors(result):
        raise ModelError(f"{type(module).__name__} of {place!r} gives no tensor")
    return Opened(folder=folder, module=module, call=call, answers=answers, names=_names(folder, module))


def _ours(folder: Path) -> tuple[nn.Module, Call]:
    model: Any = registry.load(str(folder), device="cpu", precision=None)
    read = getattr(model.config, "languages", ()) or (TASKS.get(model.task).language,)
    language = LANGUAGES.get(read[0])
    query = Query(task=model.task, language=language.name, source=language.example)
    if (inputs := model.one_call(query)) is not None:
        return model.module, Call(inputs, {})
    with watched(model.module) as calls:
        model.predict([query])
    if not calls:
        raise ModelError(f"the checkpoint in {str(folder)!r} does not answer")
    return model.module, calls[0]


def _foreign(folder: Path, config: Mapping[str, Any]) -> tuple[nn.Module, Call]:
    import transformers

    from codeaudit.audit.models.hf.heads import quiet

    named = config.get("architectures") or ["AutoModel"]
    name = named[0] if isinstance(named, list) else named
    kind: Any = getattr(transformers, str(name), None)
    if not hasattr(kind, "from_pretrained"):
        raise ModelError(f"{str(folder)!r} holds a {shown(name)}, which transformers does not know")
    try:
        with quiet():
            module: Any = kind.from_pretrained(
                folder, local_files_only=True, dtype="auto", attn_implementation="eager"
            )
    except Exception as error:  # whatever the library raises
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"cannot load {str(folder)!r}: {reason}") from error
    return module, _example(module)


def _example(module: Any) -> Call:
    """Random tokens or a random picture, as the configuration says.

    Raises:
        ModelError: it reads something else.
    """
    config, name = module.config, module.main_input_name
    generator = torch.Generator().manual_seed(0)
    if name == "pixel_values":
        size = config.image_size if isinstance(config.image_size, int) else config.image_size[0]
        shape = (BATCH, config.num_channels, size, size)
        kind = next(module.parameters()).dtype
        return Call((), {"pixel_values": torch.randn(shape, generator=generator).to(kind)})
    if name != "input_ids":
        raise ModelError(f"{type(module).__name__} reads {name}, for which no example can be made")
    vocabulary = config.get_text_config().vocab_size
    lowest = min(3, vocabulary - 1)
    # Not the first ids: one of them is padding in most vocabularies, and padded places compute nothing.
    ids = torch.randint(lowest, vocabulary, (BATCH, TOKENS), generator=generator)
    arguments: dict[str, Any] = {"input_ids": ids, "use_cache": False}
    if config.is_encoder_decoder:
        arguments["decoder_input_ids"] = torch.randint(
            lowest, vocabulary, (BATCH, OTHER_TOKENS), generator=generator
        )
    return Call((), arguments)


def _names(folder: Path, module: nn.Module) -> dict[str, str]:
    """The parameters by their names in the files, matched by their numbers, because libraries rename them.

    A parameter that is the same number everywhere need not be found: it has no order.
    """
    weights = dict(module.named_parameters(remove_duplicate=False))
    # Twice the same numbers under two names (tied weights, or two initial zeros) need the name to tell them
    # apart.
    alike: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
    for owner, weight in weights.items():
        alike[_digest(weight)].append(owner)
    prefix = f"{getattr(module, 'base_model_prefix', '')}."
    names: dict[str, str] = {}
    for name, stored in _stored(folder):
        kind = next(
            (weight.dtype for owner, weight in weights.items() if weight.shape == stored.shape), stored.dtype
        )
        owners = alike.get(_digest(stored.to(kind)), [])
        named = [owner for owner in (name, name.removeprefix(prefix), f"{prefix}{name}") if owner in owners]
        same = len({id(weights[owner]) for owner in owners}) == 1
        if named or same:
            names[name] = (named or owners)[0]
    return names


def _stored(folder: Path) -> Iterator[tuple[str, torch.Tensor]]:
    for name in weight_files(folder):
        try:
            with safe_open(folder / name, framework="pt") as file:
                for key in file.keys():  # noqa: SIM118 - it is no mapping
                    yield key, file.get_tensor(key)
        except (SafetensorError, OSError) as error:
            raise ModelError(f"cannot read {str(folder / name)!r}: {error}") from error


def _digest(tensor: torch.Tensor) -> tuple[object, ...]:
    numbers = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return tuple(tensor.shape), tensor.dtype, hashlib.sha256(numbers.tobytes()).digest()


LARGE: Final = 200_000_000
"""Parameters from which the proof is in single precision, since memory is short."""
USELESS: Final = 0.01
"""Least change of the outputs without the key, relative to the largest output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a checkpoint is sealed by columns."""

    layout: Layout
    """By the names of the tensors in the files."""
    outside: frozenset[str]
    """The tensors that stay as they are."""
    locking: int
    """The groups, the first ones of the layout, that no longer fit the outside."""
    proved: Deviation
    """Of the module with everything permuted."""
    double: bool
    """Whether that is in double precision."""
    change: float
    """Of the outputs without the key, relative to the largest."""


def plan(opened: Opened, *, inner: bool = True) -> Plan:
    """Find the axes that may be permuted, and prove it on random input.

    With `inner` the groups that stand inside the blocks only are permuted too.

    Raises:
        ModelError: there is nothing to permute, or the permuted module does not compute the same.
    """
    groups = infer(opened.module, opened.call, free_outputs=not opened.answers)
    numbers = [*groups.locking, *(groups.inner if inner else ())]
    if not groups.locking:
        unknown = f" ({', '.join(groups.unknown)})" if groups.unknown else ""
        raise ModelError(
            f"no columns of {type(opened.module).__name__} can be permuted against its embeddings{unknown}; "
            "use --scheme cipher"
        )
    # Locking groups first: they cross the border to the embeddings and the head, so without the key the
    # sealed blocks no longer fit these. Groups inside the blocks only make the key longer.
    chosen = AxisGroups(
        layout=groups.layout.only({old: new for new, old in enumerate(numbers)}),
        outputs=(),
        inside=groups.inside,
        unknown=groups.unknown,
        untraced=groups.untraced,
    )
    proved, double = prove(opened, groups)
    locked = chosen.layout.only(
        {number: number for number in range(len(numbers))}, {name: name for name in groups.inside}
    )
    changed = change(opened.module, locked, draw(locked.sizes, Random(1)), opened.call)
    # Negated, so that NaN is refused, too.
    if not changed > USELESS:
        raise ModelError("without the key the outputs would hardly change; use --scheme cipher")
    layout = _in_files(opened, chosen.layout)
    return Plan(
        layout=layout,
        outside=frozenset(name for name in layout.tensors if opened.names[name] not in groups.inside),
        locking=len(groups.locking),
        proved=proved,
        double=double,
        change=changed,
    )


def prove(opened: Opened, groups: AxisGroups) -> tuple[Deviation, bool]:
    """How far the fully permuted module is from the plain one, forward and backward.

    Raises:
        ModelError: further than rounding explains.
    """
    permutations = draw(groups.layout.sizes, Random(0))
    distance: Deviation | None = None
    if sum(parameter.numel() for parameter in opened.module.parameters()) <= LARGE:
        # In double precision rounding is 1e-16, so a wrong permutation cannot hide behind it.
        with suppress(RuntimeError):  # some fused operations know no double precision
            distance = exactly(opened.module, groups, permutations, opened.call)
    double = distance is not None
    if distance is None:
        distance = deviation(deepcopy(opened.module).float(), groups, permutations, opened.call)
    if not distance.within(EXACT if double else SINGLE):
        raise ModelError(
            f"the permuted {type(opened.module).__name__} does not compute the same: outputs differ by "
            f"{distance.forward:.1e}, gradients by {distance.backward:.1e}; nothing was written"
        )
    return distance, double


def _in_files(opened: Opened, layout: Layout) -> Layout:
    """The layout by the files' names.

    Raises:
        ModelError: a parameter that has to move is in no file.
    """
    groups = {number: number for number in range(len(layout.sizes))}
    named = layout.only(groups, opened.names)
    stored = {
        id(parameter)
        for parameter in _parameters(opened.module, {opened.names[name] for name in named.tensors})
    }
    for name, weight in opened.module.named_parameters():
        if (
            name in layout.tensors
            and id(weight) not in stored
            and not bool((weight == weight.flatten()[0]).all())
        ):
            raise ModelError(
                f"no tensor in the files has the numbers of {name!r}, so they cannot be permuted; "
                "use --scheme cipher"
            )
    return named


def _parameters(module: nn.Module, names: set[str]) -> list[nn.Parameter]:
    return [parameter for name, parameter in module.named_parameters(remove_duplicate=False) if name in names]


def authorise(opened: Opened, key: Key) -> None:
    """Permute the outside of a sealed module in place, so that it answers as before it was sealed.

    Raises:
        ModelError: another key, another scheme, a damaged seal, or a module that gives hidden states.
    """
    seal = Seal.read(opened.folder)
    salted, _ = seal.opened(key)
    if seal.scheme != "columns":
        raise ModelError("a checkpoint sealed by cipher cannot run; unseal it")
    if not opened.answers:
        raise ModelError(
            f"{type(opened.module).__name__} gives hidden states, which stay permuted; unseal it"
        )
    every = {number: number for number in range(len(seal.layout.sizes))}
    names = {opened.names[name]: name for name in seal.outside}
    permute_module(opened.module, seal.layout.only(every, names), salted.permutations(seal.layout.sizes))
