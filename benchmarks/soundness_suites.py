"""Do the programs of a language's own test suite do the same after they are rewritten?

    python benchmarks/soundness_suites.py c gcc/testsuite/gcc.c-torture/execute
    python benchmarks/soundness_suites.py cpp gcc/testsuite/g++.dg --limit 500 --seeds 0,1
    python benchmarks/soundness_suites.py java jdk/test/langtools/tools/javac
    python benchmarks/soundness_suites.py javascript test262/test/language --harness test262/harness

A program is one file. It counts if it runs alone twice and ends well with the same output. Each seed is a
chain of all meaning-keeping transforms in random order, as `codeaudit transform --transform all` applies it.
The rewritten program must end with the same output. Directives of the suites are read: options of gcc, the
class of a JDK test, the front matter of test262. What needs more is left out, with a count by reason.

The programs are run as they are: take suites that you trust. Where a program does something else, the first
transform that does it alone is told, both texts stay in --keep, and the exit code is 1.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from codeaudit.audit.projects.files import ProjectPlan, perturb_files
from codeaudit.transforms.registry import expand, one_way

LARGEST: Final = 60_000
"""Bytes of a program."""
SECONDS: Final = 20.0
"""For a compiler, and for a program."""
_NODE: Final = """
for (const name of process.argv.slice(1))
    require("vm").runInThisContext(require("fs").readFileSync(name, "utf8"));
"""
"""Runs scripts one after the other, with the same global names."""


class LeftOut(Exception):  # noqa: N818 - no error: a program that the suite does not run alone
    """A file that is no program of its own, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A file of a suite, ready to be run."""

    path: Path
    text: str
    options: tuple[str, ...] = ()
    """Of the compiler, or what stands before the text of a script."""


def ran(words: Iterable[str | Path], folder: Path) -> tuple[int, str, str]:
    """The exit code, the output and the errors of a command; -1 if it takes too long."""
    try:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, "", "too slow"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(ABC):
    """How the programs of a language are read and run."""

    harness: Path | None = None
    language: ClassVar[str]
    endings: ClassVar[Sequence[str]]

    @abstractmethod
    def read(self, path: Path, text: str) -> Program:
        """The program in a file.

        Raises:
            LeftOut: it is none that runs alone.
        """

    @abstractmethod
    def run(self, program: Program, text: str, folder: Path, seed: int) -> str | None:
        """What the program prints with this text; `None` if it does not compile or does not end well."""

    def flags(self, program: Program) -> Sequence[str]:
        """The lines of `compile_flags.txt`, from which the engines know how the program is compiled."""
        return ()


class CSuite(Suite):
    """Suites of gcc, and other files with a `main` that returns 0."""

    language = "c"
    endings: ClassVar[Sequence[str]] = (".c",)
    compiler: ClassVar[str] = "gcc"

    @override
    def read(self, path: Path, text: str) -> Program:
        directives = " ".join(re.findall(r"dg-[^\n]*", text))
        if re.search(
            r"dg-additional-sources|dg-do\s+(compile|link|preprocess|assemble)|dg-error", directives
        ):
            raise LeftOut("is not run")
        if not re.search(r"\bmain\s*\(", text):
            raise LeftOut("no main")
        words = " ".join(re.findall(r'dg-(?:additional-)?options\s+["{]+([^"}]*)', directives)).split()
        kept = [
            word for word in words if re.fullmatch(r"-(std=|f(?!dump|sanitize|profile)|D|m|pthread).*", word)
        ]
        return Program(
            path=path, text=text, options=(*kept, *(f"-std={mode}" for mode in self.mode(directives)))
        )

    def mode(self, directives: str) -> tuple[str, ...]:
        """The standard that the directives ask for, if they name it in another way than by `-std`."""
        return ()

    @override
    def flags(self, program: Program) -> Sequence[str]:
        kept = [word for word in program.options if word.startswith(("-std", "-D"))]
        return [*kept, f"-I{program.path.parent}"]

    @override
    def run(self, program: Program, text: str, folder: Path, seed: int) -> str | None:
        source, binary = folder / f"run{program.path.suffix}", folder / "run.out"
        source.write_text(text, newline="")
        level = ("-O0", "-O2")[seed % 2]
        words = [self.compiler, *program.options, level, "-w", f"-I{program.path.parent}", str(source)]
        if ran((*words, "-o", binary, "-lm", "-pthread"), folder)[0]:
            return None
        code, output, errors = ran((binary,), folder)
        return output + errors if code == 0 else None


class CppSuite(CSuite):
    """The same for C++."""

    language = "cpp"
    endings: ClassVar[Sequence[str]] = (".C", ".cc", ".cpp")
    compiler = "g++"

    @override
    def mode(self, directives: str) -> tuple[str, ...]:
        if "-std=" in directives:
            return ()
        named = re.search(r"c\+\+(98|11|14|17|20|23)_(?:only|down)|target c\+\+(2\w|17)", directives)
        return (f"gnu++{named[1] or named[2]}",) if named else ("gnu++17",)


class JavaSuite(Suite):
    """Programs of the JDK's tests, and other files with a `main`."""

    language = "java"
    endings: ClassVar[Sequence[str]] = (".java",)

    @override
    def read(self, path: Path, text: str) -> Program:
        if re.search(r"/fail\b|@library|@modules|@requires|@compile\s+\S+\s+\S", text):
            raise LeftOut("is not run alone")
        if not re.search(r"\bmain\s*\(", text):
            raise LeftOut("no main")
        named = re.search(r"@run\s+main(?:/othervm)?(?:\s+-\S+)*\s+([\w.$]+)", text)
        package = re.search(r"^package\s+([\w.]+)\s*;", text, re.MULTILINE)
        name = named[1] if named else path.stem
        return Program(path=path, text=text, options=(f"{package[1]}.{name}" if package else name,))

    @override
    def run(self, program: Program, text: str, folder: Path, seed: int) -> str | None:
        with tempfile.TemporaryDirectory(dir=folder) as classes:
            source = Path(classes) / program.path.name
            source.write_text(text, newline="")
            if ran(("javac", "-nowarn", "-d", classes, source), folder)[0]:
                return None
            words = ("java", "-XX:TieredStopAtLevel=1", "-cp", classes, *program.options)
            code, output, errors = ran(words, Path(classes))
        return re.sub(r"\n\s*at [^\n]*|@[0-9a-f]{5,8}\b", "", output + errors) if code == 0 else None


