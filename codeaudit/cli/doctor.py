"""The command `codeaudit doctor`: what is installed here, and what each missing part would add.

It imports no framework: versions are read from the metadata of the installed distributions.
"""

import json
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, requires
from typing import Any, Final

import click

from codeaudit.cli.installed import installs_again
from codeaudit.transforms.distribution import NAME, NAMESAKE, Extra, how_to_install, version_of
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.registration import load_target

SECONDS: Final = 10.0
"""Largest number of seconds that a program may take to tell its version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A distribution that the program uses."""

    module: str
    """The name of its top module."""
    adds: str
    """What the program can do with it."""
    extra: Extra | None = None
    """Our extra that installs it; `None` if the plain installation does."""


PARTS: Final[Mapping[str, Part]] = {
    "torch": Part(module="torch", adds="the bundled models, models of the hub, training, seals"),
    "transformers": Part(module="transformers", adds="models of the hub (hf/NAME) on this machine"),
    "tokenizers": Part(module="tokenizers", adds="the tokenizers of trained models"),
    "safetensors": Part(module="safetensors", adds="reading and writing of weights"),
    "cryptography": Part(module="cryptography", adds="encrypted seals"),
    "openai": Part(module="openai", adds="endpoints (openai/MODEL)"),
    "httpx2": Part(module="httpx2", adds="the connections to endpoints"),
    "numpy": Part(module="numpy", adds="statistics and data for models"),
    "scipy": Part(module="scipy", adds="intervals and tests"),
    "scikit-posthocs": Part(module="scikit_posthocs", adds="Conover's test of `compare` across trials"),
    "pandas": Part(module="pandas", adds="data frames for Conover's test"),
    "pyarrow": Part(module="pyarrow", adds="run folders and Parquet tables"),
    "tomlkit": Part(module="tomlkit", adds="limits written into a TOML file (gate --write-limits)"),
    "typing-extensions": Part(module="typing_extensions", adds="every command that reads samples"),
    "hypothesis": Part(module="hypothesis", adds="inputs on which Python is executed (--execute)"),
    "libcst": Part(module="libcst", adds="codemods as transforms (codemod/MODULE:CLASS)"),
    "tree-sitter": Part(module="tree_sitter", adds="Java"),
    "tree-sitter-java": Part(module="tree_sitter_java", adds="Java"),
    "tree-sitter-javascript": Part(module="tree_sitter_javascript", adds="JavaScript"),
    "tree-sitter-typescript": Part(module="tree_sitter_typescript", adds="TypeScript"),
    "tree-sitter-c": Part(module="tree_sitter_c", adds="C"),
    "tree-sitter-cpp": Part(module="tree_sitter_cpp", adds="C++"),
    "javalang": Part(module="javalang", adds="the second reader that checks variants of Java"),
    "iced-x86": Part(module="iced_x86", adds="x86-64 assembly and programs"),
    "unicorn": Part(
        module="unicorn", adds="execution of x86-64 blocks on other processors", extra="emulator"
    ),
    "inspect-ai": Part(
        module="inspect_ai",
        adds="models of every vendor (anthropic/MODEL, inspect/VENDOR/MODEL)",
        extra="inspect",
    ),
    "socksio": Part(module="socksio", adds="endpoints through a SOCKS proxy", extra="socks"),
    "ray": Part(module="ray", adds="runs on a cluster (--engine ray)", extra="ray"),
    "datasets": Part(
        module="datasets", adds="data sets of the Hugging Face hub (hfds:NAME@SPLIT)", extra="hub"
    ),
    "sacrebleu": Part(
        module="sacrebleu", adds="BLEU and chrF of summaries (--task summarisation)", extra="summaries"
    ),
    "accelerate": Part(
        module="accelerate", adds="a network of hf/ on several GPUs (-M device_map=auto)", extra="gpus"
    ),
    "peft": Part(module="peft", adds="adapters of LoRA (hf/FOLDER)", extra="lora"),
    "matplotlib": Part(
        module="matplotlib", adds="figures of papers (papers run PAPER/figure-N)", extra="figures"
    ),
    "tensorboard": Part(
        module="tensorboard", adds="curves of a training (train --log tensorboard)", extra="tensorboard"
    ),
    "wandb": Part(module="wandb", adds="curves of a training (train --log wandb)", extra="wandb"),
}
"""By the name of the distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the answer."""

    group: str
    part: str
    found: str
    """The version or the name of what is there; empty if it is missing."""
    adds: str
    """What the program can do with it."""
    remedy: str
    """How to get it; empty if there is no way on this machine."""


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Format on stdout."
)
def doctor(form: str) -> int:
    """Say what is installed on this machine, and what each missing part would add.

    A missing part is no error: the exit code is 0.

    \b
    Examples:
      codeaudit doctor
      codeaudit doctor --format json
    """
    parts = list(findings())
    if form == "json":
        click.echo(
            json.dumps({"schema": 1, "parts": [asdict(part) for part in (*conflicts(), *parts)]}, indent=2)
        )
        return 0
    width = max(len(finding.part) for finding in parts)
    for finding in conflicts():
        click.echo(f"{finding.group}:\n  {finding.part} {finding.found} {finding.adds}\n  {finding.remedy}")
    for group in dict.fromkeys(finding.group for finding in parts):
        click.echo(f"{group}:")
        for finding in parts:
            if finding.group == group:
                click.echo(f"  {finding.part:{width}}  {finding.found or _absent(finding)}")
    missing = sum(not finding.found for finding in parts)
    click.echo(f"{len(parts) - missing} of {len(parts)} parts are here.")
    return 0


