"""Ray: suites are made in tasks, and models live in actors, on this machine or on a cluster.

The driver of the audit stays in one process. It draws, judges, remembers and writes. So results are those of
`local`, and what dies elsewhere is asked for again. The machines of a cluster need the same codeaudit, and
see the files that the run names under the same paths.

Nothing here imports ray before it is used. It is the extra `ray`.
"""

import logging
import os
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, islice
from typing import Any, Final, TypeVar

from typing_extensions import override

from codeaudit.audit.engines.local import Engine
from codeaudit.audit.interface import (
    BaseModel,
    Model,
    is_rolling,
)
from codeaudit.audit.models.wrappers import innermost
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.distribution import how_to_install
from codeaudit.transforms.errors import CodeauditError, ModelError, RunError
from codeaudit.transforms.permission import permit, permitted
from codeaudit.transforms.registration import overrides

T = TypeVar("T")
R = TypeVar("R")

DEATHS: Final = 5
"""So many times in a row the same work may lose its process. Then the work is at fault, not the machine."""
STARTS: Final = 3
"""How often it is tried to start Ray on this machine."""
CALL: Final = 0.5
"""Seconds that one call of an actor should take: long beside Ray's millisecond, short for progress."""
MOST: Final = 64
"""Largest number of batches in one call of an actor."""
AHEAD: Final = 2
"""Calls that an actor has at once, so that it never waits for the driver."""
TASK: Final = 4
"""Chunks of samples in one task: a task costs more than a message between processes of one machine."""


@contextmanager
def ray_engine(
    address: str | None, *, workers: int, device: str, whole: bool = False
) -> Iterator["RayEngine"]:
    """Connect to the cluster at `address`, or start Ray with `workers` processors on this machine.

    It is left, or stopped, at the end. With `whole` a model takes all GPUs of a machine.

    Raises:
        RunError: ray is not installed, there is no such cluster, or Ray fails as a whole.
    """
    if find_spec("ray") is None:
        raise RunError(f"--engine ray needs the package ray: {how_to_install('ray')}")
    if address is not None:
        _check_reachable(address)
    # Before ray is imported: nobody asked it to send statistics.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.exceptions import RayError

    # Afterwards, because ray sets the level of its log when it is imported.
    logging.getLogger("ray").setLevel(logging.ERROR)

    # Ray takes over the signal that ends a process, with which this program says how to go on.
    handler = signal.getsignal(signal.SIGTERM)
    _start(ray, address, workers)
    with suppress(ValueError):  # not the main thread, where nobody changed it
        signal.signal(signal.SIGTERM, handler)
    _silence()
    try:
        yield RayEngine(ray, device, whole=whole)
    except RayError as error:
        raise RunError(f"Ray failed: {_one_line(error)}; run again to go on") from error
    finally:
        ray.shutdown()


def _start(ray: Any, address: str | None, workers: int) -> None:
    """Connect to Ray, or start it.

    Raises:
        RunError: there is no such cluster, or it cannot be started.
    """
    quiet: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
    if address is None:
        quiet |= {"num_cpus": workers, "include_dashboard": False}
    for left in reversed(range(STARTS if address is None else 1)):
        try:
            ray.init(address=address or "local", **quiet)
            return
        except Exception as error:  # ConnectionError, RuntimeError, ValueError: depends on what is wrong
            # On a busy machine it may need longer than the 30 s that it gives itself.
            ray.shutdown()
            if not left:
                place = "on this machine" if address is None else f"at {address!r}"
                raise RunError(f"cannot use Ray {place}: {_one_line(error)}") from error