class JavaScriptSuite(Suite):
    """Programs of test262, and other scripts for node."""

    language = "javascript"
    endings: ClassVar[Sequence[str]] = (".js",)

    @override
    def read(self, path: Path, text: str) -> Program:
        front = re.search(r"/\*---(.*?)---\*/", text, re.DOTALL)
        matter = front[1] if front else ""
        if re.search(r"negative:|flags:.*(module|raw|CanBlock)|\$262", matter + text) or path.stem.endswith(
            "_FIXTURE"
        ):
            raise LeftOut("is not run alone")
        names = re.search(r"includes:\s*\[(.*?)\]", matter)
        included = [name.strip() for name in names[1].split(",")] if names else []
        if "includes:" in matter and not names:
            included = re.findall(r"^\s*-\s*(\S+\.js)\s*$", matter.partition("includes:")[2], re.MULTILINE)
        always = ["assert.js", "sta.js", "doneprintHandle.js"] if front else []
        strict = '"use strict";\n' if re.search(r"flags:.*onlyStrict", matter) else ""
        if always and self.harness is None:
            raise LeftOut("needs --harness")
        before = [(self.harness / name).read_text() for name in (*always, *included)] if self.harness else []
        # As scripts of their own, their names are global, and the program may begin with "use strict".
        return Program(path=path, text=text, options=("var print = console.log;", *before, strict))

    @override
    def run(self, program: Program, text: str, folder: Path, seed: int) -> str | None:
        *before, strict = program.options
        places = []
        for number, content in enumerate((*before, strict + text)):
            places.append(folder / f"part{number}.js")
            places[-1].write_text(content, newline="")
        code, output, errors = ran(("node", "-e", _NODE, *places), folder)
        return output + errors if code == 0 and "AsyncTestFailure" not in output else None


SUITES: Final[Mapping[str, type[Suite]]] = {
    kind.language: kind for kind in (CSuite, CppSuite, JavaSuite, JavaScriptSuite)
}


@dataclass(slots=True)
class Judged:
    """What came of some files."""

    counts: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)


