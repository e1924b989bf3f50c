"""Reads the functions of a JavaScript or TypeScript file, each as a separate text."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from codeaudit.audit.corpora.functions import cut_out, unfit_size
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.prompt_cut import NO_FUNCTION, FunctionBody, body_in_braces
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.javascript.files import refuse_packed
from codeaudit.transforms.javascript.parsing import (
    JAVASCRIPT,
    TYPESCRIPT,
    FunctionText,
    read,
    read_unit,
    unit,
    units,
)
from codeaudit.transforms.records import Sample

DECLARATIONS: Final = "file of declarations (.d.ts), which has no functions"
_DECLARATIONS: Final = re.compile(r"\.d(?:\.\w+)?\.[cm]?ts$")


def functions(text: str, path: str, left_out: Counter[str], language: str = JAVASCRIPT) -> Iterator[Sample]:
    """Every function of a suitable length that a declaration, a variable, a property of something or a class
    gives a name, such as `exports.add = function () {…}`. The raw label is the name.

    Functions inside of them are part of them; a function without a name, such as the one around a whole
    script, is looked into. Constructors and functions without statements are left out.

    Raises:
        SourceError: the text does not parse, has types of Flow, is packed, or only declares.
    """
    if _DECLARATIONS.search(path):
        raise SourceError(DECLARATIONS)
    refuse_packed(text)
    try:
        reading = read(text, language)
    except SourceError as error:
        raise SourceError(NOT_PARSED) from error
    for declared in units(reading):
        source, line = cut_out(reading.source, declared.node.start, declared.node.end)
        reason = _unfit(declared, source, language)
        if reason is None:
            yield raw_sample(
                source, language=language, label=declared.name, path=path, line=line, context=text
            )
        else:
            left_out[reason] += 1


def functions_of_typescript(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """Every function of a TypeScript file of a suitable length.

    Raises:
        SourceError: as there.
    """
    return functions(text, path, left_out, TYPESCRIPT)


def function_name(source: str, language: str = JAVASCRIPT) -> str | None:
    """The name of the only function in a text; `None` for any other text, also for a constructor."""
    try:
        _, declared = read_unit(source, language)
    except SourceError:
        return None
    return None if _is_constructor(declared) else declared.name


def function_name_in_typescript(source: str) -> str | None:
    """The name of the only function in a text of TypeScript; `None` for any other text."""
    return function_name(source, TYPESCRIPT)


def last_function(source: str) -> FunctionBody | str:
    """The function at the end of a text, to be cut; or the reason why there is none.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(source)
    last = reading.root.children[-1] if reading.whole and reading.root.children else None
    declared = None if last is None else unit(reading, last)
    if declared is None or declared.name is None:
        return NO_FUNCTION
    return body_in_braces(reading, declared.name, declared.node, declared.function)


def _unfit(declared: FunctionText, source: str, language: str) -> str | None:
    if _is_constructor(declared):
        return "constructor"
    body = declared.function.part("body")
    if body.kind != "block":
        return "arrow without a block"
    if not body.children:
        return "empty function"
    if (reason := unfit_size(source, "function")) is not None:
        return reason
    try:
        read_unit(source, language)
    except SourceError:
        return "function that cannot be read alone"
    return None


def _is_constructor(declared: FunctionText) -> bool:
    return declared.function.kind == "method_definition" and declared.name == "constructor"
