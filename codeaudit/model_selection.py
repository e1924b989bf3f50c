"""The models of a run: checked, loaded, and matched with one task. `codeaudit.auditing` calls it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

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
from codeaudit.audit.models.callable import CallableModel, answering
from codeaudit.audit.models.provider import OPTIONS
from codeaudit.audit.models.settings import Settings
from codeaudit.audit.models.wrapping import innermost
from codeaudit.audit.registry import DEFAULT_TASK, TASKS
from codeaudit.audit.run import RunProgress
from codeaudit.run_options import RunOptions
from codeaudit.transforms.errors import ModelError, UsageError


def check_names(options: RunOptions, given: Mapping[str, Model]) -> None:
    """Check the task, the models and their arguments by name. Nothing is loaded.

    `given` are the models that are objects already, by name.

    Raises:
        UsageError: a task, model or argument does not exist, a model is named twice, there is none, or an
            option has an effect on none of the models.
        ModelError: the folder of a checkpoint does not exist.
    """
    if options.task is not None:
        TASKS.summary(options.task)
    task = options.task or DEFAULT_TASK
    if not options.model and not catalogue.bundled_for(TASKS.plain(task)):
        raise UsageError(f"no bundled model for task {task!r}; name one with --model")
    specs = [spec for spec in options.model if spec not in given]
    for spec in specs:
        catalogue.check(spec)
    for number, spec in enumerate(options.model):
        if spec in options.model[:number]:
            raise UsageError(f"model {spec!r} is named twice")
    accepted = frozenset().union(*(catalogue.accepted(spec) for spec in specs))
    for key in options.arguments.keys() - accepted:
        known = ", ".join(sorted(accepted)) or "none"
        raise UsageError(f"no model here takes the argument {key!r}; known: {known}")
    # With given models only an address is checked: the batch size has an effect on each of them, and a note
    # about a device would tell nothing, because the caller put the model on its device.
    named = [name for name in options.model_options if name == "base_url" or not given]
    catalogue.check_options(specs if options.model else catalogue.bundled(), named)


def bundled_models(task: str, language: str) -> tuple[str, ...]:
    """The names of the bundled models for a task in a language.

    Raises:
        UsageError: there is none.
    """
    specs = catalogue.bundled_for(task, language)
    if not specs:
        raise UsageError(f"no bundled model for task {task!r} in {language}; name one with --model")
    return specs


def load_models(options: RunOptions, specs: tuple[str, ...], given: Mapping[str, Model]) -> tuple[Model, ...]:
    """The models in the order of `specs`, each behind the wrapper of `options.wrap`.

    Raises:
        ModelError: one of them cannot be loaded.
    """
    settings = Settings(**{name: getattr(options, name) for name in OPTIONS})
    models = []
    for spec in specs:
        model = given.get(spec)
        if model is None:
            accepted = catalogue.accepted(spec)
            own = {key: value for key, value in options.arguments.items() if key in accepted}
            model = catalogue.load(spec, settings, own)
        if options.wrap == catalogue.CANONICAL:
            model = catalogue.wrapped(model)
        elif options.wrap == catalogue.COLUMNS:
            model = catalogue.permuted(model, seed=options.seed)
        models.append(model)
    return tuple(models)


def as_model(model: object, *, name: str = "") -> Model:
    """A callable, an object with a method `predict`, or a model, as a model; by default named after itself.

    The cache keeps the answers of a callable within one run only, because nothing tells when it changes.

    Raises:
        UsageError: it is none of them.
    """
    if hasattr(model, "predict") and hasattr(model, "fingerprint"):
        return cast("Model", model)
    function = answering(model)
    if function is None:
        raise UsageError(f"{model!r} is no model: give a callable, a model's name, or a model")
    own = getattr(model, "__qualname__", type(model).__name__)
    return CallableModel(name=name or own, function=function, fingerprint=f"volatile:{name or own}")


@contextmanager
def usage_noted(model: Model, progress: RunProgress) -> Iterator[None]:
    """Tell the usage of a model at the end, also after an error."""
    try:
        yield
    finally:
        meter = meter_of(model)
        if meter is not None and meter.usage:
            progress.note(f"{model.name}: {meter.bill}")


def meter_of(model: Model) -> HasUsage | None:
    """The model, or the model inside its wrappers, if it counts its usage."""
    inner = innermost(model)
    return inner if isinstance(inner, HasUsage) else None


def common_task(named: str | None, models: tuple[Model, ...]) -> Task:
    """The named task, else the task of the models, else the default.

    Raises:
        UsageError: the models were made for different tasks; the task continues a text and a model sees
            another text (its canonical form); or a model draws several answers where the task takes one.
        ModelError: a model was made for another task than the named one.
    """
    own = {model.name: model.task for model in models if model.task is not None}
    accepted = {model.name: model.tasks for model in models if isinstance(model, SeveralTasks)}
    if named is None and len(set(own.values())) > 1:
        told = ", ".join(f"{name} for {task}" for name, task in own.items())
        raise UsageError(f"the models were made for different tasks: {told}; audit them apart")
    task = named or next(iter(own.values()), DEFAULT_TASK)
    plain = TASKS.plain(task)
    for name, made_for in own.items():
        if made_for != plain and plain not in accepted.get(name, ()):
            raise ModelError(f"model {name!r} was made for the task {made_for!r}, not for {task!r}")
    found = TASKS.get(task)
    for model in models:
        if not isinstance(found, HasAttempts) and isinstance(model, SamplesAnswers) and model.samples > 1:
            raise UsageError(
                f"-M samples={model.samples}: an answer to the task {task!r} is one text, not several "
                f"attempts; leave samples out, or write --task {_with_attempts()}"
            )
    for model in models:
        if isinstance(found, ContinuesPrompt) and model.name.startswith(f"{catalogue.CANONICAL}/"):
            raise UsageError(
                f"{model.name!r} sees canonical code, and an answer to the task {task!r} goes on with "
                "the code itself; audit the model without the wrapper"
            )
    return found


def _with_attempts() -> str:
    return next(name for name in TASKS.built_in if isinstance(TASKS.get(name), HasAttempts))
