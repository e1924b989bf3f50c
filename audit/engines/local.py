"""Spreads work over processes of this machine. Results and their order do not depend on their number."""

import logging
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Final, Protocol, TypeVar

from typing_extensions import override

from codeaudit.audit.engines.collector import collect_rarely
from codeaudit.audit.interface import Model
from codeaudit.transforms.permission import permit, permitted
from codeaudit.transforms.remembering import remember_to_the_end, remembered_in

T = TypeVar("T")
R = TypeVar("R")


CHUNKS: Final = 3
"""How many chunks there are for each worker: that in its hands, those that wait for it, and finished ones."""
REMOVED: Final = "ignore::UserWarning:multiprocessing.resource_tracker"
"""What Python's process that removes locks is started with; it has no other way to be silent."""


class Engine(Protocol):
    """Where suites are made and models live. Results do not depend on it."""

    def spread(self, work: Callable[[T], R], items: Iterable[T], *, chunk: int, few: int) -> Iterator[R]:
        """The results of `work` for each item, in the order of the items.

        `chunk` items are a fair share for a process; up to `few` are done in this one. Items are read while
        results are taken.
        """
        ...

    def model(self, load: Callable[[], Model]) -> Model:
        """The model that `load` makes.

        Raises:
            ModelError, UsageError: as `load`.
        """
        ...


@dataclass(frozen=True, slots=True)
class LocalEngine(Engine):
    """Processes of this machine make suites, and models live in this process."""

    workers: int = 1

    @override
    def spread(self, work: Callable[[T], R], items: Iterable[T], *, chunk: int, few: int) -> Iterator[R]:
        return spread(work, items, workers=self.workers, chunk=chunk, few=few)

    @override
    def model(self, load: Callable[[], Model]) -> Model:
        return load()


def spread(work: Callable[[T], R], items: Iterable[T], *, workers: int, chunk: int, few: int) -> Iterator[R]:
    """The results of `work` for each item, in the order of the items.

    A process takes `chunk` items at a time; a few chunks per worker are in memory. Up to `few` items are done
    in this process, because starting workers takes longer.
    """
    pending = iter(items)
    first = list(islice(pending, few + 1))
    if workers <= 1 or len(first) <= few:
        yield from map(work, chain(first, pending))
        return
    pending = chain(first, pending)
    # After Ctrl-C, Python's process that removes the locks of the pool would warn that it removes them.
    if REMOVED not in sys.warnoptions:
        sys.warnoptions.append(REMOVED)
    # `spawn`: a forked process inherits the locks of other threads, for example those of PyTorch, and may
    # hang.
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_serve, initargs=(permitted(), remembered_in())
    )
    with pool:
        # `pool.map` would read its whole input before it gives the first result.
        begun: deque[Future[list[R]]] = deque()
        try:
            while part := list(islice(pending, chunk)):
                begun.append(pool.submit(_each, work, part))
                if len(begun) >= CHUNKS * workers:
                    yield from begun.popleft().result()
            while begun:
                yield from begun.popleft().result()
        finally:  # the results are not wanted any more
            for future in begun:
                future.cancel()


def _each(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    return list(map(work, items))


def _serve(named: frozenset[str], remembered: Path | None) -> None:
    """Permit the names that the parent permits, remember facts where it does, ignore Ctrl-C, which reaches
    the whole process group, and end when the parent ends."""
    permit(*named)
    remember_to_the_end(remembered)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    # Notes about plug-ins: the parent has written them already.
    logging.getLogger("codeaudit").setLevel(logging.ERROR)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A killed parent cannot stop its workers, and a worker that waits for work would wait for ever.
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
