"""Every block of code of README and documentation is carried out, on the stand-ins that `STAND_INS` declares."""

import csv
import gzip
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import pytest
import yaml

from codeaudit.audit.store import read_rows
from codeaudit.cli.main import cli
from tests.support import preloaded
from tests.support.commands import ROOT, environment
from tests.support.endpoints import Asked, says, sends, serving
from tests.support.pages import PAGES, Block, blocks
from tests.support.plugins import install

EXEMPT: Final = {
    'codeaudit verify . --test-command "mvn -o -q test" --source src/main/java': (
        "it needs a Maven project with its plug-ins offline; tests of `verify` run JUnit projects"
    ),
    "codeaudit verify . --test-command \"npx tape 'test/**/*.js'\"": "it needs a project of JavaScript with its packages",
    "codeaudit verify . --test-command \"sh -c 'make -s && make -s test'\"": "it needs a project of C",
    "codeaudit run --corpus src/ --engine ray --workers 2": "Ray is 240 MB; its tests run where it is installed",
    "pip install --no-compile --no-deps -r requirements-light.txt .": "a test of its own makes this environment",
    "docker build --target light -t codeaudit:light .": "it needs a builder; tests/test_container.py has its parts",
    'docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" codeaudit:light doctor': "it needs an image",
    "codeaudit run --task repair-match --corpus defects4j:checkouts --model openai/MODEL": (
        "it needs working copies of Defects4J; a test of the corpus makes one"
    ),
    "pip install .": "it needs a package index; the gate of the repository carries it out first",
}
"""Blocks and commands that are not carried out, with the reason; at most ten."""

STAND_INS: Final = (
    # Runs that the reader has made before.
    (r"codeaudit-runs/…", "codeaudit-runs/one"),
    (r"\bRUN/(verdicts|answers)\.parquet", r"codeaudit-runs/asked/\1.parquet"),
    (r"(?<![\w-])RUN\b", "codeaudit-runs/one"),
    (r"\bbeaaece2\b", "{sample}"),
    # Smaller: the same command on less.
    (r"--task next-line --corpus src/", "--task next-line --corpus stdlib:json,textwrap"),
    (r"^codeaudit run$", "codeaudit run --limit 12"),
    (r"(codeaudit (?:run|compare)(?= --)(?!.* --(?:limit|suite|config)\b))", r"\1 --limit 12"),
    (r"--limit \d{2,}", "--limit 8"),
    (r"--transform reorder(?= --attack| --trials|$)", "--transform reorder --movable 2"),
    (
        r"(codeaudit run.*) --shard 3/16 --out shard-3",
        r"\1 --shard 1/2 --out shard-1 && \1 --shard 2/2 --out shard-2",
    ),
    (
        r"codeaudit train (spe|tree[\w-]*) (?!--from hf|--task error)(.*)",
        r"codeaudit train \1 \2 --epochs 1 --width 16 --layers 1 --rarest-label 1",
    ),
    (r"codeaudit train spe (--from hf.*)", r"codeaudit train spe \1 --epochs 1 --rarest-label 1"),
    (r"codeaudit train spe (--task error.*)", r"codeaudit train spe \1 --epochs 1"),
    (r"codeaudit train code (.*)", r"codeaudit train code \1 --epochs 1 --width 16"),
    (r"--trials \d+", "--trials 2"),
    (r"--seeds \d+", "--seeds 1"),
    (r"--budget \d+", "--budget 2"),
    (r"-M samples=10", "-M samples=2"),
    (r"--max-requests \d+", "--max-requests 400"),
    (r"package:requests", "package:iniconfig"),
    (r"--steps \d+", "--steps 2"),
    (r"algebra:(train|valid|test):\d+", r"algebra:\1:40"),
    # To read the standard library takes seconds; the plain `codeaudit run` does.
    (
        r"^(codeaudit (?:run|compare))(?= -)(?! --limit 8$)(?!.* --(?:corpus|suite|config|engine)\b)"
        r"(?!.* --task (?!function-name\b))",
        r"\1 --corpus stdlib:argparse,ast,inspect,shutil",
    ),
    # Ready in the environment: what is installed by hand is there, and one endpoint answers for all vendors.
    (r"^pip install (\./examples/plugins/|\"transformers|\"codeaudit-ml\[inspect).*", "true"),
    (r"--model (?:anthropic|google|ollama)/\S+", "--model openai/any-model"),
    (r" -M reasoning_tokens=\d+", ""),
    (r"--base-url URL", "--base-url {endpoint}"),
    (r"hf/NAME", "hf/./my-causal-model -M max_new_tokens=4"),
    (
        r"hfds:bstee615/sven@val --model hf/\./my-detector",
        "primevul_test_paired.jsonl --model hf/./my-detector",
    ),
    (r"^transformers serve .*", "true"),
    (r" -M batch=true(?: -M batch_wait=\d+)?", ""),
    (r"(--task code-search .*)hf/FOLDER", r"\1hf/./my-model"),
    (r"hf/\./my-encoder", "hf/./my-model"),
    # Of C there are two functions; without gcc no fault is reported.
    (
        r"bugs:reported:60:src",
        "bugs:reported:2:of-c" if shutil.which("gcc") else "primevul_test_paired.jsonl",
    ),
    (r"hf/\./my-detector", "hf/./my-classifier"),
    (r"http://127.0.0.1:80\d\d/v1", "{endpoint}"),
    (r"http://127.0.0.1:8080", "{plain}"),
    (r"https://[\w]+(?:\.[\w]+)*\.example/[\w/]+", "{endpoint}"),
    (r"https://RESOURCE.openai.azure.com/openai/deployments/DEPLOYMENT", "{endpoint}"),
    (r"PATH_OR_NAME", "any-model"),
    (r"hf/FOLDER", "hf/./my-causal-model -M max_new_tokens=4"),
    (r"hf/\$\(.*?\)\)\"\)|hf/\$\(python .*?\)(?= --)", "hf/./my-model"),
)
"""What a command says, and what is carried out in its place."""