def rewritten(program: Program, transforms: Sequence[str], seed: int, folder: Path) -> str | None:
    """The text under a chain; `None` if nothing changed or the file cannot be read."""
    name = f"program{program.path.suffix if program.path.suffix != '.C' else '.cpp'}"
    (folder / name).write_text(program.text, newline="")
    (outcome,) = perturb_files(
        folder, [name], ProjectPlan(transforms=tuple(transforms), seed=seed), workers=1
    )
    return None if outcome.unread or outcome.before == outcome.after else outcome.after.decode()


def judged(path: Path, *, suite: Suite, names: Sequence[str], seeds: Sequence[int], keep: Path) -> Judged:
    """One file: run, rewritten under each seed, and run again."""
    outcome = Judged()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            program = suite.read(path, read_text(path))
        except LeftOut as reason:
            outcome.counts[f"left out: {reason}"] += 1
            return outcome
        if flags := suite.flags(program):
            (folder / "compile_flags.txt").write_text("\n".join(flags) + "\n")
        before = {seed: suite.run(program, program.text, folder, seed) for seed in seeds}
        if None in before.values():
            outcome.counts["left out: does not end well"] += 1
            return outcome
        if len({*before.values(), suite.run(program, program.text, folder, seeds[0])}) > 1:
            outcome.counts["left out: prints something else each time"] += 1
            return outcome
        outcome.counts["programs"] += 1
        for seed in seeds:
            chain = one_way(names, seed, languages=(suite.language,))
            variant = rewritten(program, chain, seed, folder)
            if variant is None:
                outcome.counts["unchanged"] += 1
                continue
            outcome.counts["variants"] += 1
            if suite.run(program, variant, folder, seed) == before[seed]:
                continue
            outcome.counts["different"] += 1
            for other, text in (("before", program.text), ("after", variant)):
                (keep / f"{path.stem}-{seed}-{other}{path.suffix}").write_text(text, newline="")
            alone = (name for name in chain if differs(program, suite, name, seed, folder, before[seed]))
            outcome.different.append(f"{path}, seed {seed}: {next(alone, 'several together')}")
    return outcome


def differs(program: Program, suite: Suite, name: str, seed: int, folder: Path, before: str | None) -> bool:
    """Whether one transform alone changes what the program does."""
    variant = rewritten(program, (name,), seed, folder)
    return variant is not None and suite.run(program, variant, folder, seed) != before


def read_text(path: Path) -> str:
    """The text of a program.

    Raises:
        LeftOut: it is too large, or no UTF-8.
    """
    if path.stat().st_size > LARGEST:
        raise LeftOut("too large")
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise LeftOut("no UTF-8") from error


def drawn(folder: Path, endings: Sequence[str], *, limit: int, seed: int) -> Iterator[Path]:
    """Files of the folder in random order."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in endings and path.is_file())
    random.Random(seed).shuffle(paths)
    yield from paths[: limit or None]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("language", choices=sorted(SUITES))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="files, drawn at random (default: all)")
    parser.add_argument("--draw", type=int, default=0, help="seed of that draw")
    parser.add_argument("--transform", default="all", help="a control shows what the programs notice")
    parser.add_argument("--seeds", default="0,1", help="of the chains; odd ones compile C with -O2")
    parser.add_argument("--harness", type=Path, help="the folder `harness` of test262")
    parser.add_argument("--keep", type=Path, default=Path("different"), help="folder of what differs")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    suite = SUITES[asked.language](harness=asked.harness)
    asked.keep.mkdir(parents=True, exist_ok=True)
    names = expand(asked.transform.split(","), languages=(suite.language,))
    seeds = [int(seed) for seed in asked.seeds.split(",")]
    work = partial(judged, suite=suite, names=names, seeds=seeds, keep=asked.keep)
    paths = list(drawn(asked.folder, suite.endings, limit=asked.limit, seed=asked.draw))
    if not paths:
        parser.error(f"no {' or '.join(suite.endings)} below {asked.folder}")
    counts = Counter[str]()
    with ProcessPoolExecutor(asked.jobs) as pool:
        for number, outcome in enumerate(pool.map(work, paths), start=1):
            counts.update(outcome.counts)
            for line in outcome.different:
                print(line, flush=True)
            print(f"\r{number:,} of {len(paths):,} files", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for name, count in sorted(counts.items()):
        print(f"{count:7,} {name}")
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
