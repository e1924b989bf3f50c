"""The models of a run: named, loaded, and fit for one task."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click
from click.core import ParameterSource

from codeaudit.audit.interface import (
    ContinuesPrompt,
    HasAttempts,
    HasUsage,
    Model,
    SamplesAnswers,
    SeveralTasks,
    Task,
)
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.settings import Settings
from codeaudit.audit.registry import TASKS
from codeaudit.cli.options import RunOptions
from codeaudit.cli.progress import note
from codeaudit.transforms.errors import ModelError, UsageError

DEFAULT_TASK: Final = "function-name"


def check_names(options: RunOptions) -> tuple[str, ...]:
    """The models that are named, all of which exist; none where bundled ones are meant. Nothing is loaded.

    Raises:
        UsageError: a task or model does not exist, a model is named twice, or none is named or bundled.
        ModelError: a folder does not exist.
    """
    if options.task is not None:
        TASKS.summary(options.task)
    specs = options.model
    if not specs and not catalogue.bundled_for((options.task or DEFAULT_TASK).partition(":")[0]):
        raise UsageError(f"no bundled model for task {options.task or DEFAULT_TASK!r}; name one with --model")
    for number, spec in enumerate(specs):
        catalogue.check(spec)
        if spec in specs[:number]:
            raise UsageError(f"model {spec!r} is named twice")
    accepted = frozenset().union(*(catalogue.accepted(spec) for spec in specs))
    for key in options.arguments.keys() - accepted:
        known = ", ".join(sorted(accepted)) or "none"
        raise UsageError(f"no model here takes the argument {key!r}; known: {known}")
    if _said("base_url") and not any(catalogue.at_endpoint(spec) for spec in specs):
        raise UsageError("--base-url: no model here is at an endpoint; write --model openai/MODEL")
    return specs


def bundled_models(task: str, language: str) -> tuple[str, ...]:
    """Those that were made for a task in a language.

    Raises:
        UsageError: there is none.
    """
    specs = catalogue.bundled_for(task, language)
    if not specs:
        raise UsageError(f"no bundled model for task {task!r} in {language}; name one with --model")
    return specs


def load_models(options: RunOptions, specs: tuple[str, ...]) -> tuple[Model, ...]:
    """The models, behind the wrapper that was asked for.

    Raises:
        ModelError: one of them cannot be loaded.
    """
    settings = Settings(device=options.device, precision=options.precision, base_url=options.base_url)
    models = []
    for spec in specs:
        accepted = catalogue.accepted(spec)
        given = {key: value for key, value in options.arguments.items() if key in accepted}
        model = catalogue.load(spec, settings, given)
        models.append(_wrapped(model, options))
    return tuple(models)


def _wrapped(model: Model, options: RunOptions) -> Model:
    match options.wrap:
        case catalogue.CANONICAL:
            return catalogue.wrapped(model)
        case catalogue.COLUMNS:
            return catalogue.permuted(model, seed=options.seed)
        case _:
            return model


def _said(option: str) -> bool:
    """Whether an option stands on the command line itself."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(option) is ParameterSource.COMMANDLINE


@contextmanager
def billed(model: Model) -> Iterator[None]:
    """Tell at the end, an early one too, what asking a model took."""
    try:
        yield
    finally:
        meter = meter_of(model)
        if meter is not None and meter.usage:
            note(f"{model.name}: {meter.bill}")


def meter_of(model: Model) -> HasUsage | None:
    """The meter of a model or of the one that it wraps, if it has one."""
    inner = getattr(model, "inner", model)
    return inner if isinstance(inner, HasUsage) else None


def common_task(named: str | None, models: tuple[Model, ...]) -> Task:
    """The task that is named, else the models' own, else the default.

    Raises:
        UsageError: the models were made for different tasks, one sees another text than it is to go on with,
            or one gives several answers where one is asked for.
        ModelError: a model was made for another task than the one named.
    """
    own = {model.name: model.task for model in models if model.task is not None}
    takes = {model.name: model.tasks for model in models if isinstance(model, SeveralTasks)}
    if named is None and len(set(own.values())) > 1:
        told = ", ".join(f"{name} for {task}" for name, task in own.items())
        raise UsageError(f"the models were made for different tasks: {told}; audit them apart")
    task = named or next(iter(own.values()), DEFAULT_TASK)
    plain = task.partition(":")[0]
    for name, made_for in own.items():
        if made_for != plain and plain not in takes.get(name, ()):
            raise ModelError(f"model {name!r} was made for the task {made_for!r}, not for {task!r}")
    found = TASKS.get(task)
    if not isinstance(found, HasAttempts):
        for model in models:
            if isinstance(model, SamplesAnswers) and model.samples > 1:
                raise UsageError(
                    f"-M samples={model.samples}: an answer to the task {task!r} is one text, not several "
                    "attempts; leave samples out, or write --task generation"
                )
    if isinstance(found, ContinuesPrompt):
        for model in models:
            if model.name.startswith(f"{catalogue.CANONICAL}/"):
                raise UsageError(
                    f"{model.name!r} sees canonical code, and an answer to the task {task!r} goes on with "
                    "the code itself; audit the model without the wrapper"
                )
    return found