def _absent(finding: Finding) -> str:
    remedy = f" ({finding.remedy})" if finding.remedy else ""
    return f"missing; it would add {finding.adds}{remedy}"


def findings() -> Iterator[Finding]:
    """Every part that the program can use."""
    yield Finding(
        group="program",
        part=NAME,
        found=version_of() or "a checkout, not installed",
        adds="",
        remedy="",
    )
    yield Finding(group="program", part="Python", found=platform.python_version(), adds="", remedy="")
    for name, part in PARTS.items():
        yield Finding(
            group="optional packages" if part.extra else "packages",
            part=name,
            found=version_of(name),
            adds=part.adds,
            remedy=_installs(name, part),
        )
    for name, find, adds, remedy in WITNESSES:
        yield Finding(group="witnesses", part=name, found=_version(find), adds=adds, remedy=remedy)
    for name, find, adds, remedy in (*MACHINE, *_toolchains()):
        yield Finding(group="machine", part=name, found=_version(find), adds=adds, remedy=remedy)


def conflicts() -> Iterator[Finding]:
    """The distribution with our command and module, where it is installed beside ours."""
    if other := version_of(NAMESAKE):
        yield Finding(
            group="conflict",
            part=NAMESAKE,
            found=other,
            adds=f"has the same command and module as {NAME}; each has overwritten files of the other",
            remedy="uninstall both, then install one of them again: "
            f"python -m pip uninstall --yes {NAMESAKE} {NAME} && python -m pip install {installs_again()}",
        )


def what_to_install(error: ImportError) -> str:
    """The message for an import that failed because a package is missing."""
    module = (error.name or "").partition(".")[0]
    for name, part in PARTS.items():
        if part.module == module and isinstance(error, ModuleNotFoundError):
            # One part seldom comes alone: without torch, its tokenizers are missing, too.
            every = "" if part.extra else f", or all that is missing: {how_to_install()}"
            return f"this needs {name}, which is not installed ({part.adds}); {_installs(name, part)}{every}"
    if isinstance(error, ModuleNotFoundError) and module:
        return f"the module {module!r} is not installed; codeaudit doctor says what is"
    reason = " ".join(str(error).split())
    return f"cannot import {error.name or 'a module'}: {reason} (CODEAUDIT_DEBUG=1 shows the traceback)"


def _installs(name: str, part: Part) -> str:
    # The quotes keep a shell from reading brackets and the signs of ranges.
    if part.extra:
        return f"try: {how_to_install(part.extra)}"
    requirement = _requirement(name)
    return f'try: pip install "{requirement}"' if requirement != name else f"try: pip install {name}"


def _requirement(name: str) -> str:
    """A distribution with the versions that the installed program takes; the bare name in a checkout."""
    with suppress(PackageNotFoundError):
        for requirement in requires(NAME) or ():
            if re.split(r"[^\w.-]", requirement, maxsplit=1)[0] == name:
                return requirement
    return name


def _version(find: Callable[[], str]) -> str:
    # A tool that is there and does not work counts as missing: an audit could not use it.
    try:
        return find()
    except (CannotAudit, ImportError, OSError, subprocess.SubprocessError):
        return ""


def _mca() -> str:
    tool = load_target("codeaudit.transforms.x86.witnesses.mca:find")()
    return f"{tool.version} ({tool.program})"


def _javac() -> str:
    return _first_line("javac", "-version")


def _typescript() -> str:
    compilers = load_target("codeaudit.audit.witnesses.javascript_readers:compilers")()
    return ", ".join(str(compiler["version"]) for compiler in compilers)


def _processor() -> str:
    if platform.machine().lower() not in ("x86_64", "amd64") or not _sandbox():
        return ""
    name: str = load_target("codeaudit.transforms.x86.witnesses.native:processor_name")()
    return name


def _sandbox() -> str:
    containment = "codeaudit.transforms.oracle.containment"
    layers = load_target(f"{containment}:offered")()
    return f"seccomp filters, Landlock version {layers.landlock}" if layers.enough else ""


def _toolchains() -> Iterator[tuple[str, Callable[[], str], str, str]]:
    """What runs programs of other languages than Python, as in `MACHINE`."""
    table = "codeaudit.transforms.oracle.toolchains"
    for tool in load_target(f"{table}:TOOLCHAINS").values():
        yield tool.command, partial(_toolchain, tool), f"execution of {tool.title}", tool.remedy


def _toolchain(tool: Any) -> str:
    installed = load_target("codeaudit.transforms.oracle.toolchains:installed")(tool)
    return "" if installed is None else f"{installed.version} ({installed.path})"


def _gpu() -> str:
    return _first_line("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")


def _first_line(program: str, *words: str) -> str:
    path = shutil.which(program)
    if path is None:
        return ""
    done = subprocess.run([path, *words], capture_output=True, text=True, timeout=SECONDS, check=True)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


WITNESSES: Final = (
    (
        "llvm-mca",
        _mca,
        "costs of x86-64 blocks: labels of `throughput`, --execute",
        "try: apt-get install llvm",
    ),
    ("javac", _javac, "a check that variants of Java compile", "try: apt-get install default-jdk-headless"),
    (
        "typescript",
        _typescript,
        "a second reader of TypeScript and JSX (--execute), types (--dependence types)",
        "try: npm install typescript@6",
    ),
    ("this processor", _processor, "execution of x86-64 blocks", "needs x86-64 and the sandbox"),
)
"""Name, how to find it, what it adds, how to get it."""
MACHINE: Final = (
    ("sandbox", _sandbox, "execution of code (--execute, generation)", "needs Linux 5.13 or later"),
    ("GPU", _gpu, "faster models (--device cuda)", "needs an NVIDIA driver; torch may know other devices"),
)
