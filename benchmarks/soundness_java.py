"""Do real Java projects' own tests still pass when the meaning-keeping transforms have rewritten the project?

    python benchmarks/soundness_java.py --work DIR [--project NAME ...] [--transform NAME,...] [--alone]

Each project is fetched as a source package of Debian, by a private configuration of apt with the mirror that
this machine uses; nothing is installed. Its tests are compiled once against the unchanged sources, without
the files that need what is not packaged; a run of the tests compiles the rewritten sources anew, so that a
rewriting that does not compile fails them all. JUnit's console runs them. `codeaudit verify` then judges
seeds 1, 2, …; with `--alone`, each transform alone is judged under seed 1. Needs apt, dpkg-deb, and a JDK.
What is in DIR is used again. Exit code 1 where some test that passed fails.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from verifying import ALONE, Tested, alone_row, verified, verified_alone, write_table

from codeaudit.transforms.errors import CannotAudit, RunError


@dataclass(frozen=True, kw_only=True)
class Project:
    """A source package, and where its code and tests are."""

    package: str
    main: str = "src/main/java"
    tests: str = "src/test/java"
    resources: str = ""
    """The folder of files that the code reads; empty for `resources` beside the code."""
    options: tuple[str, ...] = ()
    """For the JVM of the tests."""
    filled: tuple[tuple[str, str], ...] = ()
    """Templates of source files, with the file that the build makes of each; see `fill`."""
    included: str = ""
    """A pattern of names of test classes that do not begin or end with `Test`."""
    without: str = ""
    """A pattern of names of test classes that depend on time or network."""


PROJECTS: Mapping[str, Project] = {
    "args4j": Project(package="args4j", main="args4j/src", tests="args4j/test", resources="args4j/src"),
    "commons-codec": Project(package="libcommons-codec-java"),
    "commons-collections": Project(package="libcommons-collections4-java"),
    "commons-csv": Project(package="commons-csv"),
    "commons-io": Project(package="commons-io", without=r".*(Tailer|FileAlteration|Thread).*"),
    "commons-lang": Project(package="libcommons-lang3-java", without=r".*\.(concurrent|time)\..*"),
    "jackson-core": Project(
        package="libjackson2-core-java",
        filled=(
            (
                "src/main/java/com/fasterxml/jackson/core/json/PackageVersion.java.in",
                "src/main/java/com/fasterxml/jackson/core/json/PackageVersion.java",
            ),
        ),
    ),
    "joda-time": Project(package="libjoda-time-java"),
    "json-simple": Project(package="json-simple"),
    "jsoup": Project(package="jsoup", without=r".*\.integration\..*"),
    "xmlunit": Project(
        package="libxmlunit-java", main="src/java", tests="tests/java", included=r".*\.test_.*"
    ),
}

JARS: Final = (
    "junit4", "junit5", "libhamcrest-java", "libopentest4j-java", "libapiguardian-java", "libmockito-java",
    "libcommons-io-java", "libcommons-lang3-java", "libassertj-core-java", "libobjenesis-java",
    "libbyte-buddy-java", "libeasymock-java", "libjoda-convert-java", "libjsr305-java", "libpicocli-java",
    "libunivocity-parsers-java",
)  # fmt: skip
"""Packages with what runs tests, and with what tests need."""

RUNNER: Final = ("junit-", "opentest4j", "apiguardian", "picocli-4")
"""How the archives are called that JUnit's console consists of."""

_ERROR: Final = re.compile(r"^(.+?\.java):\d+: error: ", re.MULTILINE)

FRUGAL: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options with which the JVM needs less of a shared machine."""

TEST_SCRIPT: Final = """\
set -e
rm -rf out && mkdir -p out/main out/reports
find {main} -name '*.java' ! -name module-info.java > out/files
javac -J-Xmx1g {frugal_compiler} -nowarn -proc:none -encoding UTF-8 -cp {jars} -d out/main @out/files
if [ -d {resources} ]; then cp -R {resources}/. out/main; fi
java -Xmx1g {frugal} {options} -Duser.language=en -Duser.timezone=UTC \\
    --add-opens java.base/java.lang=ALL-UNNAMED \\
    -cp {runner}:out/main:{classes}:{jars} org.junit.platform.console.ConsoleLauncher \\
    --disable-banner --details=none --scan-class-path {classes} {included} {without} --reports-dir out/reports
