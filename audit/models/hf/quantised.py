"""Quantised weights: what they need, and quantising while loading. Each method has packages of its own."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from codeaudit.transforms.errors import ModelError

_ACCELERATE: Final = ("accelerate", "accelerate")
NEEDS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "aqlm": (_ACCELERATE, ("aqlm", "aqlm[gpu,cpu]")),
    "auto-round": (("auto_round", "auto-round"),),
    "awq": (_ACCELERATE, ("gptqmodel", "gptqmodel")),
    "bitnet": (_ACCELERATE,),
    "bitsandbytes": (_ACCELERATE, ("bitsandbytes", "bitsandbytes")),
    "compressed-tensors": (_ACCELERATE, ("compressed_tensors", "compressed-tensors")),
    "eetq": (_ACCELERATE, ("kernels", "kernels")),
    "fp8": (_ACCELERATE,),
    "gguf": (_ACCELERATE, ("gguf", "gguf")),
    "gptq": (_ACCELERATE, ("optimum", "optimum"), ("gptqmodel", "gptqmodel")),
    "hqq": (_ACCELERATE, ("hqq", "hqq")),
    "mxfp4": (_ACCELERATE, ("triton", "triton"), ("kernels", "kernels")),
    "quanto": (_ACCELERATE, ("optimum", "optimum-quanto")),
    "quark": (_ACCELERATE, ("quark", "amd-quark")),
    "torchao": (_ACCELERATE, ("torchao", "torchao")),
    "vptq": (_ACCELERATE, ("vptq", "vptq")),
}
"""By the method, the modules that read its weights, each with the package that has it."""
_OLD: Final[Mapping[str, str]] = {"load_in_4bit": "bitsandbytes", "load_in_8bit": "bitsandbytes"}
"""Settings that stand for a method where a config names none."""


def method_of(config: Any) -> str | None:
    """How the weights of a config are quantised; `None` if they are not."""
    about = getattr(config, "quantization_config", None)
    if about is None:
        return None
    told = about if isinstance(about, Mapping) else about.to_dict()
    known = str(told.get("quant_method") or next((_OLD[key] for key in _OLD if told.get(key)), ""))
    return known.lower() or "unknown"


def check_method(method: str, name: str) -> None:
    """Check that the packages are there that read weights of this method. The library knows the other ones.

    Raises:
        ModelError: one is missing.
    """
    missing = [package for module, package in NEEDS.get(method, ()) if find_spec(module) is None]
    if missing:
        several = "packages" if len(missing) > 1 else "package"
        raise ModelError(
            f"cannot load {name!r}: weights of the format {method} need the {several} "
            f"{' and '.join(missing)}: pip install {' '.join(missing)}"
        )


def settings_for(bits: str) -> Any:
    """The settings with which the library quantises weights to `4bit` or `8bit` while it loads them."""
    from transformers import BitsAndBytesConfig

    made: Any = BitsAndBytesConfig
    return made(load_in_4bit=bits == "4bit", load_in_8bit=bits == "8bit")
