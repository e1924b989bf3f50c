"""Loads `hf/NAME_OR_PATH`: a local folder or a snapshot of the hub, and the head that fits the network.

Only safetensors and GGUF are read, because the other formats can run code when they are loaded.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.constants import ENDPOINT
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars

from codeaudit.audit.checks import load_json
from codeaudit.audit.models.endpoints.proxies import wrong_proxy
from codeaudit.audit.models.hf import adapter as adapter_files
from codeaudit.audit.models.hf.adapter import Adapter, read_adapter
from codeaudit.audit.models.hf.arguments import HEADS, Arguments
from codeaudit.audit.models.hf.classify import ClassificationHead
from codeaudit.audit.models.hf.embed import EmbeddingHead, sentence_window
from codeaudit.audit.models.hf.fill import MaskFillingHead
from codeaudit.audit.models.hf.generate import GenerationHead
from codeaudit.audit.models.hf.heads import (
    Head,
    LoadedNetwork,
    WindowedTokenizer,
    in_one_line,
    of_its_files,
    quiet,
    window_of,
)
from codeaudit.audit.models.hf.model import HubModel, room_on
from codeaudit.audit.models.hints import for_folder
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.models.text_models import shown_prompt, with_prompt
from codeaudit.audit.papers.checkpoint import PRECISIONS, usable_device, usable_precision
from codeaudit.transforms.distribution import how_to_install, version_of
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.grammar import first_of

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
    settings = about if isinstance(about, Mapping) else about.to_dict()
    method = str(settings.get("quant_method") or next((_OLD[key] for key in _OLD if settings.get(key)), ""))
    return method.lower() or "unknown"


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

    make: Any = BitsAndBytesConfig
    return make(load_in_4bit=bits == "4bit", load_in_8bit=bits == "8bit")


TIMEOUT: Final = 10.0
"""Seconds that the hub has to answer whether it has a model."""

WEIGHTS: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
"""The file that says which tensor is in which file, if there are several."""
_FOREIGN: Final = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack", "*.gguf", "*.onnx")
_OWN_TOKENIZER: Final = (
    "a tokenizer of your own must be one that AutoTokenizer reads, such as PreTrainedTokenizerFast "
    "(tokenizer.json); else audit the model as a callable, py/MODULE:CALLABLE"
)

_DECISIVE: Final = frozenset({".safetensors", ".json", ".txt", ".model", ".jinja", ".tiktoken", ".py"})
"""Endings of files that may decide an answer; the fingerprint covers them."""
_TEXTS: Final = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
_WEIGHTS: Final = (WEIGHTS, INDEX, "model-*-of-*.safetensors", adapter_files.WEIGHTS)
_ELSEWHERE: Final = ("*/*.safetensors", "onnx/*", "openvino/*", "original/*")

_WORDS: Final = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt")
"""Files of tokenizers."""

_HUB_NAME: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)?")

ENDINGS: Final = (
    ("ForSequenceClassification", "classification"),
    ("ForMaskedLM", "masked"),
    ("ForCausalLM", "causal"),
    ("LMHeadModel", "causal"),
    ("ForConditionalGeneration", "seq2seq"),
    ("Model", "embedding"),
)
"""The head by the ending of an architecture's name; the first one that matches counts."""


_ANSWERING: Final[Mapping[str, Callable[[LoadedNetwork, Arguments], Head]]] = {
    "classification": ClassificationHead,
    "masked": MaskFillingHead,
}
"""The heads that are made of the network and the arguments alone; all others but embeddings write."""


def find_folder(name: str, *, revision: str | None, code: bool, gguf: str = "") -> Path:
    """The folder of a name; files that are not here yet are fetched. `code`: Python files, too.

    `gguf` is the file of that kind that is wanted, in the place of safetensors.

    Raises:
        UsageError: there is no name, or a revision is given for a local folder.
        ModelError: there is no such folder or model, or the hub cannot be reached.
    """
    if not name:
        raise UsageError("model 'hf/' has no name; write hf/NAME, or hf/PATH of a folder")
    path = Path(os.path.expanduser(name))
    if path.is_dir():
        if revision is not None:
            raise UsageError(f"model 'hf/{name}' is a folder here and has no revision {revision!r}")
        return path
    if path.is_file():
        raise ModelError(f"model 'hf/{name}' is a file; name the folder that save_pretrained wrote")
    if name.startswith((".", "/", "~")) or not _HUB_NAME.fullmatch(name):
        raise ModelError(f"no folder {name!r} for model 'hf/{name}'")
    return _snapshot(name, revision, code, gguf)