SHELLS: Final = ("bash", "console", "sh")
SHOWN: Final = ("text", "diff", "{toctree}", "{eval-rst}")
"""Languages of blocks that show something and are no code of the reader's."""


@dataclass(frozen=True)
class Workplace:
    """The folder of a reader who has a project, a model and runs, and what the environment must say."""

    folder: Path
    environment: dict[str, str]
    names: dict[str, str]

    def run(self, command: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", command],
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )


SOURCES: Final = {
    "src/__init__.py": "",
    "src/totals.py": '''\
        def mean(values):
            """The mean of values."""
            total = 0
            count = 0
            for value in values:
                total += value
                count += 1
            return total / count if count else 0


        def spread(values, scale=2):
            low = min(values)
            high = max(values)
            width = high - low
            return width * scale
        ''',
    "src/words.py": '''\
        def joined(words, sign=", "):
            """Put all clean parts into one text."""
            parts = [word.strip() for word in words]
            kept = [part for part in parts if part]
            text = sign.join(kept)
            return text


        def repeated(word, times=2):
            parts = [word] * times
            return "-".join(parts)


        def described(word, sign):
            letters = sorted(word)
            marks = sign * 2
            size = len(letters)
            large = size > 3
            low = word.lower()
            high = word.upper()
            return marks, large, low, high


        def longest(words):
            """Find the item with most letters."""
            best = ""
            for word in words:
                if len(word) > len(best):
                    best = word
            return best
        ''',
    "tests/test_src.py": """\
        from src.totals import mean, spread
        from src.words import described, joined, longest, repeated


        def test_totals():
            assert mean([1, 3]) == 2
            assert spread([1, 4]) == 6


        def test_words():
            assert joined([" a", "b "]) == "a, b"
            assert longest(["a", "bcd"]) == "bcd"
            assert repeated("ab") == "ab-ab"
            assert described("Ab", "-") == ("--", False, "ab", "AB")
        """,
    "codeaudit_model.py": """\
        import re


        def predict(queries):
            return [answer(query) for query in queries]


        def answer(query):
            if "loop" in query.task.lower():
                return "yes" if "for" in query.source else "no"
            return "_".join(sorted(set(re.findall(r"[a-z]{3,}", query.source)))[:2])
        """,
    "my_model.py": """\
        def predict(queries):
            return ["vulnerable" if "strcpy" in query.source else "safe" for query in queries]


        def judge(queries):
            alike = {"equivalence": "same"}
            return [
                alike.get(query.task, "clone") if len(query.source) == len(query.other) else "different"
                for query in queries
            ]


        def rank(queries):
            return [{"scores": [len(text) for text in query.candidates]} for query in queries]
        """,
    "search.py": """\
        import json, sys

        for line in sys.stdin:
            query = json.loads(line)
            lengths = [len(text) for text in query["candidates"]]
            print(json.dumps({"id": query["id"], "scores": lengths}), flush=True)
        """,
    "model.py": """\
        import json, re, sys

        for line in sys.stdin:
            query = json.loads(line)
            words = re.findall(r"[a-z]{3,}", query["source"])
            answer = {"throughput": 2.5, "output-prediction": "1", "error-detection": 0}.get(query["task"])
            if answer is None:
                answer = "return " + words[0] if query["task"] in ("next-line", "generation") else "_".join(words[:2])
            print(json.dumps({"id": query["id"], "answer": answer}), flush=True)
        """,
    "of-c/sums.h": "#include <stddef.h>\n",
    "of-c/sums.c": """\
        #include "sums.h"

        int total(const int *buffer, int count)
        {
            int sum = 0;
            if (buffer == NULL)
                return -1;
            for (int at = 0; at < count; at++)
                sum += buffer[at];
            return sum;
        }

        int first(const int *items, int count)
        {
            int found = 0;
            if (items == NULL || count < 1)
                return found;
            found = items[0];
            return found + 1;
        }
        """,
    "settings.ini": "[server]\nhost = localhost\nport = 80\n\n[client]\nname = me\nwait = 3\n",
    "openblas.csv": 'asm\n"addq %rax, %rbx\nmovq %rbx, %rcx"\n"subq %rdx, %rsi\nimulq %rsi, %rdi"\n',
}


