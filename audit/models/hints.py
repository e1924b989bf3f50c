"""What a user meant who wrote no SPEC of a model: the vendor's own word, a bare name, a file or a folder.

Each hint ends with a SPEC that works. The catalogue asks for a hint when a SPEC is none; nothing is loaded,
and nothing is asked over the network.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from codeaudit.audit.checks import load_json

NAMED_FOR_URLS: Final[Mapping[str, str]] = {
    "anthropic": "https://api.anthropic.com/v1",
    "claude": "https://api.anthropic.com/v1",
    "cohere": "https://api.cohere.ai/compatibility/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "grok": "https://api.x.ai/v1",
    "groq": "https://api.groq.com/openai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "perplexity": "https://api.perplexity.ai",
    "together": "https://api.together.xyz/v1",
    "together_ai": "https://api.together.xyz/v1",
    "xai": "https://api.x.ai/v1",
    "azure": "https://NAME.openai.azure.com/openai/v1",
    "bedrock": "URL",
    "vertex": "URL",
    "vertex_ai": "URL",
    "litellm": "http://localhost:4000/v1",
    "llama.cpp": "http://localhost:8080/v1",
    "llamacpp": "http://localhost:8080/v1",
    "lmstudio": "http://localhost:1234/v1",
    "lm_studio": "http://localhost:1234/v1",
    "ollama": "http://localhost:11434/v1",
    "sglang": "http://localhost:30000/v1",
    "tgi": "http://localhost:8080/v1",
    "vllm": "http://localhost:8000/v1",
    "hosted_vllm": "http://localhost:8000/v1",
}
"""The words of other tools for vendors and servers, each with the address of its OpenAI-compatible endpoint.
`URL`: it has none of its own, so a proxy in front of it is needed."""
SHORT: Final = (
    "anthropic", "google", "azureai", "bedrock", "mistral", "grok", "groq", "together", "deepseek",
    "fireworks", "openrouter", "perplexity", "ollama", "vllm", "sglang",
)  # fmt: skip
"""Vendors whose models go by `VENDOR/MODEL`, which is `inspect/VENDOR/MODEL`."""
SHORT_NAMES: Final[Mapping[str, str]] = {
    **{name: name for name in SHORT},
    "azure": "azureai",
    "gemini": "google",
    "hosted_vllm": "vllm",
    "together_ai": "together",
    "xai": "grok",
}
"""The words whose models have a short name here."""
OWNERS: Final[Mapping[str, str]] = {"google": "gemini"}
"""Vendors that also own models on the hub, each with the beginning of those that they serve."""
BEGINNINGS: Final[Mapping[str, str]] = {
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "codex-": "openai",
    "claude-": "anthropic",
    "gemini-": "gemini",
    "grok-": "xai",
    "mistral-": "mistral",
    "codestral-": "mistral",
    "devstral-": "mistral",
    "deepseek-": "deepseek",
    "command-": "cohere",
}
"""Beginnings of models' names, each with the vendor's word."""
HUBS: Final = frozenset({"huggingface", "transformers", "hub", "hf-hub", "hf_hub"})
"""The words of other tools for what `hf/` reads."""
_GPT: Final = re.compile(r"\Agpt(\d)", re.I)
_HUB_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+")
_CALLABLE: Final = re.compile(r"(?P<module>[\w./\\-]+?)(?P<ending>\.py)?:(?P<name>[A-Za-z_][\w.]*)")
_STEP: Final = re.compile(r"checkpoint-(\d+)")
_ANSWERS: Final = (".jsonl", ".csv", ".parquet", ".jsonl.gz", ".csv.gz")


def for_word(spec: str) -> str:
    """The SPEC that a word stands for, with its options; empty if the word says nothing.

    `spec` is no known model, no folder and no file.
    """
    if re.match(r"https?://", spec):
        return f"openai/MODEL --base-url {spec}"
    head, slash, rest = spec.partition("/")
    word = head.lower()
    if slash and rest:
        if word in HUBS:
            return f"hf/{rest}"
        if is_on_hub(word, rest):
            return f"hf/{spec}"
        if word in NAMED_FOR_URLS:
            return _endpoint(rest, word)
    if not slash and word in NAMED_FOR_URLS:
        return _endpoint("MODEL", word)
    # `gpt4` is `gpt-4`.
    spec = spec if slash else _GPT.sub(r"gpt-\1", spec)
    vendor = next((vendor for begin, vendor in BEGINNINGS.items() if spec.lower().startswith(begin)), None)
    if vendor is not None and not slash:
        return f"openai/{spec}" if vendor == "openai" else _endpoint(spec, vendor)
    if (called := _CALLABLE.fullmatch(spec)) is not None:
        return _callable(called["module"], called["name"])
    if slash and (near := get_close_matches(word, NAMED_FOR_URLS, n=1, cutoff=0.85)):
        return _endpoint(rest, near[0])
    # Two words with a slash, and the first one is no provider: so models are named on the hub.
    return f"hf/{spec}" if _HUB_NAME.fullmatch(spec) and len(head) > 2 and len(rest) > 2 else ""


def is_on_hub(vendor: str, model: str) -> bool:
    """Whether a model of a vendor is one that it only publishes, and does not serve."""
    return vendor in OWNERS and not model.startswith(OWNERS[vendor])


def _endpoint(model: str, word: str) -> str:
    return f"{SHORT_NAMES[word]}/{model}" if word in SHORT_NAMES else at_endpoint(model, word)


def at_endpoint(model: str, word: str) -> str:
    """The model of a vendor at its OpenAI-compatible endpoint."""
    address = NAMED_FOR_URLS[word]
    spec = f"openai/{model} --base-url {address}"
    return f"{spec} of a proxy that speaks OpenAI's protocol, such as LiteLLM" if address == "URL" else spec


def _callable(module: str, name: str) -> str:
    dotted = module.removeprefix("./").replace("\\", "/").replace("/", ".")
    return f"py/{dotted.strip('.')}:{name}"


def for_file(path: Path) -> str:
    """What a file is good for that is no checkpoint; empty if nothing is known."""
    name = path.name.lower()
    if name.endswith(".py"):
        return f"a callable in it is {_callable(str(path.with_suffix('')), 'CALLABLE')}"
    if name.endswith(_ANSWERS):
        return f"answers made elsewhere are file/{path}"
    if name.endswith(".gguf"):
        return f"transformers reads many of them: {_at('hf', path)}"
    if name.endswith((".safetensors", ".bin", ".pt", ".pth", ".ckpt")):
        return f"name the folder that it is in: {for_folder(path.parent) or _at('hf', path.parent)}"
    if os.access(path, os.X_OK):
        return f"a program that answers is exec/{_as_program(path)}"
    return ""


def _as_program(path: Path) -> str:
    return str(path) if path.is_absolute() else f"./{path}"


def for_folder(folder: Path) -> str:
    """What a folder is that is no checkpoint of codeaudit, and the SPEC that reads it; empty if not known."""
    config = _read(folder / "config.json")
    has_weights = any(folder.glob("model*.safetensors")) or any(folder.glob("pytorch_model*.bin"))
    if (folder / "adapter_config.json").is_file() and not has_weights:
        return f"it holds an adapter (LoRA): {_at('hf', folder)}"
    if "network" not in config and ("model_type" in config or "architectures" in config):
        return f"it holds a Hugging Face model: {_at('hf', folder)}"
    if not config and (packed := sorted(folder.glob("*.gguf"))):
        return f"it holds GGUF files; name one: {_at('hf', packed[0])}"
    if not config and (steps := sorted(_steps(folder))):
        several = f"{len(steps)} checkpoints" if len(steps) > 1 else "a checkpoint"
        return f"it holds {several} of a Trainer; the last one: {_at('hf', steps[-1][1])}"
    return ""


def _steps(folder: Path) -> Iterator[tuple[int, Path]]:
    """The checkpoints that a Trainer left in a folder, with their steps."""
    for checkpoint in folder.glob("checkpoint-*"):
        if (match := _STEP.fullmatch(checkpoint.name)) and (checkpoint / "config.json").is_file():
            yield int(match[1]), checkpoint


def near_steps(path: Path) -> str:
    """The checkpoints of a Trainer beside a path that does not exist, or in the folder above; else empty."""
    if not _STEP.fullmatch(path.name):
        return ""
    steps = sorted(_steps(path.parent)) or sorted(
        step for inner in path.parent.glob("*/") for step in _steps(inner)
    )
    return ", ".join(_at("hf", checkpoint) for _, checkpoint in steps[-3:])


def _at(provider: str, folder: Path) -> str:
    return f"{provider}/{shlex.quote(str(folder))}"


def _read(path: Path) -> Mapping[str, object]:
    try:
        content = load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
