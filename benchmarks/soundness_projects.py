"""Do real projects' own tests still pass when every meaning-keeping transform has rewritten the project?

    python benchmarks/soundness_projects.py --work DIR [--project NAME ...] [--seeds 5] [--alone]

Each project is fetched as a source distribution (with its tests), gets a virtual environment with what its
tests need, and is then verified with `codeaudit verify`: the meaning-keeping transforms one after the other,
once a seed. With `--alone`, each of them alone, under the first seed. (sortedcontainers has no tests in its
distribution; cachetools stands in for it.) Downloads and environments in DIR are used again. Exit code 1
where some test that passed fails.
"""

import argparse
import re
import subprocess
import sys
import tarfile
import time
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verifying import ALONE, Tested, alone_row, verified, verified_alone, write_table

from codeaudit.transforms.errors import CannotAudit, RunError


@dataclass(frozen=True, kw_only=True)
class Project:
    """Where a project's code and tests are, and what the tests need."""

    version: str
    sources: tuple[str, ...]
    tests: tuple[str, ...] = ("tests",)
    needs: tuple[str, ...] = ()
    runner: str = "pytest -q"
    """The module that runs the tests, with what stands before their places."""


PROJECTS: Mapping[str, Project] = {
    "addict": Project(version="2.4.0", sources=("addict",), tests=("test_addict.py",)),
    "beautifulsoup4": Project(
        version="4.15.0", sources=("bs4",), tests=("bs4/tests",), needs=("soupsieve", "typing_extensions")
    ),
    "dpath": Project(version="2.2.0", sources=("dpath",), needs=("hypothesis", "nose2")),
    "email-validator": Project(version="2.4.0", sources=("email_validator",), needs=("dnspython", "idna")),
    "frozendict": Project(version="2.5.1", sources=("src",), tests=("test",)),
    "hyperlink": Project(version="21.0.0", sources=("src",), tests=("src/hyperlink/test",), needs=("idna",)),
    "inflection": Project(version="0.5.1", sources=("inflection",), tests=("test_inflection.py",)),
    "intervaltree": Project(
        version="3.2.1", sources=("intervaltree",), tests=("test",), needs=("sortedcontainers",)
    ),
    "invoke": Project(version="3.0.3", sources=("invoke",), needs=("pytest-relaxed", "icecream")),
    "itemadapter": Project(version="0.13.1", sources=("itemadapter",), needs=("attrs", "pydantic")),
    "mido": Project(version="1.2.10", sources=("mido",)),
    "parsel": Project(
        version="1.12.1", sources=("parsel",), needs=("cssselect", "lxml", "w3lib", "jmespath", "psutil")
    ),
    "pysnooper": Project(version="1.2.3", sources=("pysnooper",)),
    "python-box": Project(
        version="8.0.0", sources=("box",), tests=("test",), needs=("ruamel.yaml", "toml", "msgpack")
    ),
    "python-slugify": Project(version="9.2.0", sources=("slugify",), needs=("text-unidecode",)),
    "rfc3986": Project(version="2.0.0", sources=("src",), needs=("idna",)),
    "soupsieve": Project(
        version="4.1.3", sources=("soupsieve",), needs=("beautifulsoup4", "html5lib", "lxml")
    ),
    "textdistance": Project(version="4.6.3", sources=("textdistance",), needs=("hypothesis",)),
    "uritemplate": Project(version="4.2.0", sources=("uritemplate",)),
    "validators": Project(version="0.36.0", sources=("src",)),
    "varname": Project(
        version="1.0.0",
        sources=("varname",),
        needs=("executing", "asttokens", "pure_eval", "rich", "pytest-cov"),
    ),
    "voluptuous": Project(version="0.16.0", sources=("voluptuous",), tests=("voluptuous/tests",)),
    "w3lib": Project(version="2.5.0", sources=("w3lib",), needs=("idna", "hypothesis")),
    "webob": Project(version="1.8.11", sources=("src",)),
    "xmltodict": Project(version="1.0.4", sources=("xmltodict.py",)),
    "h2": Project(version="4.4.1", sources=("src",), needs=("hypothesis", "hpack", "hyperframe")),
    "wsproto": Project(version="1.3.2", sources=("src",), needs=("h11",)),
    "aiofiles": Project(version="25.1.0", sources=("src",), needs=("pytest-asyncio",)),
    "bottle": Project(version="0.13.4", sources=("bottle.py",), tests=("test",)),
    "pony": Project(version="0.7.20", sources=("pony",), tests=("pony/orm/tests",)),
    "tinydb": Project(version="4.9.0", sources=("tinydb",), needs=("pyyaml",)),
    "parsimonious": Project(
        version="0.9.0", sources=("parsimonious",), tests=("parsimonious/tests",), needs=("regex",)
    ),
    "arpeggio": Project(version="2.0.3", sources=("arpeggio",), tests=("arpeggio/tests",)),
    "pycparser": Project(version="3.12", sources=("pycparser",)),
    "json5": Project(version="0.17.3", sources=("json5",), needs=("hypothesis",)),
    "bleach": Project(version="6.4.0", sources=("bleach",), needs=("html5lib", "webencodings", "tinycss2")),
    "cssselect": Project(version="1.6.0", sources=("cssselect",), needs=("lxml",)),
    "pyflakes": Project(version="4.1.0", sources=("pyflakes",), tests=("pyflakes/test",)),
    "asttokens": Project(version="3.0.2", sources=("asttokens",), needs=("astroid",)),
    "configobj": Project(version="5.0.9", sources=("src",), tests=("src/tests",), needs=("mock",)),
    "docopt-ng": Project(version="0.9.0", sources=("docopt",)),
    "simpy": Project(version="4.1.2", sources=("src",)),
    "num2words": Project(
        version="0.5.14",
        sources=("num2words",),
        needs=(
            "delegator.py",
            "docopt",
        ),
    ),
    "yapsy": Project(version="1.12.2", sources=("yapsy",), tests=("test",)),
    "venusian": Project(version="3.1.1", sources=("src",), needs=("pytest-cov",)),
    "blinker": Project(version="1.9.0", sources=("src",), needs=("pytest-asyncio",)),
    "zope.interface": Project(
        version="8.7", sources=("src",), tests=("src/zope/interface",), needs=("zope.testing",)
    ),
    "pyhamcrest": Project(version="2.1.0", sources=("src",), needs=("numpy",)),
    "mock": Project(version="5.2.0", sources=("mock",), tests=("mock/tests",)),
    "freezegun": Project(version="1.5.5", sources=("freezegun",), needs=("python-dateutil",)),
    "responses": Project(
        version="0.26.3",
        sources=("responses",),
        tests=("responses/tests",),
        needs=("requests", "urllib3", "pyyaml", "pytest-httpserver", "tomli-w", "pytest-asyncio"),
    ),
    "prettytable": Project(version="3.18.0", sources=("src",), needs=("wcwidth", "pytest-lazy-fixtures")),
    "pyrsistent": Project(version="0.20.0", sources=("pyrsistent",), needs=("hypothesis",)),
    "colander": Project(version="2.0", sources=("src",), needs=("iso8601", "translationstring")),
    "wtforms": Project(
        version="3.3.2", sources=("src",), needs=("markupsafe", "babel", "python-dateutil", "email_validator")
    ),
    "oauthlib": Project(version="4.0.1", sources=("oauthlib",), needs=("cryptography", "pyjwt", "blinker")),
    "pyjwt": Project(version="2.9.0", sources=("jwt",), needs=("cryptography",)),
    "isodate": Project(version="0.7.2", sources=("src",)),
    "arrow": Project(
        version="1.4.0",
        sources=("arrow",),
        needs=(
            "pytest-cov",
            "python-dateutil",
            "types-python-dateutil",
            "dateparser",
            "pytz",
            "pytest-mock",
            "simplejson",
            "tzdata",
        ),
    ),
    "croniter": Project(
        version="7.0.0",
        sources=("src",),
        tests=("src/croniter/tests",),
        needs=("python-dateutil", "pytz", "tzlocal"),
    ),
    "mako": Project(version="1.4.3", sources=("mako",), tests=("test",), needs=("markupsafe", "babel")),
    "chameleon": Project(version="4.6.0", sources=("src",), tests=("src/chameleon/tests",)),
    "genshi": Project(
        version="0.7.12", sources=("genshi",), tests=("genshi",), needs=("six", "setuptools<81")
    ),
    "funcy": Project(version="2.1", sources=("funcy",), needs=("whatever",)),
    "glom": Project(
        version="25.12.0",
        sources=("glom",),
        tests=("glom/test",),
        needs=("boltons", "attrs", "face", "pyyaml"),
    ),
    "zipp": Project(
        version="4.1.2",
        sources=("zipp",),
        needs=("jaraco.functools", "jaraco.itertools", "jaraco.test", "more-itertools", "big-O"),
    ),
    "flask": Project(
        version="3.1.3",
        sources=("src",),
        needs=("werkzeug", "jinja2", "itsdangerous", "click", "blinker", "asgiref", "python-dotenv"),
    ),
    "attrs": Project(version="25.3.0", sources=("src",), needs=("hypothesis", "cloudpickle", "packaging")),
    "boltons": Project(version="25.0.0", sources=("boltons",)),
    "cachetools": Project(version="5.5.2", sources=("src",)),
    "click": Project(version="8.1.8", sources=("src",)),
    "h11": Project(version="0.16.0", sources=("h11",), tests=("h11",)),
    "humanize": Project(version="4.12.3", sources=("src",), needs=("freezegun",)),
    "itsdangerous": Project(version="2.2.0", sources=("src",), needs=("freezegun",)),
    "jinja2": Project(version="3.1.6", sources=("src",), needs=("markupsafe", "trio")),
    "jsonschema": Project(
        version="4.23.0",
        sources=("jsonschema",),
        tests=("jsonschema",),
        # Itself, because its tests read the metadata of the installed package.
        needs=("jsonschema==4.23.0", "attrs", "pyrsistent"),
    ),
    "lark": Project(version="1.2.2", sources=("lark",)),
    "markdown": Project(version="3.7", sources=("markdown",), needs=("pyyaml",), runner="unittest discover"),
    "markupsafe": Project(version="3.0.2", sources=("src",)),
    "marshmallow": Project(version="3.26.1", sources=("src",), needs=("packaging", "pytz", "simplejson")),
    "mistune": Project(version="3.1.3", sources=("src",)),
    "more-itertools": Project(version="10.6.0", sources=("more_itertools",)),
    "networkx": Project(
        version="3.4.2",
        sources=("networkx/algorithms/shortest_paths", "networkx/algorithms/flow", "networkx/classes"),
        tests=("networkx/algorithms/shortest_paths", "networkx/algorithms/flow", "networkx/classes"),
    ),
    "packaging": Project(version="24.2", sources=("src",), needs=("pretend",)),
    "parso": Project(version="0.8.4", sources=("parso",), tests=("test",)),
    "pluggy": Project(version="1.5.0", sources=("src",), tests=("testing",)),
    "pyparsing": Project(version="3.2.3", sources=("pyparsing",), needs=("railroad-diagrams", "jinja2")),
    "requests": Project(
        version="2.32.3",
        sources=("src",),
        needs=(
            "urllib3<2.4",
            "idna",
            "certifi",
            "charset-normalizer",
            "pytest-httpbin",
            "pytest-mock",
            "trustme",
        ),
    ),
    "simplejson": Project(version="3.20.1", sources=("simplejson",), tests=("simplejson",)),
    "sqlparse": Project(version="0.5.3", sources=("sqlparse",)),
    "structlog": Project(
        version="25.3.0", sources=("src",), needs=("freezegun", "pretend", "pytest-asyncio", "time-machine")
    ),
    "tabulate": Project(version="0.9.0", sources=("tabulate",), tests=("test",), needs=("wcwidth",)),
    "tinycss2": Project(version="1.4.0", sources=("tinycss2",), needs=("webencodings",)),
    "toolz": Project(version="1.0.0", sources=("toolz",), tests=("toolz",)),
    "wcwidth": Project(version="0.2.13", sources=("wcwidth",), needs=("pytest-cov",)),
    "werkzeug": Project(
        version="3.1.3",
        sources=("src",),
        needs=("cffi", "ephemeral-port-reserve", "markupsafe", "pytest-timeout", "watchdog"),
    ),
}