def check_weights(folder: Path, name: str) -> None:
    """Check that the weights are there as safetensors.

    Raises:
        ModelError: they are not, or some of their files are missing.
    """
    if (folder / INDEX).is_file():
        try:
            index = load_json((folder / INDEX).read_text(encoding="utf-8"))
            lost = [
                file for file in sorted(set(index["weight_map"].values())) if not (folder / file).is_file()
            ]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"cannot load {name!r}: {INDEX} is damaged; copy the model again") from error
        if lost:
            raise ModelError(f"cannot load {name!r}: {lost[0]} is missing; copy the model again")
    elif not (folder / WEIGHTS).is_file():
        other = sorted(path.name for pattern in _FOREIGN for path in folder.glob(pattern))
        if other:
            why = (
                f"only safetensors are read, and its weights are in {other[0]}; where you trust that file, "
                "load it with transformers and write it again with save_pretrained"
            )
        else:
            why = f"no {WEIGHTS} in {str(folder)!r}"
        raise ModelError(f"cannot load {name!r}: {why}")


def digest_of(folder: Path) -> str:
    """A hash over the files of a model that may decide an answer."""
    hasher = hashlib.sha256()
    for path in sorted(_decisive(folder)):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        hasher.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return hasher.hexdigest()


def _decisive(folder: Path) -> Iterator[Path]:
    """The deciding files of the folder, and the configs of a sentence encoder's parts below it."""
    # Not the whole tree, which may hold the weights of earlier checkpoints.
    for path in [*folder.iterdir(), *folder.glob("*/config.json")]:
        if path.suffix in _DECISIVE and path.is_file():
            yield path


def _snapshot(name: str, revision: str | None, code: bool, gguf: str) -> Path:
    # Without the user's word no code is fetched, so that none can run by mistake.
    patterns = [*_TEXTS, *([gguf] if gguf else _WEIGHTS), *(["*.py"] if code else [])]
    # Asked first, because `snapshot_download` tries for minutes, and tells a missing model and a missing
    # network with one error.
    silence = _silence(name, revision)
    try:
        with _bars_on_terminals_only():
            path = snapshot_download(
                name,
                revision=revision,
                allow_patterns=patterns,
                ignore_patterns=list(_ELSEWHERE),
                etag_timeout=TIMEOUT,
                local_files_only=bool(silence),
            )
    except Exception as error:  # any proxy or network error
        why = f"the hub gave no answer ({silence})" if silence else in_one_line(error)
        raise ModelError(
            f"no folder {name!r}, and cannot get the model 'hf/{name}': {why}; go online, or name a folder"
        ) from error
    return Path(path)


def _silence(name: str, revision: str | None) -> str:
    """Why the hub cannot be reached, so that only an earlier snapshot can be used; empty if it can.

    Raises:
        ModelError: the hub knows no such model or revision, or does not give access to it.
    """
    try:
        HfApi().model_info(name, revision=revision, timeout=TIMEOUT)
    except RevisionNotFoundError as error:
        raise ModelError(f"the model 'hf/{name}' has no revision {revision!r} on the hub") from error
    except GatedRepoError as error:
        raise ModelError(
            f"the model 'hf/{name}' is gated; ask for access on the hub, and set HF_TOKEN"
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"no folder {name!r} here, and no model of that name on the hub") from error
    except Exception as error:  # offline, refused, timed out, a proxy's page, …
        return wrong_proxy(ENDPOINT) or in_one_line(error, most=80)
    return ""


