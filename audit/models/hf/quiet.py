"""Silences the warnings, logs and progress bars of `transformers`; our own errors say what matters."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from transformers.utils import logging as told


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the library inside the context; restore its settings afterwards."""
    level, bars = told.get_verbosity(), told.is_progress_bar_enabled()
    told.set_verbosity(logging.CRITICAL)
    told.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        told.set_verbosity(level)
        if bars:
            told.enable_progress_bar()  # type: ignore[no-untyped-call]


def in_one_line(error: BaseException, most: int = 160) -> str:
    """The first sentences of an error's text, in at most `most` characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    if len(text) <= most:
        return text.rstrip(".")
    head, stop, _ = text[:most].rpartition(". ")
    return head if stop else text[:most].rstrip() + "…"