MODULES: Final = (
    "argparse,ast,difflib,doctest,inspect,optparse,shutil,tarfile,zipfile,pdb,turtle,locale,smtplib,ftplib,"
    "imaplib,typing,datetime,statistics,http,email,logging"
)
"""Enough functions for a gate to decide."""
LABELS: Final = ("CWE-79", "CWE-89")

SBATCH: Final = """#!/bin/bash
# Stands for Slurm on one machine: the jobs of an array one after the other, then the job that waits for them.
if [ "$1" = --parsable ]; then
    for SLURM_ARRAY_TASK_ID in 1 2 3 4; do export SLURM_ARRAY_TASK_ID; bash -e "$2" >&2 || exit 1; done
    echo 7
else
    bash -e -c "$3"
fi
"""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    folder = tmp_path_factory.mktemp("reader")
    for name, text in SOURCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "predict.sh").write_text(f"#!/bin/sh\nexec {sys.executable} model.py\n")
    (folder / "predict.sh").chmod(0o755)
    (tool,) = (block.text for block in ALL if "my_model(row" in block.text)
    (job,) = (block.text for block in ALL if "#SBATCH" in block.text)
    (folder / "audit.sh").write_text(job)
    (folder / "my_tool.py").write_text(f"def my_model(code):\n    return f'name_{{len(code)}}'\n\n\n{tool}")
    _write_tables(folder)
    _write_models(folder)
    site = tmp_path_factory.mktemp("site")
    for project in sorted((ROOT / "examples" / "plugins").iterdir()):
        about = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
        modules = {
            name: (project / f"{name}.py").read_text("utf-8")
            for name in about["tool"]["setuptools"]["py-modules"]
        }
        install(site, about["project"]["name"], about["project"]["entry-points"], modules)
    programs = tmp_path_factory.mktemp("bin")
    for name, words in {"python": sys.executable, "pytest": f"{sys.executable} -m pytest",
                        "less": "cat"}.items():  # fmt: skip
        _write_program(programs / name, f'#!/bin/sh\nexec {words} "$@"\n')
    _write_program(programs / "sbatch", SBATCH)
    with ExitStack() as running:
        endpoint = running.enter_context(serving(_answer))
        around = environment(
            {
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]),
                "CODEAUDIT_CACHE": str(tmp_path_factory.mktemp("cache")),
                "SLURM_ARRAY_TASK_ID": "1",
                **dict.fromkeys(("OPENAI_API_KEY", "AZURE_API_KEY", "A_API_KEY", "B_API_KEY"), "none"),
                "OPENAI_BASE_URL": endpoint.url,
            }
        )
        _write_program(programs / "codeaudit", preloaded.program(tmp_path_factory.mktemp("forks")))
        place = Workplace(
            folder, around, {"endpoint": endpoint.url, "plain": endpoint.url.removesuffix("/v1")}
        )
        models = "--model spe-checkpoint --model vanilla-checkpoint"
        few = f"--corpus stdlib:{MODULES} --limit 20 --movable 34"
        few += " --transform reorder,rename-merging --variants 1"
        made = place.run(f"codeaudit run {models} {few} --out codeaudit-runs/one", folder)
        assert made.returncode == 0, made.stderr
        few = "--corpus src --transform rename --variants 1 --limit 3 --out codeaudit-runs/asked"
        made = place.run(f"codeaudit run --model openai/any-model {few}", folder)
        assert made.returncode == 0, made.stderr
        few = "--model vanilla-checkpoint --limit 8 --movable 0 --transform rename --variants 1"
        for name, corpus in {"public": "argparse,ast", "own-code": "inspect,shutil"}.items():
            made = place.run(
                f"codeaudit run {few} --corpus stdlib:{corpus} --out codeaudit-runs/{name}", folder
            )
            assert made.returncode == 0, made.stderr
        for name in ("main", "old-model", "new-model"):
            shutil.copytree(folder / "codeaudit-runs/one", folder / "codeaudit-runs" / name)
        verdicts = read_rows(folder / "codeaudit-runs/one/verdicts.parquet")
        changed = next(row for row in verdicts
                       if row["outcome"] == "violated" and row["model"] == "vanilla-checkpoint")  # fmt: skip
        place.names["sample"] = str(changed["sample"])
        yield place


