"""One Java machine that compiles and runs many programs, see `java/Judge.java`."""

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

FOLDER: Final = Path(__file__).resolve().parent / "java"
PATTERNS: Final = 21
"""The release of Java that has record patterns and patterns in `switch`."""
# All objects have the same identity hash: the order in a set of them would differ from run to run.
_FRUGAL: Final = (
    "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx700m", "-Xss2m", "-ea:p...",
    "-XX:-OmitStackTraceInFastThrow", "-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2",
)  # fmt: skip
_UNCLEAR: Final = ("no end", "StackOverflowError", "OutOfMemoryError", "VerifyError")
"""What an outcome says that depends on time, on the memory that the machine has left, or on javac: at times it
makes classes that no machine accepts.
"""


def jdks() -> dict[int, Path]:
    """The programs `java` of the JDKs of this machine, by release."""
    paths = [Path(path).resolve() for path in (shutil.which("java"),) if path]
    paths += [path.resolve() for path in Path("/usr/lib/jvm").glob("*/bin/java")]
    releases = {}
    for java in sorted({path for path in paths if path.with_name("javac").exists()}):
        release = (java.parent.parent / "release").read_text(encoding="utf-8")
        version = release.partition('JAVA_VERSION="')[2].partition('"')[0]
        releases[int(version.partition(".")[0])] = java
    return releases


class JavaUnit(NamedTuple):
    """A program to be compiled and run."""

    text: str
    """A file with the package `p` and the class `Main`."""
    methods: tuple[int, ...]
    """The numbers of the methods that are run."""


class Told(NamedTuple):
    """What a program did."""

    outcomes: tuple[str, ...]
    """What each of these methods did; empty where the program does not compile."""
    error: str = ""
    """What the compiler said."""


def unclear(outcome: str) -> bool:
    """Whether a method did not come to its end, or what it did depends on the machine or on the compiler."""
    return any(word in outcome for word in _UNCLEAR)


class JavaJudge:
    """A Java machine. It is a context manager: it ends with the block."""

    def __init__(self, release: int, java: Path) -> None:
        self._java, self._release = java, release
        self._classes = tempfile.TemporaryDirectory(prefix="codeaudit-judge-")
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._classes.cleanup()

    def told(self, units: Sequence[JavaUnit]) -> list[Told]:
        """What these programs do, in their order.

        Raises:
            RuntimeError: the machine ended.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        request, packages = [struct.pack(">i", len(units))], []
        for unit in units:
            self._number += 1
            package = f"p.q{self._number}"
            packages.append(package)
            text = unit.text.replace("package p;", f"package {package};", 1)
            request += [_packed(f"{package}.Main"), _packed(text)]
            request.append(struct.pack(f">{len(unit.methods) + 1}i", len(unit.methods), *unit.methods))
        try:
            process.stdin.write(b"".join(request))
            process.stdin.flush()
            answers = [self._answer(process, package) for package in packages]
        except (BrokenPipeError, struct.error) as error:
            self._end()
            raise RuntimeError("the Java machine ended") from error
        if any(_UNCLEAR[0] in answer.outcomes for answer in answers):
            self._end()  # a thread without an end runs in it
        return answers

    def _answer(self, process: subprocess.Popen[bytes], package: str) -> Told:
        count = _number(process)
        if count < 0:
            return Told((), _text(process).replace(f"{package}.", ""))
        return Told(tuple(_text(process).replace(f"{package}.", "") for _ in range(count)))

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            sources = sorted((FOLDER / "fuzz").rglob("*.java"))
            shared = [
                str(source)
                for source in sources
                if source.parent.name != "newer" or self._release >= PATTERNS
            ]
            command = [str(self._java), *_FRUGAL, str(FOLDER / "Judge.java"), self._classes.name, *shared]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _packed(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data


def _number(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    number: int = struct.unpack(">i", process.stdout.read(4))[0]
    return number


def _text(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.read(_number(process)).decode()