@contextmanager
def _bars_on_terminals_only() -> Iterator[None]:
    """Progress bars of downloads only if stderr is a terminal."""
    if sys.stderr.isatty():
        # Where texts are cleaned, a bar needs a stream that lets it return to the beginning of its line.
        with redirect_stderr(getattr(sys.stderr, "bars", sys.stderr)):
            yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The folder that a model is loaded from."""

    name: str
    folder: Path
    arguments: Arguments = field(default_factory=Arguments)
    purpose: str = "load"
    """What is done with it, for messages: `cannot load …`."""
    gguf: str = ""
    """The file in the folder that has everything; empty for a folder as `save_pretrained` writes it."""
    adapter: Adapter | None = None
    """What is put into the network of the folder, which is that of the base model then."""

    def read(self, loader: Callable[..., Any], **settings: Any) -> Any:
        """The object that a loader of the library makes from the folder, without access to the hub.

        Raises:
            ModelError: it cannot.
        """
        trust = self.arguments.trust_remote_code
        if self.gguf:
            settings["gguf_file"] = self.gguf
        try:
            return loader(self.folder, local_files_only=True, trust_remote_code=trust, **settings)
        except Exception as error:  # the library passes on errors of any type
            reason = in_one_line(error)
            if "trust_remote_code" in str(error):
                reason = "it needs code of its own; read that code, and run it with -M trust_remote_code=true"
            elif "ignore_mismatched_sizes" in str(error):
                reason = "its weights do not have the shapes that its config.json gives; copy both again"
            elif isinstance(error, LookupError | AttributeError | TypeError):
                reason = (
                    f"one of its files is damaged, or of another format ({type(error).__name__}: {reason})"
                )
            raise ModelError(f"cannot {self.purpose} {self.name!r}: {reason}") from error


def load(name: str, settings: Settings) -> HubModel:
    """The model of a folder or of the hub.

    Raises:
        UsageError: there is no such device or precision, or an argument has no effect.
        ModelError: a file or a package is missing, a file is damaged, or no head fits the model.
    """
    arguments = Arguments.read(settings)
    device = usable_device(settings.device)
    if arguments.device_map is not None:
        if settings.device != "auto":
            raise UsageError(
                f"--device {settings.device} and -M device_map={arguments.device_map}: a model is on one "
                "device or spread over all; leave one of them out"
            )
        if find_spec("accelerate") is None:
            raise ModelError(f"-M device_map needs the package accelerate: {how_to_install('gpus')}")
    if settings.precision is not None:
        usable_precision(settings.precision)
    with quiet():
        source = _source(name, arguments)
        with of_its_files(source.name):
            return _loaded(source, device, settings.precision)


def _source(name: str, arguments: Arguments) -> Source:
    """The folders of a name, and what is read from them.

    Raises:
        UsageError: an argument has no effect.
        ModelError: a folder or a package is missing.
    """
    place, gguf = name, ""
    if name.endswith(".gguf"):
        head, slash, gguf = name.rpartition("/")
        place = head if slash else "."
    trust = arguments.trust_remote_code
    folder = find_folder(place, revision=arguments.revision, code=trust, gguf=gguf)
    spec = with_prompt(f"hf/{name}", shown_prompt(arguments.prompt))
    if gguf:
        if not (folder / gguf).is_file():
            raise ModelError(f"no file {gguf!r} in {str(folder)!r} for model {spec!r}")
        check_method("gguf", spec)
    adapter = None if gguf else read_adapter(folder, spec)
    if adapter is not None:
        folder = _base_of(adapter, arguments)
    elif arguments.base is not None:
        raise UsageError(f"-M base has no effect on {spec!r}, which is no adapter")
    return Source(name=spec, folder=folder, arguments=arguments, gguf=gguf, adapter=adapter)


def _base_of(adapter: Adapter, arguments: Arguments) -> Path:
    """The folder of an adapter's base model.

    Raises:
        ModelError: it is not here and cannot be fetched, or it is an adapter itself.
    """
    place = arguments.base or adapter.base
    if not place:
        raise ModelError(
            f"{adapter.name!r} is an adapter that names no base model; -M base=NAME_OR_PATH does"
        )
    if (beside := adapter.folder / place).is_dir() and not Path(place).is_dir():
        place = str(beside)
    revision = adapter.settings.get("revision") if not (arguments.base or Path(place).is_dir()) else None
    try:
        folder = find_folder(place, revision=revision, code=arguments.trust_remote_code)
    except (ModelError, UsageError) as error:
        raise ModelError(
            f"{adapter.name!r} is an adapter, and its base model {place!r} cannot be had ({error}); "
            "-M base=NAME_OR_PATH names it"
        ) from error
    if (folder / adapter_files.CONFIG).is_file():
        raise ModelError(
            f"the base model {place!r} of {adapter.name!r} is an adapter itself; merge both first"
        )
    return folder


def _loaded(source: Source, device: str, precision: str | None) -> HubModel:
    name, folder, arguments, adapter = source.name, source.folder, source.arguments, source.adapter
    if not source.gguf and not (folder / "config.json").is_file():
        hint = for_folder(folder) or f"no config.json in {str(folder)!r}"
        raise ModelError(f"cannot load {name!r}: {hint}")
    # In the order of their cost: a wrong argument is found before a file of gigabytes is opened.
    config = source.read(transformers.AutoConfig.from_pretrained)
    _check_code(source)
    head = arguments.head or (adapter and adapter.head) or _head_of(config, name, gguf=bool(source.gguf))
    arguments.check(HEADS[head], name)
    quantised = _quantised(source, config)
    if not source.gguf:
        check_weights(folder, name)
    tokenizer = tokenizer_of(_with_words(source))
    outputs = config.num_labels if adapter is None else adapter.outputs or config.num_labels
    # A number is the answer itself, and the rounding of float16 would count as a changed answer.
    regression = head == "classification" and outputs == 1 and not arguments.labels
    exact = regression and precision is None and not quantised
    network = _network(source, head, config, "float64" if exact else precision, device if quantised else None)
    if adapter is not None:
        adapter.apply(network)
    # More words than rows of the embedding: the files are from two models, and indices would be out of range.
    words = network.get_input_embeddings().weight.shape[0]
    if tokenizer.vocab_size > words:
        raise ModelError(
            f"cannot load {name!r}: its tokenizer has {tokenizer.vocab_size:,} words, its network {words:,}; "
            f"they do not belong together"
        )
    pad = _pad(tokenizer, network, words)
    if head == "embedding" and network.config.is_encoder_decoder:  # the decoder of CodeT5 embeds nothing
        network = network.get_encoder()
    sentence = sentence_window(folder, name) if head == "embedding" else None
    texts = WindowedTokenizer(
        tokenizer,
        window=window_of(tokenizer, network.config.get_text_config(), network, sentence),
        words=words,
        truncate=arguments.truncate,
    )
    if arguments.device_map is None and not quantised:
        try:
            network = network.to(device)
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"model {name!r} does not fit into the memory of {device}; try --precision bfloat16, "
                f"--device cpu, or several GPUs with -M device_map=auto"
            ) from error
    else:
        # Its layers are in place. It reads its input where its embedding is.
        device = str(network.get_input_embeddings().weight.device)
    engine = LoadedNetwork(name=name, network=network.eval(), texts=texts, device=device, pad=pad)
    room = room_on(device, vocabulary=len(tokenizer) if head == "masked" else None)
    with torch.inference_mode():
        made: Head
        if head == "embedding":
            made = EmbeddingHead(engine, folder, arguments, room=room)
        else:
            made = _ANSWERING.get(head, GenerationHead)(engine, arguments)
    precision = str(network.dtype).removeprefix("torch.")
    return HubModel(
        engine,
        made,
        digest=_digest(source),
        precision=precision,
        room=room,
        samples=arguments.samples,
        prompt=shown_prompt(arguments.prompt),
    )


def _head_of(config: Any, name: str, *, gguf: bool) -> str:
    """The head for the architecture in a config.

    Raises:
        ModelError: the config names no architecture, or one without a head.
    """
    if gguf:  # it names no head; nearly all are made for servers of language models
        return "seq2seq" if config.is_encoder_decoder else "causal"
    architecture = next(iter(config.architectures or ()), None)
    remedy = f"name its head with -M head={'|'.join(HEADS)}"
    if architecture is None:
        raise ModelError(f"cannot load {name!r}: its config.json names no architecture; {remedy}")
    head = next((head for ending, head in ENDINGS if architecture.endswith(ending)), None)
    if head == "causal" and config.is_encoder_decoder:
        return "seq2seq"
    if head == "seq2seq" and not config.is_encoder_decoder and config.get_text_config() is not config:
        return "causal"  # it also reads pictures, such as Gemma 3
    if head is None or (head == "seq2seq" and not config.is_encoder_decoder):
        raise ModelError(f"cannot load {name!r}: its architecture {architecture} answers no task; {remedy}")
    return head


def tokenizer_of(source: Source) -> Any:
    """The tokenizer of the folder.

    Raises:
        ModelError: it has none. (The library would make one with an empty vocabulary.)
    """
    try:
        tokenizer = source.read(transformers.AutoTokenizer.from_pretrained)
    except ModelError as error:
        hint = "" if "trust_remote_code" in str(error) else f"; {_OWN_TOKENIZER}"
        raise ModelError(f"{error}{hint}") from error
    if source.gguf:
        return tokenizer
    files = {"tokenizer.json", *type(tokenizer).vocab_files_names.values()}
    if type(tokenizer).vocab_files_names and not any((source.folder / file).is_file() for file in files):
        raise ModelError(
            f"cannot {source.purpose} {source.name!r}: no tokenizer in {str(source.folder)!r}; "
            f"write it there with save_pretrained; {_OWN_TOKENIZER}"
        )
    return tokenizer


def _network(source: Source, head: str, config: Any, precision: str | None, place: str | None) -> Any:
    """The network with all its weights; those of an adapter come later.

    `place`: the device that quantised weights are put on; they cannot be moved later on.

    Raises:
        ModelError: some are missing, like those of an untrained head. (The library would draw them.)
    """
    adapter, arguments = source.adapter, source.arguments
    auto = getattr(transformers, HEADS[head].loader)
    pictures: Any = transformers.AutoModelForImageTextToText
    if (
        head == "causal"
        and type(config) not in auto._model_mapping
        and type(config) in pictures._model_mapping
    ):
        auto = pictures
    settings: dict[str, Any] = {"dtype": "auto" if precision is None else PRECISIONS[precision]}
    if arguments.device_map is not None or place is not None:
        settings["device_map"] = arguments.device_map or {"": place}
    if arguments.quantize is not None:
        settings["quantization_config"] = settings_for(arguments.quantize)
    if adapter is not None and head == "classification" and adapter.outputs not in (None, config.num_labels):
        settings["num_labels"] = adapter.outputs
    if not source.gguf:
        settings["use_safetensors"] = True
    network, report = source.read(auto.from_pretrained, output_loading_info=True, **settings)
    shapes: Mapping[str, object] = {} if adapter is None else adapter.shapes
    missing = sorted(
        key
        for key in report["missing_keys"]
        if key not in shapes and not (head == "embedding" and "pooler." in key)
    )
    if missing:
        raise ModelError(
            f"cannot use {source.name!r} for {HEADS[head].words}: it has no weights for "
            f"{first_of(missing, 1)}"
        )
    return network


def _quantised(source: Source, config: Any) -> bool:
    """Whether the weights are quantised in the network, by their authors or by the user.

    Raises:
        UsageError: they would be quantised twice.
        ModelError: a package is missing.
    """
    bits, method = source.arguments.quantize, "gguf" if source.gguf else method_of(config)
    if bits is not None and method is not None:
        raise UsageError(
            f"-M quantize={bits}: the weights of {source.name!r} are quantised already ({method})"
        )
    if bits is not None:
        method = "bitsandbytes"
    if method is not None:
        check_method(method, source.name)
    return method not in (None, "gguf")  # the numbers of a GGUF file are made floats when it is read


def _with_words(source: Source) -> Source:
    """Where the tokenizer is: with the adapter, if it brings one."""
    adapter = source.adapter
    if adapter is not None and any((adapter.folder / file).is_file() for file in _WORDS):
        return replace(source, folder=adapter.folder)
    return source


def _check_code(source: Source) -> None:
    """Check that a config names no code of the hub.

    Raises:
        ModelError: it does, and the user does not trust it.
    """
    if source.gguf or source.arguments.trust_remote_code:
        return
    waiting = [load_json((source.folder / "config.json").read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        for key, value in node.items() if isinstance(node, dict) else ():
            if key.lstrip("_").endswith("_implementation") and "/" in str(value):
                raise ModelError(
                    f"cannot load {source.name!r}: its config.json names code of the hub, {key}={value!r}; "
                    "read that code, and run it with -M trust_remote_code=true"
                )
            waiting.append(value)


def _digest(source: Source) -> str:
    """A hash over everything that is read for a model."""
    digest = digest_of(source.folder)
    more: list[str] = []
    if source.gguf:
        with (source.folder / source.gguf).open("rb") as file:
            more.append(hashlib.file_digest(file, "sha256").hexdigest())
    if source.adapter is not None:
        more += [digest_of(source.adapter.folder), version_of("peft")]
    if source.arguments.quantize is not None:
        more += [source.arguments.quantize, version_of("bitsandbytes")]
    return hashlib.sha256("\0".join((digest, *more)).encode()).hexdigest() if more else digest


def _pad(tokenizer: Any, network: Any, words: int) -> int:
    """The padding token. It is also set in the config, because some networks find the end of a text by it."""
    own = getattr(network.config.get_text_config(), "pad_token_id", None)
    tokens = (tokenizer.pad_token_id, own, tokenizer.eos_token_id)
    pad = next((token for token in tokens if isinstance(token, int) and 0 <= token < words), 0)
    network.config.get_text_config().pad_token_id = pad
    network.config.pad_token_id = pad
    return pad