def _write_program(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def _write_tables(folder: Path) -> None:
    """Small tables under the names and in the columns of the data sets."""
    names = (
        "mean_of",
        "spread_of",
        "joined_word",
        "repeated_word",
        "longest_word",
        "kept_word",
        "found_of",
        "last_of",
    )
    rows = [
        {"source": f"def {name}(values, start={number}):\n    total = start\n    {split} = {number}\n"
                   f"    for value in values:\n        total += value * {split}\n    return total\n",
         "split": split, "label": number % 2, "leak_group": f"{split}{number}"}
        for split in ("train", "valid", "test") for number, name in enumerate(names)
    ]  # fmt: skip
    # A twentieth of the blocks, by what is equal up to renaming, is held out: there must be many.
    words = ("addq", "subq", "andq", "orq", "xorq", "imulq")
    with gzip.open(folder / "bhive_blocks.csv.gz", "wt", encoding="utf-8") as file:
        file.write("asm\n")
        for first, second, third in itertools.product(words, repeat=3):
            file.write(f'"{first} %rax, %rbx\n{second} %rbx, %rcx\n{third} %rcx, %rdx"\n')
    for table in ("table.jsonl.gz", "python_functions.jsonl.gz"):
        with gzip.open(folder / table, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    problem = {
        "task_id": "HumanEval/0",
        "prompt": 'def total(values, start=0):\n    """The sum of values."""\n',
        "canonical_solution": "    result = start\n    for value in values:\n        result += value\n    return result\n",
        "test": "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([1], 4) == 5\n",
        "entry_point": "total",
    }
    with gzip.open(folder / "HumanEval.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(problem) + "\n")
    (folder / "mine.txt").write_text("What would you call this function?\n\n{code}\n", "utf-8")
    sides = [
        f"int copied_{number}(char *to, const char *from, int size)\n{{\n    int count = 0;\n"
        f"    while (from[count] {check}) {{\n        to[count] = from[count];\n        count++;\n    }}\n"
        f"    return count + {number};\n}}\n"
        for number in range(4)
        for check in ("!= 0", "!= 0 && count < size")
    ]
    with (folder / "primevul_test_paired.jsonl").open("w") as lines:
        for number, side in enumerate(sides):
            flaw = {"idx": number, "func": side, "target": 1 - number % 2, "commit_id": f"c{number // 2}",
                    "hash": number, "project": "p", "cwe": ["CWE-787"]}  # fmt: skip
            lines.write(json.dumps(flaw) + "\n")
    (folder / "own.jsonl").write_text(json.dumps(problem) + "\n")
    of_x = {
        "task_id": "Python/0",
        "declaration": "def total(values):\n",
        "canonical_solution": "    result = sum(values)\n    return result\n",
        "prompt": 'def total(values):\n    """The sum of values."""\n',
        "test": "def check(total):\n    assert total([1, 2]) == 3\n\ncheck(total)\n",
        "example_test": "",
    }
    script = {
        **of_x,
        "task_id": "JavaScript/0",
        "declaration": "const total = (values) => {\n",
        "canonical_solution": "  return values.reduce((a, b) => a + b, 0);\n}\n",
        "prompt": "/* The sum of values. */\nconst total = (values) => {\n",
        "test": "console.assert(total([1, 2]) === 3)\n",
    }
    (folder / "humaneval_python.jsonl").write_text(json.dumps(of_x) + "\n")
    (folder / "humaneval_js.jsonl").write_text(json.dumps(script) + "\n")
    (folder / "dataset").mkdir()
    methods = [
        {"idx": str(number), "func": f"int add{number}(int first, int second) {{\n  int sum = first + {number};\n"
                                     f"  int all = sum + second;\n  return all;\n}}"}
        for number in range(6)
    ]  # fmt: skip
    (folder / "dataset/data.jsonl").write_text("".join(json.dumps(method) + "\n" for method in methods))
    (folder / "dataset/test.txt").write_text("0\t1\t1\n2\t3\t0\n4\t5\t1\n1\t2\t0\n")
    pairs = [{"idx": str(number), "doc": f"python add {row['split']} numbers", "code": row["source"], "label": 1}
             for number, row in enumerate(rows)]  # fmt: skip
    (folder / "cosqa-dev.json").write_text(json.dumps(pairs))
    with (folder / "own.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [
                ["code", "summary", "problem"],
                *([row["source"], "Adds up every item given.", at % 4] for at, row in enumerate(rows)),
            ]
        )
    program = "int main()\n{{\n  int total = {0};\n  int rest = total {1} {2};\n  return rest;\n}}\n"
    programs = [
        {"code": program.format(at, "+-*/"[at % 4], at % 4 + 1), "label": str(at % 4 + 1), "index": str(at)}
        for at in range(32)
    ]
    (folder / "dataset/test.jsonl").write_text("".join(json.dumps(program) + "\n" for program in programs))
    with (folder / "cwe.jsonl").open("w") as lines, (folder / "data.csv").open("w", newline="") as file:
        rows_of_csv = csv.writer(file)
        rows_of_csv.writerow(["func", "target"])
        for number, row in enumerate(rows):
            lines.write(json.dumps({**row, "label": LABELS[number % 2]}) + "\n")
            rows_of_csv.writerow([row["source"], number % 2])


def _write_models(folder: Path) -> None:
    """A network of the hub's kind, and a checkpoint for blocks of instructions."""
    from tests.audit.models.hf import networks

    words = networks.tokenizer(networks.GPT)
    networks.save(folder / "my-causal-model", networks.gpt2("GPT2LMHeadModel", words, window=4096), words)
    words = networks.tokenizer(networks.BERT, networks.BERT_ENDS)
    networks.save(folder / "my-model", networks.bert("BertModel", words, max_position_embeddings=2048), words)
    codebert = networks.bert("BertModel", words, num_attention_heads=4)
    networks.save(folder / "my-codebert", codebert, words)
    classifier = networks.bert(
        "BertForSequenceClassification",
        words,
        max_position_embeddings=2048,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    networks.save(folder / "my-classifier", classifier, words)
    shutil.copytree(ROOT / "audit" / "checkpoints" / "renamer-checkpoint", folder / "my-renamer")


def _answer(asked: Asked) -> Any:
    """An answer in the form that the question asks for."""
    if "completions" not in asked.path:  # the example plug-in's own protocol
        return sends(200, json.dumps({"text": "[parse_words]", "tokens": [12, 3]}))
    forms = {
        "have a bug": "clean",
        "vulnerability": "vulnerable",
        "programs do the same": "same",
        "for or while loop": "yes",
        "What does the call return": "1",
        "breaks off": "return 1",
    }
    return says(next((form for words, form in forms.items() if words in asked.text), "[parse_words] [pw]"))


ALL: Final = tuple(blocks())


def _small(command: str, names: dict[str, str]) -> str:
    for pattern, text in STAND_INS:
        command = re.sub(pattern, text.format(**names) if "{" in text else text, command)
    return command


def _commands(block: Block) -> Iterator[str]:
    """The commands of a block of the shell, each on one line and without comments."""
    for line in re.sub(r" \\\n\s*", " ", block.text).splitlines():
        command = re.sub(r"\s#\s.*", "", line.removeprefix("$ ")).strip()
        if command and not command.startswith("#"):
            yield command


SAVED: Final = re.compile(
    r"^.*\bSave this as `([\w./]+)`:\n\n```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
"""A block that the reader saves in a file, before a command uses it."""
TUTORIALS: Final = tuple(page for page in PAGES if page.parent.name == "tutorials")
PAGES_OF_COMMANDS: Final = tuple(dict.fromkeys(block.page for block in ALL if block.language in SHELLS))


FIRST: Final = (
    "README.md",
    "docs/tutorials/",
    "docs/running.md",
    "docs/howto/gate.md",
    "docs/howto/project.md",
)
"""Pages that a new reader follows. The commands of all others are carried out once a week."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if str(page).startswith(FIRST) else [pytest.mark.weekly])
        for page in PAGES_OF_COMMANDS
    ],
    ids=str,
)
def test_the_commands_of_a_page_succeed(page: Path, workplace: Workplace, tmp_path: Path) -> None:
    """In their order and in one folder, as a reader carries them out."""
    folder = tmp_path / "reader"
    shutil.copytree(workplace.folder, folder)
    # A page that begins with `codeaudit init` needs no more than sources.
    shell = [block.text for block in ALL if block.page == page and block.language in SHELLS]
    begins = shell[0].startswith("codeaudit init")
    if begins:
        (folder / "codeaudit_model.py").unlink()
    for name, text in SAVED.findall((ROOT / page).read_text("utf-8")):
        (folder / name).write_text(_small(text, workplace.names), "utf-8")
    failed = []
    for block in ALL:
        if block.page != page or block.language not in SHELLS:
            continue
        for command in [block.text] if block.text.startswith("#!") else _commands(block):
            small = _small(command, workplace.names)
            # The hub is out of reach; the tests of the data sets read their rows from files.
            if command in EXEMPT or "hfds:" in small:
                continue
            done = workplace.run(small, folder)
            # Whether small stand-ins pass a gate is not the page's subject: they must be judged.
            allowed = {0, 1} if re.search(r"codeaudit (gate|verify)", command) else {0}
            # The model that `init` writes changes too few answers on six functions to be compared.
            allowed |= {3} if begins and "--baseline" in command else set()
            # One endpoint answers alike to all sources, so no correlation with labels can be judged.
            allowed |= {3} if "--max-missed" in command else set()
            if done.returncode not in allowed:
                failed.append(f"{block}: {command}\n{done.returncode}: {done.stderr[-1500:]}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("page", TUTORIALS, ids=str)
def test_a_tutorial_has_its_commands_in_blocks(page: Path) -> None:
    """A command inside a sentence is typed by readers, and is not carried out by the test above."""
    text = (ROOT / page).read_text("utf-8")
    in_text = re.findall(
        r"`((?:codeaudit|pytest|python|pip|git) [^`\n]+)`",
        re.sub(r"^```.*?^```", "", text, flags=re.M | re.S),
    )
    shown = [command for block in ALL if block.page == page for command in _commands(block)]
    assert [line for line in in_text if not any(command.startswith(line) for command in shown)] == []


def test_every_block_is_of_a_known_kind() -> None:
    known = {*SHELLS, *SHOWN, "python", "toml", "yaml"}
    assert [str(block) for block in ALL if block.language not in known] == []


def test_what_is_exempt_stands_on_a_page() -> None:
    commands = {command for block in ALL if block.language in SHELLS for command in _commands(block)}
    assert EXEMPT.keys() <= commands
    assert len(EXEMPT) <= 10


def test_nothing_that_a_user_copies_has_a_gap() -> None:
    copied = [block for block in ALL if block.language not in SHOWN]
    assert [str(block) for block in copied if re.search(r"\b(OWNER|TODO|FIXME|XXX)\b", block.text)] == []


QUOTED: Final = {"docs/inside-a-language.md:1": "transforms/strategies/operands.py"}
"""Blocks that a page takes from a source of the tool, which its tests carry out."""


@pytest.mark.parametrize("name", QUOTED)
def test_what_a_page_quotes_stands_in_the_source(name: str) -> None:
    (block,) = (block for block in ALL if str(block) == name)
    source = (ROOT / QUOTED[name]).read_text("utf-8")
    assert [part for part in block.text.strip().split("\n\n\n") if part not in source] == []


PYTHON: Final = [block for block in ALL if block.language == "python" and str(block) not in QUOTED]


@pytest.mark.slow
@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_the_python_of_a_block_runs(block: Block, workplace: Workplace, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(workplace.folder, folder)
    # In a process of its own, with what the text around the block speaks of.
    script = folder / "block.py"
    text = _small(block.text, workplace.names) if "RUN/" in block.text else block.text
    script.write_text(f"{BEFORE}\n{text}\n{AFTER}", "utf-8")
    for name, content in SAVED.findall((ROOT / block.page).read_text("utf-8")):
        (folder / name).write_text(content, "utf-8")
    # One that passes: the tests on the pages call it.
    (folder / "codeaudit_model.py").write_text("def predict(queries):\n    return ['total'] * len(queries)\n")
    (folder / "suite.jsonl").write_text('{"input": "1", "perturbed": "def f(): pass"}\n', "utf-8")
    done = workplace.run(f"echo '{QUERY}' | python block.py suite.jsonl answers.jsonl", folder)
    assert done.returncode == 0, done.stderr


QUERY: Final = json.dumps(
    {"id": "1", "task": "function-name", "language": "python", "source": "def f(): pass"}
)
BEFORE: Final = '''
from pathlib import Path
import codeaudit

source = Path("src/totals.py").read_text().split("\\n\\n\\n")[1]
my_model = len


def predict(queries):
    return ["total"] * len(queries)


class data:
    """A data set with `map`, as that of the library datasets."""

    def map(change):
        texts = Path("src/words.py").read_text().split("\\n\\n\\n")
        return change({"code": next(text for text in texts if "described" in text)})
'''
AFTER: Final = """
asked = codeaudit.Query(task="function-name", language="python", source="def f():\\n    return one(two)\\n")
assert len(predict([asked, asked])) == 2
for name, found in list(globals().items()):
    if name.startswith("test_"):
        found(*[codeaudit.assert_invariant][: found.__code__.co_argcount])
"""


OPTIONS: Final = [block for block in ALL if block.language == "toml"]


@pytest.mark.parametrize("block", OPTIONS, ids=str)
def test_a_block_of_options_has_known_names(block: Block) -> None:
    options = tomllib.loads(block.text)
    # A plug-in's has no `run`; tests of the examples install it.
    assert "run" in options or "project" in options
    run = cli.get_command(click.Context(cli, **cli.context_settings), "run")
    assert run is not None
    known = {each for option in run.params for each in option.opts}
    assert {f"--{name}" for name in options.get("run", ())} <= known


@pytest.mark.slow
@pytest.mark.parametrize("block", [block for block in OPTIONS if "run" in tomllib.loads(block.text)], ids=str)
def test_a_block_of_options_is_taken(block: Block, tmp_path: Path, workplace: Workplace) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(workplace.folder, folder)
    (folder / "codeaudit.toml").write_text(_small(block.text, workplace.names), "utf-8")
    if "baseline" in block.text:  # the page has made both before
        made = workplace.run(
            "codeaudit transform src --suite suite.lock.jsonl && "
            "codeaudit run --suite suite.lock.jsonl --model fake/hash --out shipped && "
            "codeaudit report shipped --baseline baseline.parquet",
            folder,
        )
        assert made.returncode == 0, made.stderr
    judged = [("gate made", {0, 1, 3})] if "[gate]" in block.text else []
    for command, allowed in (("run --out made", {0}), *judged):
        done = workplace.run(f"codeaudit {command} --config codeaudit.toml", folder)
        assert done.returncode in allowed, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("block", [block for block in ALL if block.language == "yaml"], ids=str)
def test_the_steps_of_a_block_run(block: Block, workplace: Workplace, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(workplace.folder, folder)
    (folder / "codeaudit.toml").write_text(
        '[run]\nmodel = "py/codeaudit_model:predict"\ncorpus = "src"\n\n[gate]\nmax-violation-rate = "5%"\n'
    )
    workflow = yaml.safe_load(block.text)
    actions = list(_actions(workflow))
    for path, given in actions:
        inputs = yaml.safe_load((ROOT / path / "action.yml").read_text("utf-8"))["inputs"]
        assert given.keys() <= inputs.keys()
    commands = list(_steps(workflow))
    assert commands or actions
    for command in commands:
        done = workplace.run(_small(command, workplace.names), folder)
        # The gate judges stand-ins: it passes, fails, or has too few samples.
        allowed = {0, 1, 3} if "gate" in command or "hook" in command else {0}
        assert done.returncode in allowed, f"{command}\n{done.stderr}"


def _actions(node: object) -> Iterator[tuple[str, dict[str, object]]]:
    """The paths in this repository of the actions that steps use, with what they are given."""
    if isinstance(node, dict):
        path = str(node.get("uses", ""))
        if path.startswith("./tools/codeaudit/"):
            yield path.removeprefix("./tools/codeaudit/"), node.get("with", {})
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _actions(child)


def _steps(node: object) -> Iterator[str]:
    """The shell commands of codeaudit in a workflow, a pipeline or a list of hooks."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "entry", "script"):
                lines = value if isinstance(value, list) else str(value).splitlines()
                yield from (line for line in lines if "codeaudit" in line and "pip install" not in line)
            else:
                yield from _steps(value)
    elif isinstance(node, list):
        for child in node:
            yield from _steps(child)
