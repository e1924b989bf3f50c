"""The witnesses of Java: a second parser (javalang), and the compiler if it is installed. No code is
executed.

The second parser shows whether a renamed method has the same syntax tree except for the new names, and
whether a reordered one has the same statements in its blocks. The compiler is asked about texts that
compile on their own: without variable names and line numbers, the classes of a variant must equal the
original's byte for byte. A variant that the parser sees as another program, or that does not compile, is
not applied. Where a JDK is found, its newest compiler also tells how it takes each text apart: an original
or a variant that it reads in another way than our parser is not applied either. Controls stay undecided,
because another text need not mean another behaviour.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Final

from codeaudit.audit.evidence_check import (
    BehavesDifferently,
    BehavesSame,
    Judge,
    Undecided,
    WitnessFinding,
    combined,
)
from codeaudit.audit.interface import LabelSource
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.java.files import function_context
from codeaudit.transforms.java.identifiers.rename import variables
from codeaudit.transforms.java.javac_reader import JavacReader, JavaKit, newest_kit, structure
from codeaudit.transforms.java.parsing import read
from codeaudit.transforms.java.witnesses import Javac, confirms, find, permutes
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.syntax.reader import ParsedText

CASES_AT_ONCE: Final = 50
OTHER_TREE: Final = "another program to a second reader"
MISREAD: Final = "javac reads this text differently"
NOT_COMPILED: Final = "variant does not compile"
CONTROL: Final = "nothing runs that could show a change"
NO_RULE: Final = "second reader knows renamings and orders only"
BEYOND: Final = "beyond the second reader"
NOT_ALONE: Final = "text does not compile alone"
OTHER_CODE: Final = "compiled code differs"
_DIGITS: Final = 8
_PACKAGE: Final = "codeaudit"


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaReaders:
    """The second parser, and the compiler if it is installed."""

    javac: Javac | None
    kit: JavaKit | None = None
    """The JDK whose compiler reads the texts."""
    together: int = CASES_AT_ONCE

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """The version of the parser, and whether there is a compiler."""
        tools: list[Mapping[str, object]] = [{"tool": "javalang", "version": version("javalang")}]
        if self.javac is not None:
            tools.append({"tool": "javac"})
        if self.kit is not None:
            tools.append({"tool": "javac's parser", "version": str(self.kit.release)})
        return tools

    @property
    def missing(self) -> Sequence[str]:
        """One line if there is no compiler."""
        return () if self.javac else ("no javac on the path; install a JDK for evidence of the compiler",)

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge that calls the compiler once or a few times for all variants that it is given together."""

        with JavacReader(self.kit) if self.kit is not None else nullcontext() as reader:

            def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
                misread = set() if reader is None else misread_by(reader, variants)
                words = {} if self.javac is None else compiled(self.javac, variants)
                for place, variant in enumerate(variants):
                    if variant.kind == "control":
                        yield Undecided(CONTROL)
                    elif place in misread:
                        yield BehavesDifferently("parsed", MISREAD)
                    else:
                        yield combined([read_again(variant), words.get(place, Undecided(NOT_ALONE))])

            yield judge


def witness(labels: LabelSource) -> JavaReaders:
    """The witness. It ignores `labels`."""
    javac = find()
    return JavaReaders(
        javac=None if javac is None else replace(javac, options=("-g:none",), seconds=120), kit=newest_kit()
    )


def read_again(variant: Perturbed) -> WitnessFinding:
    """The finding of the second parser."""
    before, after = variant.sample.source, variant.source
    kinds = {move.kind for move in variant.moves}
    # javalang shares no code with our parser, so a mistake of one shows as a disagreement of the two.
    if kinds == {"rename"}:
        bindings = variables(function_context(before).source).scopes.bindings
        names = {binding.number: binding.name for binding in bindings}
        agrees = confirms(before, after, [(names[move.site], str(move.value)) for move in variant.moves])
    elif kinds == {"order"}:
        agrees = permutes(before, after)
    else:
        return Undecided(NO_RULE)
    if agrees is None:
        return Undecided(BEYOND)
    return BehavesSame("parsed") if agrees else BehavesDifferently("parsed", OTHER_TREE)


def misread_by(reader: JavacReader, variants: Sequence[Perturbed]) -> set[int]:
    """The places of the variants which, or whose originals, the compiler takes apart in another way than we
    do.

    What it cannot read, such as a constructor without its record, says nothing.
    """
    readings: dict[str, ParsedText] = {}
    for variant in variants:
        for text in (variant.sample.source, variant.source):
            with suppress(SourceError):
                readings[text] = read(text)
    try:
        structures = reader.structures(list(readings.values()))
    except RuntimeError:
        return set()
    wrong = {
        text
        for (text, reading), other in zip(readings.items(), structures, strict=True)
        if other is not None and other != structure(reading)
    }
    return {
        place
        for place, variant in enumerate(variants)
        if not wrong.isdisjoint((variant.sample.source, variant.source))
    }


def compiled(javac: Javac, variants: Sequence[Perturbed]) -> dict[int, WitnessFinding]:
    """The findings of the compiler by place, for variants whose originals compile on their own."""
    # Several variants share an original, and each text is compiled once.
    originals = {
        text: place for place, text in enumerate({variant.sample.source: None for variant in variants})
    }
    by_place = {place: variant for place, variant in enumerate(variants) if variant.kind != "control"}
    first = len(originals)
    try:
        before = _classes(javac, {place: text for text, place in originals.items()})
        texts = {
            first + place: variant.source
            for place, variant in by_place.items()
            if originals[variant.sample.source] in before
        }
        after = _classes(javac, texts)
    except TimeoutError:
        return {}
    findings: dict[int, WitnessFinding] = {}
    for number in texts:
        place = number - first
        old = before[originals[by_place[place].sample.source]]
        if number not in after:
            findings[place] = BehavesDifferently("compiled", NOT_COMPILED)
        else:
            findings[place] = BehavesSame("compiled") if after[number] == old else Undecided(OTHER_CODE)
    return findings


def _classes(javac: Javac, texts: Mapping[int, str]) -> dict[int, dict[str, bytes]]:
    """The classes of each text that compiles, by name, without the name of the package that the text was
    given."""
    files = {_path(number): content for number, text in texts.items() if (content := _alone(number, text))}
    with scratch_folder("javac") as target:
        # After an error in one file javac may not write the classes of others. So wrong files are taken out
        # until none is left.
        while files:
            wrong = javac.errors(files, classes=target)
            if not wrong:
                break
            files = {path: text for path, text in files.items() if path not in wrong and "" not in wrong}
        return {
            number: {
                path.name: path.read_bytes().replace(_package(number).encode(), _package(0).encode())
                for path in (target / _package(number)).glob("*.class")
            }
            for number in texts
            if _path(number) in files
        }


def _alone(number: int, text: str) -> str | None:
    """The text as a file of its own package; `None` if the text declares a package."""
    try:
        reading = read(text)
    except SourceError:
        return None
    if any(node.kind == "package_declaration" for node in reading.root.children):
        return None
    # A method alone is no compilation unit, so it gets a class around it, the same for original and variant.
    inside = text if reading.whole else f"class Alone {{\n{text}\n}}"
    return f"package {_package(number)};\n{inside}\n"


# A package for each text, because texts define classes of the same name. All names are of one length, so that
# one can replace another in a class file, whose strings have their lengths in front.
def _package(number: int) -> str:
    return f"{_PACKAGE}{number:0{_DIGITS}}"


def _path(number: int) -> str:
    return f"{_package(number)}/Alone.java"