def main() -> int:
    """Verify the projects and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and environments")
    parser.add_argument("--project", nargs="*", choices=sorted(PROJECTS), default=sorted(PROJECTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--transform", default="all")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="each transform alone, under seed 0")
    asked = parser.parse_args()
    asked.work = asked.work.resolve()
    asked.work.mkdir(parents=True, exist_ok=True)
    rows, failed = [], False
    for name in asked.project:
        began = time.monotonic()
        try:
            tested = prepare(name, PROJECTS[name], asked.work)
            if asked.alone:
                report = verified_alone(tested, asked.transform, 0, asked.workers, asked.work)
                rows.append(alone_row(tested, PROJECTS[name].version, report, time.monotonic() - began))
                failed |= any(transform["failures"] for transform in report["transforms"])
                write_table(ALONE, rows)
                continue
            words = ["--transform", asked.transform]
            words += ["--seeds", str(asked.seeds), "--workers", str(asked.workers)]
            report = verified(tested, words, asked.work)
        except (subprocess.CalledProcessError, OSError, ValueError, CannotAudit, RunError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        failed |= not report["held"]
        rows.append(row(name, report, time.monotonic() - began))
        write_table(HEADS, rows)
    return int(failed)


def prepare(name: str, project: Project, work: Path) -> Tested:
    """The unpacked source distribution of a project, with a Python in which its tests can run."""
    sdists = work / "sdists"
    folder = work / "projects" / f"{name}-{project.version}"
    if not folder.exists():
        download = ["download", "--no-deps", "--no-binary", name, "--dest", str(sdists)]
        download.append(f"{name}=={project.version}")
        subprocess.run([sys.executable, "-m", "pip", "-q", *download], check=True)
        # A name may be written with dots or dashes, and its archive with underscores.
        wanted = re.sub(r"[-.]", "_", f"{name}-{project.version}.tar.gz".lower())
        archive = next(
            path for path in sdists.glob("*.tar.gz") if re.sub(r"[-.]", "_", path.name.lower()) == wanted
        )
        with tarfile.open(archive) as tar:
            tar.extractall(folder.parent / f"{name}.partial", filter="data")
        (top,) = (folder.parent / f"{name}.partial").iterdir()
        top.rename(folder)
    missing = [place for place in (*project.sources, *project.tests) if not (folder / place).exists()]
    if missing:
        raise ValueError(f"the source distribution has no {', '.join(missing)}")
    environment = work / "environments" / name
    python = environment / "bin/python"
    if not (environment / "ready").exists():
        venv.create(environment, clear=True)
        install = ["-m", "pip", "-q", "--python", str(python), "install", "pytest<9", *project.needs]
        subprocess.run([sys.executable, *install], check=True)
        (environment / "ready").touch()
    command = f"{python} -m {project.runner} {' '.join(project.tests)}"
    return Tested(name=name, folder=folder, command=command, sources=project.sources)


HEADS = (
    *("project", "tests passing before", "units changed", "of these executed"),
    *("new failures, by seed", "fail where these raise", "unsteady", "time"),
)


def row(name: str, report: Mapping[str, Any], seconds: float) -> list[str]:
    """A project's line of the table of `HEADS`."""
    power = report["power"]
    caught = "time limit" if power["caught"] is None else f"{power['caught']:,}"
    return [
        f"{name} {PROJECTS[name].version}",
        f"{report['before']['passed']:,}",
        f"{power['changed']:,}",
        f"{power['executed']:,}",
        " ".join(str(len(trial["failures"])) for trial in report["trials"]),
        "all: the test command stops" if power["stopped"] else caught,
        f"{report['before']['unsteady'] + sum(trial['flaky'] for trial in report['trials']):,}",
        f"{seconds:,.0f} s",
    ]


if __name__ == "__main__":
    sys.exit(main())
