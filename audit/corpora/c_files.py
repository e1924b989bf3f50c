"""Reads the functions of a C or C++ file, each as a separate text."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from codeaudit.audit.corpora.functions import cut_out, unfit_size
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.prompt_cut import NO_FUNCTION, FunctionBody, body_in_braces
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import function_in, name_of, own_name
from codeaudit.transforms.c.parsing import C, places, read, read_unit
from codeaudit.transforms.errors import NoFunctionError, SourceError, UnknownSyntaxError
from codeaudit.transforms.records import Sample

UNREAD: Final = "function that cannot be read alone"
UNNAMED: Final = "constructor, destructor or operator"


def functions(text: str, path: str, left_out: Counter[str], language: str = C) -> Iterator[Sample]:
    """Every function of a suitable length. The raw label is the name, in C++ without the classes around it.

    A file need not parse as a whole: words that only headers explain may stand anywhere in it. Functions with
    directives in them, with a head in the style before C89, and without statements are left out; so are
    constructors, destructors and operators.
    """
    source = text.encode()
    for place in places(source, language):
        unit, line = cut_out(source, place.start, place.end)
        name = place.name if language == C else own_name(place.name)
        reason = UNNAMED if name is None else _unfit(unit, language)
        if reason is None:
            yield raw_sample(unit, language=language, label=name or "", path=path, line=line, context=text)
        else:
            left_out[reason] += 1


def functions_of_cpp(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """Every function of a C++ file of a suitable length."""
    return functions(text, path, left_out, CPP)


def function_name(source: str, language: str = C) -> str | None:
    """The name of the only function in a text, which may have `#include` and declarations beside it; `None`
    for any other text."""
    try:
        reading, function = read_unit(_only_function(source, language), language)
    except SourceError:
        return None
    name = name_of(reading.source, function)
    return (name if language == C else own_name(name)) or None


def _only_function(source: str, language: str) -> str:
    """The only function of a text; the text itself where it has none or several."""
    with suppress(NoFunctionError):
        read_unit(source, language)
        return source
    text = source.encode()
    units = list(places(text, language))
    return text[units[0].start : units[0].end].decode() if len(units) == 1 else source


def function_name_in_cpp(source: str) -> str | None:
    """The name of the only function in a text of C++; `None` for any other text, and for constructors,
    destructors and operators."""
    return function_name(source, CPP)


def last_function(source: str, language: str = C) -> FunctionBody | str:
    """The function at the end of a text, to be cut; or the reason why there is none.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(source, language)
    declaration = next(iter(reading.root.children[-1:]), None)
    function = None if declaration is None else function_in(declaration)
    if declaration is None or function is None or not (name := name_of(reading.source, function)):
        return NO_FUNCTION
    return body_in_braces(reading, name, declaration, function)


def last_function_of_cpp(source: str) -> FunctionBody | str:
    """The function at the end of a text of C++, to be cut; or the reason why there is none.

    Raises:
        SourceError: the text does not parse.
    """
    return last_function(source, CPP)


def _unfit(source: str, language: str) -> str | None:
    if (reason := unfit_size(source, "function")) is not None:
        return reason
    try:
        _, function = read_unit(source, language)
    except UnknownSyntaxError as error:
        return str(error)
    except SourceError:
        return UNREAD
    return None if function.part("body").children else "empty function"
