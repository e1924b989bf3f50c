"""`--prompt`: each model of texts is asked with each of several prompts.

A model with a prompt is a model of its own, `openai/MODEL@few-shot`: it has its own fingerprint, answers and
verdicts. So the options of a run are rewritten once, before anything else reads them: `--model M --prompt A
--prompt B` becomes the model M twice, with `-M 1:prompt=A -M 2:prompt=B`. Nothing else knows of the option.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from codeaudit.audit.interface import Model, Task
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.text_models import named, prompt_names
from codeaudit.audit.models.wrappers import innermost
from codeaudit.bound_arguments import BoundArgument, of_model
from codeaudit.options import RunOptions
from codeaudit.transforms.errors import UsageError

PROMPT: Final = "prompt"
"""The `-M` argument that names the prompt of one model."""
_OTHERS: Final = ("template", "system")
"""The `-M` arguments that say what is asked, too."""


def prompted(options: RunOptions, given: Collection[str] = ()) -> RunOptions:
    """The options with a model for each model of texts and prompt. `given` are models that are objects.

    Raises:
        UsageError: there is no such prompt, no model takes one, or it is said twice what a model is asked.
        ModelError: the file of a prompt cannot be read.
    """
    prompts = tuple(dict.fromkeys(options.prompt))
    if not prompts:
        return options
    for text in prompts:
        named(text)
    if not options.model:
        raise UsageError("--prompt: the bundled models read code and no prompt; name a model with --model")
    takers = [_takes(spec, given) for spec in options.model]
    if not any(takers):
        able = ", ".join(
            provider.form for provider in catalogue.providers().values() if provider.takes(PROMPT)
        )
        raise UsageError(f"--prompt: no model here is asked with a prompt; it goes with {able}")
    models: list[str] = []
    arguments: list[BoundArgument] = []
    for place, (spec, takes) in enumerate(zip(options.model, takers, strict=True), start=1):
        if takes:
            _check_alone(options, place, spec)
        for text in prompts if takes else ("",):
            models.append(spec)
            arguments += _bound(options.arguments, place, len(models), text)
    common = (argument for argument in options.arguments if not argument.place)
    return replace(
        options,
        model=tuple(models),
        model_argument=tuple(argument.text for argument in (*common, *arguments)),
        prompt=(),
    )


def _takes(spec: str, given: Collection[str]) -> bool:
    return spec not in given and PROMPT in catalogue.accepted(spec)


def _check_alone(options: RunOptions, place: int, spec: str) -> None:
    arguments = of_model(options.arguments, place, catalogue.accepted(spec))
    for key in (PROMPT, *_OTHERS):
        if key in arguments:
            raise UsageError(f"--prompt and -M {key} both say what {spec!r} is asked; write one of them")


def _bound(arguments: Sequence[BoundArgument], before: int, now: int, prompt: str) -> Iterator[BoundArgument]:
    """The arguments of the model at a place, for another place, with its prompt."""
    yield from (argument._replace(place=now) for argument in arguments if argument.place == before)
    if prompt:
        yield BoundArgument(now, PROMPT, prompt)


def check_prompts(models: Sequence[Model], task: Task) -> None:
    """Check that the task has the prompts of the models, and that two of one model differ.

    Raises:
        UsageError: it has not, or they do not.
    """
    by_model: dict[str, dict[str, str]] = {}
    for model in models:
        name = prompt_of(model)
        if name not in prompt_names():
            continue
        wording = task.asked(name)
        if wording is None:
            prompts = ", ".join(("plain", *task.wordings)) if task.prompt else "none"
            raise UsageError(f"the task {task.name!r} has no prompt {name!r}; it has {prompts}")
        by_model.setdefault(without_prompt(model), {})[name] = wording.digest
    for digests in by_model.values():
        for (one, first), (other, second) in combinations(digests.items(), 2):
            if first == second:
                raise UsageError(
                    f"the prompts {one} and {other} of the task {task.name!r} are one; name one of them"
                )


def prompt_of(model: Model) -> str:
    """What the prompt of a model is called that the user named; empty without one."""
    return str(getattr(innermost(model), PROMPT, ""))


def without_prompt(model: Model) -> str:
    """The name of a model without that of its prompt."""
    prompt = prompt_of(model)
    return model.name.removesuffix(f"@{prompt}") if prompt else model.name
