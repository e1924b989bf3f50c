"""What of a run's recorded options the user must type again before it acts.

A manifest is data, and may be a stranger's. Names of samples, transforms and numbers in it are harmless. But
some options start code or a program, read a file of the user, or send code and a key to an address. A run is
repeated (`codeaudit run --config manifest.json`) and explained (`codeaudit explain`) without these, until
they are on the command line.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.urls import redacted_url
from codeaudit.audit.models.text_models import prompt_names, shown_prompt, with_prompt
from codeaudit.bound_arguments import BoundArgument, of_model, read_arguments
from codeaudit.options import TABLE, marked
from codeaudit.prompting import PROMPT
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.permission import is_permitted

CODE: Final = tuple(option.name for option in TABLE.values() if option.entry.form in ("task", "transforms"))
"""Options whose values may be code of a project."""
FORMS: Final = ("py/", "codemod/")
"""How that code is named."""


def _unwrapped(spec: str) -> str:
    """The name of the model behind all wrappers."""
    while spec.startswith(f"{catalogue.CANONICAL}/"):
        spec = spec.partition("/")[2]
    return spec


def acting(spec: str) -> bool:
    """Whether the name of a model alone starts code or a program, or reads a folder or a file."""
    inner = _unwrapped(spec)
    if inner in catalogue.bundled():
        return False
    head, slash, rest = inner.partition("/")
    if not slash or head not in catalogue.PROVIDERS or head in ("py", "exec", "file"):
        return True
    # `hf/NAME` is a model of the hub, and `hf/PATH` a folder here.
    return head == "hf" and (rest.startswith((".", "/", "~")) or os.path.exists(rest))


def is_bundled(spec: str) -> bool:
    """Whether a model comes with codeaudit: a checkpoint or a fake."""
    inner = _unwrapped(spec)
    return inner in catalogue.bundled() or inner.startswith("fake/")


def foreign_address(options: Mapping[str, Any]) -> str | None:
    """The recorded address of an endpoint, if it is not the one that this user's environment gives."""
    recorded = options.get("base_url")
    if recorded is None:
        return None
    address = catalogue.base_url(tuple(map(str, options.get("model") or ())), None)
    return None if address is not None and recorded == redacted_url(address) else str(recorded)


def foreign_arguments(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The recorded `-M` arguments, if one of them is more than a number or `false`: it may be the path of
    a file that is sent, an address, what is sent there, or the permission to run code."""
    texts = tuple(map(str, options.get("model_argument") or ()))
    try:
        every = read_arguments(texts)
    except UsageError:
        return texts
    if all(_is_harmless(argument) and not argument.acts for argument in every):
        return ()
    return tuple(argument.kept for argument in every)


def _is_harmless(argument: BoundArgument) -> bool:
    if argument.key == PROMPT:  # one of ours, and no file
        return argument.value in prompt_names()
    try:
        float(argument.value)
    except ValueError:
        return argument.value == "false"
    return True


def next_commands(folder: Path, options: Mapping[str, Any], *, judged: int) -> str:
    """What a user may do with a finished run that judged so many pairs, as commands to type."""
    place = shlex.quote(str(folder))
    explained = f"codeaudit explain {place}{words_to_explain(options)}, " if judged else ""
    return f"{explained}codeaudit report {place} --html FILE"


def words_to_explain(options: Mapping[str, Any]) -> str:
    """What `codeaudit explain RUN` needs besides, with a blank before each word."""
    arguments = read_arguments(map(str, options.get("model_argument") or ()))
    parts = []
    for place, spec in enumerate(map(str, options.get("model") or ()), start=1):
        own = of_model(arguments, place, None)
        label = f"{spec} ({own['name']})" if "name" in own else spec
        if not is_bundled(spec):
            parts.append(f"--model {shlex.quote(with_prompt(label, shown_prompt(own.get(PROMPT, ''))))}")
    parts += [
        word
        for name, word in words(options, permitted=False)
        if name in ("task", "model_argument", "base_url")
    ]
    return "".join(f" {word}" for word in parts)


def words(options: Mapping[str, Any], *, permitted: bool = True) -> Iterator[tuple[str, str]]:
    """The options that must be typed again, by their field of `RunOptions`, each as a user types it.

    With `permitted=False` the names of code that this process was given are included: a later command was not
    given them.
    """
    specs = tuple(map(str, options.get("model") or ()))
    # All of them, because models on the command line replace those of the file.
    if any(map(acting, specs)):
        for spec in specs:
            yield "model", f"--model {shlex.quote(spec)}"
    for name in CODE:
        value = str(options.get(name) or "")
        named = permitted and all(map(is_permitted, value.split(",")))
        if any(form in value for form in FORMS) and not named:
            yield name, f"--{name} {shlex.quote(value)}"
    for text in foreign_arguments(options):
        yield "model_argument", f"-M {shlex.quote(text)}"
    if (address := foreign_address(options)) is not None:
        yield "base_url", f"--base-url {shlex.quote(redacted_url(address))}"
    for name in sorted(marked("retyped")):
        # What the user's environment gives needs no typing.
        given = os.environ.get(f"CODEAUDIT_{name.upper()}")
        if options.get(name) and str(options[name]) != given:
            yield name, f"{TABLE[name].flag} {shlex.quote(str(options[name]))}"