def _check_reachable(address: str) -> None:
    """Check that something listens at `HOST:PORT`; Ray itself tries for minutes.

    Raises:
        RunError: nothing does.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):  # a word such as `auto`
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunError(f"cannot use Ray at {address!r}: {reason}; start it with: ray start --head") from error


def _silence() -> None:
    """Keep Ray from telling on stdout that a process died: stdout is for results, and the engine knows."""
    # There is no public setting: `log_to_driver` is about the output of processes, not about their deaths.
    with suppress(ImportError, AttributeError):
        from ray._private import worker

        worker.print_to_stdstream = lambda *_, **__: None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


class RayEngine(Engine):
    """Distributes work over the processors that Ray has."""

    def __init__(self, ray: Any, device: str, *, whole: bool) -> None:
        self._ray = ray
        self.processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        machines = [int(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"]]
        gpus = [number for number in machines if number] if device == "auto" or device[:4] == "cuda" else []
        # Machines may differ: a model takes as many as the smallest has, so that it fits on each.
        share = min(gpus) if gpus and whole else 1
        self.replicas = sum(number // share for number in gpus) or self.processors
        """Number of actors that hold a model: one for each GPU or machine with GPUs, or else for each
        processor."""
        # Suites are made before models are asked, so an actor need not keep a processor from them.
        self._resources = {"num_cpus": 0, **({"num_gpus": share} if gpus else {})}
        self._active: RemoteModel | None = None

    @override
    def spread(self, work: Callable[[T], R], items: Iterable[T], *, chunk: int, few: int) -> Iterator[R]:
        """In tasks.

        Raises:
            RunError: the same items lose their process again and again.
        """
        ray = self._ray
        pending = iter(items)
        first = list(islice(pending, few + 1))
        if len(first) <= few:
            yield from map(work, first)
            return
        pending = chain(first, pending)
        task = ray.remote(_done).options(num_cpus=1, max_retries=DEATHS)
        shared = ray.put(work)
        running: deque[Any] = deque()
        try:
            while True:
                while len(running) < 2 * self.processors and (part := list(islice(pending, TASK * chunk))):
                    running.append(task.remote(shared, part, permitted()))
                if not running:
                    return
                # In the order of the items. The other tasks go on meanwhile.
                yield from self.result(running.popleft())
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    @override
    def model(self, load: Callable[[], Model]) -> Model:
        """The model that `load` makes, in actors; here, if it only waits for others or has its answers.

        Raises:
            ModelError, UsageError: as `load`.
        """
        model = RemoteModel(self, load)
        if model.facts["here"]:
            # An endpoint: one client keeps the one limit on requests. A file of answers: nothing to compute.
            model.close(keep=0)
            return load()
        return model

    def actor(self, load: Callable[[], Model]) -> Any:
        """A new process that holds a model."""
        ray = self._ray
        # Without it Ray fills one machine first.
        holder = ray.remote(_Holder).options(scheduling_strategy="SPREAD", **self._resources)
        return holder.remote(load, os.getcwd(), list(sys.path), permitted())

    def result(self, reference: Any) -> Any:
        """What a task returned.

        Raises:
            CodeauditError: as raised by the task.
            RunError: the task raised something else.
            ray.exceptions.RayError: its process died.
        """
        from ray.exceptions import RayTaskError

        try:
            return self._ray.get(reference)
        except RayTaskError as error:
            if isinstance(error.cause, CodeauditError):
                raise error.cause from None
            raise RunError(f"a process of Ray failed: {_one_line(error.cause or error)}") from error

    def wait(self, references: Sequence[Any]) -> Sequence[Any]:
        """The references whose work has ended; waits for one."""
        ended: Sequence[Any] = self._ray.wait(list(references), num_returns=1)[0]
        return ended

    def end(self, actor: Any) -> None:
        """End the process of an actor."""
        with suppress(Exception):  # it may be dead
            self._ray.kill(actor)

    def activate(self, model: "RemoteModel") -> None:
        """Let this model have the processors, or GPUs, of the one that was asked before."""
        if self._active is not None and self._active is not model:
            # On a CPU one process stays: loading takes seconds. A GPU has room for one.
            self._active.close(keep=0 if "num_gpus" in self._resources else 1)
        self._active = model


def _done(work: Callable[[T], R], items: Sequence[T], named: frozenset[str]) -> list[R]:
    permit(*named)
    logging.getLogger("codeaudit").setLevel(logging.ERROR)  # the driver has noted it already
    return [work(item) for item in items]


@dataclass(frozen=True, slots=True)
class _Answers:
    """What an actor returns."""

    predictions: list[list[Prediction]]
    seconds: float
    usage: Mapping[str, object]
    """The usage of the process so far."""


_FACTS: Final = ("name", "task", "parameters", "fingerprint", "noise", "tasks", "samples", "scale")
"""What a model in actors says of itself."""


class _Holder:
    """The process of an actor: it holds one model."""

    def __init__(
        self, load: Callable[[], Model], folder: str, path: Sequence[str], named: frozenset[str]
    ) -> None:
        permit(*named)
        # As where the run was started: models may be named by a relative path, or be modules of the user's.
        with suppress(OSError):
            os.chdir(folder)
        sys.path.extend(entry for entry in path if entry not in sys.path)
        logging.getLogger("codeaudit").setLevel(logging.ERROR)
        self._load = load
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        # Not in the constructor: Ray would tell an error there as the death of the process.
        if self._model is None:
            self._model = self._load()
        return self._model

    def facts(self) -> dict[str, Any]:
        model = self.model
        inner = innermost(model)
        facts: dict[str, Any] = {name: getattr(model, name) for name in _FACTS}
        if hasattr(model, "network"):
            facts["network"] = model.network
        if hasattr(inner, "dependence"):
            facts["dependence"] = inner.dependence
        return {
            "attributes": facts,
            "here": is_rolling(model) or model.repeats is not None,
            "checks": overrides(model, BaseModel.unreadable),
        }

    def answer(self, batches: Sequence[Sequence[Query]]) -> _Answers:
        model = self.model
        start = time.perf_counter()
        predictions = [list(model.predict(batch)) for batch in batches]
        return _Answers(
            predictions=predictions,
            seconds=time.perf_counter() - start,
            usage=dict(innermost(model).usage),
        )

    def unreadable(self, query: Query) -> Failed | None:
        return self.model.unreadable(query)


@dataclass(slots=True)
class _Call:
    """Batches under way."""

    actor: Any
    batches: list[tuple[int, Sequence[Query]]]
    deaths: int


class RemoteModel(BaseModel):
    """A model in actors. It answers several batches at once."""

    name: str
    task: str | None
    parameters: int | None
    fingerprint: str
    noise: float
    tasks: frozenset[str] = frozenset()
    samples: int = 1
    scale: Scale = ""

    def __init__(self, engine: RayEngine, load: Callable[[], Model]) -> None:
        """Start one actor and ask what the model is."""
        self._engine = engine
        self._load = load
        self._actors: list[Any] = []
        self._used: dict[Any, Mapping[str, object]] = {}
        self._size = 1
        """Batches in one call."""
        self.facts: Mapping[str, Any] = self._call("facts")
        """What the model is and can do."""
        for name, value in self.facts["attributes"].items():
            setattr(self, name, value)

    @property
    @override
    def at_once(self) -> int:
        return self._engine.replicas * AHEAD

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        return next(self.answers([queries]))[1] if queries else []

    @override
    def answers(self, batches: Iterable[Sequence[Query]]) -> Iterator[tuple[int, list[Prediction]]]:
        """In the order in which they arrive. A call whose process died is made again in a new one.

        Raises:
            ModelError: the model cannot answer, or the same queries end every process.
        """
        from ray.exceptions import RayError

        self._engine.activate(self)
        waiting = enumerate(batches)
        lost: deque[_Call] = deque()
        running: dict[Any, _Call] = {}
        try:
            while True:
                while len(running) < self.at_once:
                    if lost:
                        call = lost.popleft()
                    elif part := list(islice(waiting, self._size)):
                        call = _Call(None, part, 0)
                    else:
                        break
                    call.actor = self._free(running)
                    queries = [batch for _, batch in call.batches]
                    running[call.actor.answer.remote(queries)] = call
                if not running:
                    return
                for reference in self._engine.wait(list(running)):
                    if reference not in running:  # it was lost together with another one
                        continue
                    call = running[reference]
                    try:
                        answers: _Answers = self._engine.result(reference)
                    except RayError:
                        lost.extend(self._lost(call.actor, running))
                        continue
                    del running[reference]
                    self._measure(call, answers)
                    yield from (
                        (number, prediction)
                        for (number, _), prediction in zip(call.batches, answers.predictions, strict=True)
                    )
        finally:
            # After Ctrl-C the driver ends Ray. After an error of one call the others must not go on.
            for call in running.values():
                self._replace(call.actor)

    def close(self, *, keep: int) -> None:
        """End all processes but a few."""
        while len(self._actors) > keep:
            self._engine.end(self._actors.pop())

    def _free(self, running: Mapping[Any, _Call]) -> Any:
        """The process with the least to do; a new one, if each has something and there may be more."""
        load = {id(actor): 0 for actor in self._actors}
        for call in running.values():
            if id(call.actor) in load:
                load[id(call.actor)] += 1
        if len(self._actors) < self._engine.replicas and all(load.values()):
            self._actors.append(self._engine.actor(self._load))
            return self._actors[-1]
        return min(self._actors, key=lambda actor: load[id(actor)])

    def _lost(self, actor: Any, running: dict[Any, _Call]) -> list[_Call]:
        """The calls of a dead process, which are to be made again; they run no more.

        Raises:
            ModelError: one of them has ended too many processes.
        """
        self._replace(actor)
        lost = [reference for reference, call in running.items() if call.actor == actor]
        calls = [running.pop(reference) for reference in lost]
        # A process makes its calls in their order, so the others only waited.
        calls[0].deaths += 1
        if calls[0].deaths > DEATHS:
            raise ModelError(
                f"model {self.name!r} ended {calls[0].deaths} processes with the same queries; its machine "
                "may lack memory: try a smaller --batch-size"
            )
        return calls

    def _measure(self, call: _Call, answers: _Answers) -> None:
        """Choose the length of the next calls, and keep what was used."""
        self._used[call.actor] = answers.usage
        if answers.seconds > 0:
            fitting = int(len(call.batches) * CALL / answers.seconds)
            self._size = max(1, min(MOST, fitting, 4 * self._size))

    def _replace(self, actor: Any) -> None:
        if actor in self._actors:
            self._actors.remove(actor)
            self._engine.end(actor)

    @override
    def unreadable(self, query: Query) -> Failed | None:
        failed: Failed | None = self._call("unreadable", query) if self.facts["checks"] else None
        return failed

    def _call(self, method: str, *arguments: object) -> Any:
        """What the first process returns, or the one after it if it dies.

        Raises:
            ModelError: every process dies.
        """
        from ray.exceptions import RayError

        for _ in range(DEATHS + 1):
            if not self._actors:
                self._actors.append(self._engine.actor(self._load))
            actor = self._actors[0]
            try:
                return self._engine.result(getattr(actor, method).remote(*arguments))
            except RayError:
                self._replace(actor)
        raise ModelError(
            "the process of a model in Ray ends whenever it is loaded; its machine may lack memory"
        )

    @property
    @override
    def usage(self) -> Mapping[str, object]:
        """The numbers of all processes, summed."""
        total: dict[str, Any] = {}
        for used in self._used.values():
            for name, value in used.items():
                if isinstance(value, int | float):
                    total[name] = total.get(name, 0) + value
        return total

    @property
    @override
    def bill(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in self.usage.items())