"""


def main() -> int:
    """Verify the projects and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and reports")
    parser.add_argument("--project", nargs="*", choices=sorted(PROJECTS), default=sorted(PROJECTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--transform", default="all")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="each transform alone, under seed 1")
    asked = parser.parse_args()
    asked.work = asked.work.resolve()
    asked.work.mkdir(parents=True, exist_ok=True)
    rows, failed = [], False
    try:
        apt = configuration(asked.work / "apt")
        jars = jar_files(asked.work / "jars", apt)
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        print(f"cannot fetch what tests need: {error}", file=sys.stderr)
        return 1
    for name in asked.project:
        began = time.monotonic()
        try:
            folder = fetched(name, asked.work, apt)
            script = prepared(PROJECTS[name], folder, asked.work / "tests" / name, jars)
            main = PROJECTS[name].main
            tested = Tested(name=name, folder=folder, command=f"sh {script}", sources=(main,))
            if asked.alone:
                report = verified_alone(tested, asked.transform, 1, asked.workers, asked.work)
                rows.append(alone_row(tested, "", report, time.monotonic() - began))
                failed |= any(transform["failures"] for transform in report["transforms"])
                write_table(ALONE, rows)
                continue
            words = ["--transform", asked.transform, "--workers", str(asked.workers)]
            report = verified(tested, [*words, "--seed", "1", "--seeds", str(asked.seeds)], asked.work)
        except (subprocess.CalledProcessError, OSError, ValueError, CannotAudit, RunError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        failed |= not report["held"]
        rows.append(row(name, folder, report, time.monotonic() - began))
        write_table(HEADS, rows)
        write_counts(report)
    return int(failed)


def configuration(folder: Path) -> dict[str, str]:
    """The environment for an apt that also knows the source packages of this machine's distribution."""
    for name in ("lists/partial", "cache/archives/partial", "sources"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    if (folder / "ready").exists():
        return environment
    for path in Path("/etc/apt/sources.list.d").glob("*.sources"):
        text = path.read_text(encoding="utf-8")
        if "debian-archive-keyring" in text:
            both = re.sub(r"^Types: deb$", "Types: deb deb-src", text, flags=re.MULTILINE)
            (folder / "sources" / path.name).write_text(both, encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "sources",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
    }
    lines = [f'{name} "{value}";\n' for name, value in settings.items()]
    (folder / "apt.conf").write_text("".join(lines), encoding="utf-8")
    subprocess.run(["apt-get", "-qq", "update"], env=environment, check=True)
    (folder / "ready").touch()
    return environment


def jar_files(folder: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The archives of classes in the packages of `JARS`; those of packages that cannot be had are missing."""
    folder.mkdir(exist_ok=True)
    for package in JARS:
        place = folder / package
        if place.exists():
            continue
        done = subprocess.run(["apt-get", "-qq", "download", package], cwd=folder, env=environment)
        debs = list(folder.glob(f"{package}_*.deb"))
        if done.returncode or not debs:
            print(f"no package {package}", file=sys.stderr)
            continue
        subprocess.run(["dpkg-deb", "-x", debs[0], place], check=True)
    jars = {path.name: path for path in sorted(folder.rglob("*.jar")) if not path.is_symlink()}
    if not any(name.startswith("junit-platform-console-standalone") for name in jars):
        raise ValueError("JUnit's console is in none of the packages")
    return tuple(jars.values())


def fetched(name: str, work: Path, environment: Mapping[str, str]) -> Path:
    """The unpacked sources of a project."""
    project = PROJECTS[name]
    folder = work / "projects" / name
    if not folder.exists():
        place = work / "sources" / name
        place.mkdir(parents=True, exist_ok=True)
        if not list(place.glob("*.orig.tar.*")):
            words = ["apt-get", "-qq", "source", "--download-only", project.package]
            subprocess.run(words, cwd=place, env=environment, check=False)  # patches may be missing
        archives = list(place.glob("*.orig.tar.*"))
        if not archives:
            raise ValueError(f"the mirror does not have the sources of {project.package}")
        partial = folder.with_name(f"{name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        with tarfile.open(archives[0]) as tar:
            tar.extractall(partial, filter="data")
        (top,) = partial.iterdir()
        for template, target in project.filled:
            fill(top / template, top / target)
        top.rename(folder)
    return folder


def fill(template: Path, target: Path) -> None:
    """Write what the build makes of a template: its package by its folder, and "1.0.0" elsewhere."""
    package = target.parent.as_posix().partition("/main/java/")[2].replace("/", ".")
    text = template.read_text(encoding="utf-8").replace("@package@", package)
    target.write_text(re.sub(r"@\w+@|\$\{[\w.]+\}", "1.0.0", text), encoding="utf-8")


def prepared(project: Project, folder: Path, place: Path, jars: Sequence[Path]) -> Path:
    """The script that tests a copy of a project, with its tests compiled."""
    runner = [jar for jar in jars if jar.name.startswith(RUNNER)]
    needed = [jar for jar in jars if not jar.name.startswith(folder.name)]  # but for its own classes
    classpath = ":".join(map(str, needed))
    classes = place / "classes"
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        (place / "main").mkdir(parents=True)
        left = compiled(_java(folder / project.main), place / "main", classpath)
        if left:
            raise ValueError(f"{len(left)} of its files do not compile here: {left[0]}")
        path = f"{place / 'main'}:{classpath}"
        left = compiled(_java(folder / project.tests), classes, path)
        resources = (folder / project.tests).with_name("resources")
        if resources.is_dir():
            shutil.copytree(resources, classes, dirs_exist_ok=True)
        (place / "ready").write_text("\n".join(map(str, left)), encoding="utf-8")
    script = place / "test.sh"
    script.write_text(
        TEST_SCRIPT.format(
            main=project.main,
            resources=project.resources or Path(project.main).with_name("resources"),
            jars=classpath,
            runner=":".join(map(str, runner)),
            classes=classes,
            frugal=" ".join(FRUGAL),
            frugal_compiler=" ".join(f"-J{option}" for option in FRUGAL),
            options=" ".join(project.options),
            included=f"--include-classname '{project.included}'" if project.included else "",
            without=f"--exclude-classname '{project.without}'" if project.without else "",
        ),
        encoding="utf-8",
    )
    return script


def _java(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.java")) if path.name != "module-info.java"]


def compiled(files: Iterable[Path], classes: Path, classpath: str) -> list[Path]:
    """Compile what can be compiled of these files; returns what had to be left out."""
    left: list[Path] = []
    wanted = list(files)
    while wanted:
        shutil.rmtree(classes, ignore_errors=True)
        classes.mkdir()
        listing = classes.with_suffix(".files")
        listing.write_text("\n".join(f'"{path}"' for path in wanted), encoding="utf-8")
        words = ["javac", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-Xmaxerrs", "100000"]
        words += ["-cp", classpath, "-d", str(classes), f"@{listing}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if not done.returncode:
            break
        wrong = {Path(name) for name in _ERROR.findall(done.stderr)}
        if not wrong & set(wanted):
            raise ValueError(f"javac failed: {done.stderr.strip().splitlines()[-1:]}")
        left += sorted(wrong & set(wanted))
        wanted = [path for path in wanted if path not in wrong]
    return left


HEADS = ("project", "files", "methods", "changed", "executed", "tests", "caught", "new failures", "time")


def row(name: str, folder: Path, report: Mapping[str, Any], seconds: float) -> list[str]:
    """A project's line of the table."""
    power = report["power"]
    return [
        name,
        f"{len(_java(folder / PROJECTS[name].main)):,}",
        f"{power['units']:,}",
        f"{power['changed']:,}",
        f"{power['executed']:,}",
        f"{report['before']['passed']:,}",
        "time limit" if power["caught"] is None else f"{power['caught']:,}",
        " ".join(str(len(trial["failures"])) for trial in report["trials"]),
        f"{seconds:,.0f} s",
    ]


def write_counts(report: Mapping[str, Any]) -> None:
    """What each transform changed in the last project's first seed."""
    for counts in report["trials"][0]["by_transform"]:
        why = ", ".join(f"{count:,} × {reason}" for reason, count in [*counts["not_applied"].items()][:3])
        print(f"    {counts['transform']}: {counts['changed']:,} of {counts['units']:,}; {why}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
