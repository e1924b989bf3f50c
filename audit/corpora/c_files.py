"""Reads the functions of a C file, each as a separate text."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from codeaudit.audit.corpora.functions import cut_out, unfit_size
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.prompt_cut import NO_FUNCTION, FunctionBody, body_in_braces
from codeaudit.transforms.c.language import C
from codeaudit.transforms.c.parsing import FUNCTION, name_of, places, read, read_unit
from codeaudit.transforms.errors import SourceError, UnknownSyntaxError
from codeaudit.transforms.records import Sample

UNREAD: Final = "function that cannot be read alone"


def functions(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """Every function of a suitable length. The raw label is the name.

    A file need not parse as a whole: words that only headers explain may stand anywhere in it. Functions with
    directives in them, with a head in the style before C89, and without statements are left out.
    """
    source = text.encode()
    for place in places(source):
        own, line = cut_out(source, place.start, place.end)
        reason = _unfit(own)
        if reason is None:
            yield raw_sample(own, language=C.name, label=place.name, path=path, line=line, context=text)
        else:
            left_out[reason] += 1


def function_name(source: str) -> str | None:
    """The name of the only function in a text; `None` for any other text."""
    try:
        reading, function = read_unit(source)
    except SourceError:
        return None
    return name_of(reading, function) or None


def last_function(source: str) -> FunctionBody | str:
    """The function at the end of a text, to be cut; or the reason why there is none.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(source)
    parts = reading.root.children
    if not parts or parts[-1].kind != FUNCTION or not (name := name_of(reading, parts[-1])):
        return NO_FUNCTION
    return body_in_braces(reading, name, parts[-1], parts[-1])


def _unfit(source: str) -> str | None:
    if (reason := unfit_size(source, "function")) is not None:
        return reason
    try:
        _, function = read_unit(source)
    except UnknownSyntaxError as error:
        return str(error)
    except SourceError:
        return UNREAD
    return None if function.part("body").children else "empty function"
