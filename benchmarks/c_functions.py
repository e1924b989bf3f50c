"""How many functions of C or C++ each transform changes, and whether their object code stays the same.

    python benchmarks/c_functions.py FILE|FOLDER ... [--transform NAME,...] [--snippets]
    python benchmarks/c_functions.py FILE|FOLDER ... --transform hygienic/rename,unknown/disjoint/reorder
    python benchmarks/c_functions.py FILE|FOLDER ... --transform NAME,... --object-code [-- -DNAME ...]
    python benchmarks/c_functions.py --language cpp FILE|FOLDER ...

Functions of 3 to 60 lines count, one variant each. With `--snippets` the file around a function is not known,
as in data sets of functions. With `--object-code` each file, but no header of C++, is compiled by gcc at -O0
and -O2 before and after all of its functions are rewritten by one transform; where the bytes differ, one half
after the other is tried, until the function is found. What stands behind `--` is given to gcc.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.parsing import C, CFunction, places
from codeaudit.transforms.errors import NOT_PARSED, SourceError, UnknownSyntaxError
from codeaudit.transforms.interface import Refused, Transform, is_surrounded, placed
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.registry import transform_for

LEVELS = ("-O0", "-O2")
Edit = tuple[CFunction, str]


def files(named: Sequence[Path], language: str) -> Iterator[tuple[Path, str]]:
    """Each file of the language with its text; in folders of C++ those that end with `.h`, too."""
    endings = (".c",) if language == C else (*LANGUAGES.get(language).endings, ".h")
    for path in named:
        paths = (file for file in path.rglob("*") if file.suffix in endings and file.is_file())
        for file in sorted(paths) if path.is_dir() else [path]:
            try:
                yield file, file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                print(f"not read: {file}", file=sys.stderr)


def edited(transform: Transform, text: str) -> str | Refused:
    """One variant of a function, or why there is none."""
    try:
        moves = transform.propose(text, Random(0))
        variant = moves if isinstance(moves, Refused) else transform.apply(text, moves)
    except UnknownSyntaxError as error:
        return Refused(str(error))
    except SourceError:
        return Refused(NOT_PARSED)
    return variant if isinstance(variant, Refused) else variant.source


def compiled(path: Path, text: str, flags: Sequence[str], compiler: str) -> list[bytes | None]:
    """The object code of a text in the place of a file, at each level; `None` where it does not compile."""
    codes: list[bytes | None] = []
    with TemporaryDirectory() as folder:
        source, made = Path(folder, path.name), Path(folder, "a.o")
        source.write_text(text, encoding="utf-8")
        for level in LEVELS:
            words = [
                compiler,
                "-c",
                "-w",
                level,
                "-I",
                str(path.parent.resolve()),
                *flags,
                "-o",
                str(made),
                path.name,
            ]
            done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
            codes.append(None if done.returncode else made.read_bytes())
    return codes


def differing(
    path: Path,
    text: str,
    edits: Sequence[Edit],
    before: list[bytes | None],
    flags: Sequence[str],
    compiler: str,
) -> list[str]:
    """The functions whose edits change the object code, with what happens."""
    source = text.encode()
    for place, new in sorted(edits, key=lambda edit: -edit[0].start):
        source = source[: place.start] + new.encode() + source[place.end :]
    after = compiled(path, source.decode(), flags, compiler)
    if after == before:
        return []
    if len(edits) == 1:
        return [f"{path}: {edits[0][0].name} {'does not compile' if None in after else 'differs'}"]
    half = len(edits) // 2
    return [
        line
        for part in (edits[:half], edits[half:])
        for line in differing(path, text, part, before, flags, compiler)
    ]


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("place", nargs="+", type=Path, help="C files, or folders of them")
    parser.add_argument("--transform", default="rename,rename-parameters,reorder", help="names, or `all`")
    parser.add_argument("--snippets", action="store_true", help="the file around a function is not known")
    parser.add_argument("--object-code", action="store_true", help="compare what gcc makes")
    parser.add_argument("--language", choices=(C, CPP), default=C)
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    asked, flags = parser.parse_args(words[:at]), words[at + 1 :]
    names = (
        list(LANGUAGES.get(asked.language).transforms)
        if asked.transform == "all"
        else asked.transform.split(",")
    )
    functions, compared = 0, 0
    changed: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in names}
    wrong: list[str] = []
    language, compiler = asked.language, "gcc" if asked.language == C else "g++"
    for path, text in files(asked.place, language):
        source = text.encode()
        chosen = [
            place
            for place in places(source, language)
            if 3 <= source.count(b"\n", place.start, place.end) + 1 <= 60
        ]
        functions += len(chosen)
        comparing = asked.object_code and (language == C or not path.suffix.startswith(".h"))
        before: list[bytes | None] = compiled(path, text, flags, compiler) if comparing else [None]
        for name in names:
            transform = transform_for(name, language)
            if is_surrounded(transform) and not asked.snippets:
                transform = transform.within(placed(text, str(path.absolute())))
            edits: list[Edit] = []
            for place in chosen:
                new = edited(transform, source[place.start : place.end].decode())
                if isinstance(new, Refused):
                    reasons[name][new.reason] += 1
                else:
                    edits.append((place, new))
            changed[name] += len(edits)
            if edits and None not in before:
                compared += len(edits)
                wrong += differing(path, text, edits, before, flags, compiler)
    print(f"{functions} functions")
    for name in names:
        why = ", ".join(f"{count} × {reason}" for reason, count in reasons[name].most_common(6))
        print(f"{name}: {changed[name]} ({changed[name] / max(functions, 1):.1%}); {why}")
    if asked.object_code:
        print(f"object code: {compared} compared, {len(wrong)} differ", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
