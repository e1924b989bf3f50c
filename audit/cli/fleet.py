"""The models of a run: named, loaded, and fit for one task."""

from typing import Final

from audit.cli.options import RunOptions
from audit.interface import Model, Task
from audit.models import catalogue
from audit.models.settings import Settings
from audit.registry import TASKS
from transforms.errors import ModelError, UsageError

DEFAULT_TASK: Final = "function-name"


def check_names(options: RunOptions) -> tuple[str, ...]:
    """The models that are meant, all of which exist; nothing is loaded.

    Raises:
        UsageError: a task or model does not exist, or is named twice.
        ModelError: a folder does not exist.
    """
    if options.task is not None:
        TASKS.summary(options.task)
    specs = options.model or catalogue.bundled_for(options.task or DEFAULT_TASK)
    if not specs:
        raise UsageError(f"no bundled model for task {options.task or DEFAULT_TASK!r}; name one with --model")
    for number, spec in enumerate(specs):
        catalogue.check(spec)
        if spec in specs[:number]:
            raise UsageError(f"model {spec!r} is named twice")
    accepted = frozenset().union(*(catalogue.accepted(spec) for spec in specs))
    for key in options.arguments.keys() - accepted:
        known = ", ".join(sorted(accepted)) or "none"
        raise UsageError(f"no model here takes the argument {key!r}; known: {known}")
    return specs


def load_models(options: RunOptions, specs: tuple[str, ...]) -> tuple[Model, ...]:
    """The models, behind the wrapper that was asked for.

    Raises:
        ModelError: one of them cannot be loaded.
    """
    settings = Settings(device=options.device, precision=options.precision)
    models = []
    for spec in specs:
        accepted = catalogue.accepted(spec)
        given = {key: value for key, value in options.arguments.items() if key in accepted}
        model = catalogue.load(spec, settings, given)
        models.append(catalogue.wrapped(model) if options.wrap == catalogue.CANONICAL else model)
    return tuple(models)


def common_task(named: str | None, models: tuple[Model, ...]) -> Task:
    """The task that is named, else the models' own, else the default.

    Raises:
        UsageError: the models were made for different tasks.
        ModelError: a model was made for another task than the one named.
    """
    own = {model.name: model.task for model in models if model.task is not None}
    if named is None and len(set(own.values())) > 1:
        told = ", ".join(f"{name} for {task}" for name, task in own.items())
        raise UsageError(f"the models were made for different tasks: {told}; audit them apart")
    task = named or next(iter(own.values()), DEFAULT_TASK)
    for name, made_for in own.items():
        if made_for != task:
            raise ModelError(f"model {name!r} was made for the task {made_for!r}, not for {task!r}")
    return TASKS.get(task)
