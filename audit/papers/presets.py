"""The sizes and settings of the papers by name, and the structural options of each family.

Importing this needs no torch. What a paper does not say is as in the recipe of its family, or noted here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown

Kind: TypeAlias = type | tuple[str, ...]
"""What a structural option takes: a kind of number, true or false, or one of some words."""

STRUCTURE: Final[Mapping[str, Mapping[str, Kind]]] = {
    "spe_attention": {"features": int, "neighbours": int, "copying": bool},
    "tree_transformer": {
        "degree": ("full", "prefix"),
        "spelling": ("whole", "subtokens"),
        "decoder_layers": int,
        "levels": int,
        "embedding": int,
        "terms": ("both", "local", "global"),
        "dimension": ("both", "first", "second"),
        "nonadjacent": ("zero", "learned"),
        "combination": ("additive", "multiplicative"),
    },
    "renamer": {"context": bool, "positions": ("steps", "terms")},
    "dependency_encoding": {
        **dict.fromkeys(("features", "in_line", "plain"), int),
        **dict.fromkeys(("sparsity", "sharpness"), float),
        **dict.fromkeys(("in_line_mask", "pace", "mixer", "direct"), bool),
        **dict.fromkeys(("residual_add", "unit_columns", "tied"), bool),
    },
}
"""Options of networks that change what is computed, by the folder of the paper."""


def structure(folder: str, texts: Sequence[str]) -> dict[str, object]:
    """The values of `NAME=VALUE` texts.

    Raises:
        UsageError: the family has no such option, or the value is none of its kind.
    """
    options: dict[str, object] = {}
    known = STRUCTURE[folder]
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option {text!r} must be NAME=VALUE")
        if name not in known:
            raise UsageError(unknown("structural option", name, list(known)))
        options[name] = _read(name, value, known[name])
    return options


def _read(name: str, value: str, kind: Kind) -> object:
    words = ("true", "false") if kind is bool else kind
    if isinstance(words, tuple):
        if value not in words:
            raise UsageError(f"--option {name}={value}: must be one of {', '.join(words)}")
        return value == "true" if kind is bool else value
    try:
        number = int(value) if kind is int else float(value)
    except ValueError as error:
        raise UsageError(f"--option {name}={value}: must be a number") from error
    if not 0 <= number < 10**9:
        raise UsageError(f"--option {name}={value}: must be a number from 0 to 10^9")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings of a paper."""

    folder: str
    """The folder of the paper."""
    networks: tuple[str, ...]
    settings: Mapping[str, object]
    structure: Mapping[str, object] = field(default_factory=dict)
    weights: str
    """How many weights the paper states, and what the preset has; shown before the training."""


_SPE: Final = {
    "width": 768,
    "layers": 8,
    "heads": 12,
    "inner": 1920,
    "vocabulary": 32_016,
    "rarest_label": 1,
    "window": 1024,
    "rate": 1e-4,
    "epochs": 20,
    "batch": 32,
    "bag_epochs": 0,
}
_OWN_LINES: Final = {"neighbours": 0, "copying": False}
_BERT: Final = {
    "window": 128,
    "dropout": 0.0,
    "batch": 64,
    "epochs": 500,
    "readout": "cls",
    "implied": False,
}
_OWN_READING: Final = {"context": False, "positions": "terms"}
_CODE: Final = ("code", "rope", "nope", "fire", "hope", "alibi")
_TERMS: Final = ("renamer", "vanilla", "augmented", "canonicalized")
_LINES: Final = (
    "67.7 M for two labels, 68.4 M and 72.9 M for names; here 67.7 M: the paper does not give the inner "
    "width, 1,920 is chosen to match, and labels share the table of words, so their number does not count"
)
_BERTS: Final = "not stated; the layers have BERT's number of weights, the table of words those of the corpus"

PRESETS: Final[Mapping[str, Preset]] = {
    **{
        name: Preset(
            folder="spe_attention", networks=networks, settings=_SPE, structure=_OWN_LINES, weights=_LINES
        )
        for name, networks in (("spe-paper", ("spe", "vanilla")), ("symc-paper", ("symc",)))
    },
    **{
        f"renamer-{size}": Preset(
            folder="renamer",
            networks=_TERMS,
            settings={**_BERT, "width": width, "layers": layers, "heads": heads, "rate": rate},
            structure=_OWN_READING,
            weights=_BERTS,
        )
        for size, width, layers, heads, rate in (
            ("tiny", 128, 2, 2, 3e-4),
            ("mini", 256, 4, 4, 3e-4),
            ("small", 512, 4, 8, 1e-4),
        )
    },
    "code-71m": Preset(
        folder="dependency_encoding",
        networks=_CODE,
        settings={
            "width": 512,
            "layers": 8,
            "heads": 8,
            "inner": 2048,
            "window": 512,
            "vocabulary": 32_000,
            "batch": 256,
            "rate": 5e-4,
        },
        structure={"features": 512, "sparsity": 5e-5, "in_line": 2, "plain": 1, "tied": False},
        weights="71 M; here 69.0 M, and 70.5 M for the baselines, with Llama's 32,000 words in two tables",
    ),
    "code-10m": Preset(
        folder="dependency_encoding",
        networks=_CODE,
        settings={
            "width": 256,
            "layers": 4,
            "heads": 4,
            "inner": 1024,
            "window": 1024,
            "vocabulary": 11_000,
            "batch": 16,
            "rate": 5e-5,
        },
        structure={"features": 32, "sparsity": 2e-6, "in_line": 1, "plain": 0, "tied": False},
        weights="10 M; here 9.9 M: the paper does not give the words, 11,000 are chosen to match",
    ),
    "tree-paper": Preset(
        folder="tree_transformer",
        networks=("tree", "tree-vanilla", "tree-shaw", "tree-shiv", "tree-kim"),
        settings={
            "width": 512,
            "layers": 6,
            "heads": 8,
            "inner": 2048,
            "window": 250,
            "vocabulary": 50_000,
            "rarest_label": 1,
            "batch": 32,
            "rate": 1e-4,
            "epochs": 20,
        },
        structure={"decoder_layers": 6, "spelling": "whole", "degree": "full", "levels": 16, "embedding": 32},
        weights="about 1.3 M for the positions (here 1.33 M); the sum is not stated (here 71 M)",
    ),
}


def preset(name: str, folder: str, network: str) -> Preset:
    """The preset of that name, for a network of a family.

    Raises:
        UsageError: there is none, or it is of other networks.
    """
    if name not in PRESETS:
        raise UsageError(unknown("preset", name, list(PRESETS)))
    chosen = PRESETS[name]
    if chosen.folder != folder or network not in chosen.networks:
        raise UsageError(f"preset {name!r} is of {', '.join(chosen.networks)}, not of {network}")
    return chosen


def fitting(chosen: Preset, options: Mapping[str, object], network: str) -> dict[str, object]:
    """The structural options of a preset that a network of its family has."""
    code = {"features", "sparsity", "tied"} if network != "code" else set(chosen.structure)
    return {
        name: value
        for name, value in chosen.structure.items()
        if name not in options and (chosen.folder != "dependency_encoding" or name in code)
    }
