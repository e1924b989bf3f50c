"""Records what the commands print and write on frozen inputs, and compares two recordings.

Before a change that must not change any result, and after it:

    python benchmarks/same_results.py record before
    python benchmarks/same_results.py record after
    python benchmarks/same_results.py compare before after

The commands are in same_results.txt. `--data FOLDER` adds commands on the tables python_functions,
java_methods, HumanEval, bhive_blocks and defects4j_methods. Times, paths, versions and random keys are left
out of the comparison.
"""

import argparse
import difflib
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parent.parent
COMMANDS: Final = Path(__file__).with_suffix(".txt")

JAVA: Final = """\
package sample;

import java.util.ArrayList;
import java.util.List;

/** Words of a line. */
public class Words {
    private final List<String> words = new ArrayList<>();
    private int longest = 0;

    public int add(String line) {
        int count = 0;
        int start = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == ' ') {
                if (i > start) {
                    words.add(line.substring(start, i));
                    count++;
                }
                start = i + 1;
            }
        }
        String rest = line.substring(start);
        if (!rest.isEmpty()) { words.add(rest); count += 1; }
        return count;
    }

    public int longest() {
        int best = longest;
        int seen = 0;
        for (String word : words) {
            seen++;
            if (word.length() > best) best = word.length();
        }
        longest = best;
        return seen == 0 ? -1 : best;
    }

    static String describe(int a, int b) {
        int sum = a + b;
        int product = a * b;
        boolean large = sum > 10 && product > 20;
        String kind = large ? "large" : "small";
        return kind + ": " + sum + ", " + product;
    }
}
"""

BLOCKS: Final = """\
first:
    movq %rdi, %rax
    addq %rsi, %rax
    movq 8(%rdx), %rcx
    imulq %rcx, %rax
    ret
second:
    xorl %eax, %eax
    leaq 1(%rdi), %rcx
    movl $4, %edx
    addl %edx, %eax
    subq %rcx, %rsi
    vaddps %ymm0, %ymm1, %ymm2
    ret
"""

TABLE: Final = """\
asm,cycles
"addq %rsi, %rax
movq 8(%rdx), %rcx
imulq %rcx, %rax",3.5
"xorl %eax, %eax
leaq 1(%rdi), %rcx
subq %rcx, %rsi",1.0
"movl $4, %edx
addl %edx, %eax
vaddps %ymm0, %ymm1, %ymm2",2.0
"""

MODEL: Final = """\
def predict(queries):
    return [" ".join(sorted(set(query.source.split()), key=len)[-2:]) for query in queries]
"""

PROGRAM: Final = """\
import json, sys
for line in sys.stdin:
    query = json.loads(line)
    print(json.dumps({"id": query["id"], "answer": str(len(query["source"]) % 7)}), flush=True)
"""

SKIPPED: Final = re.compile(r"\.(safetensors|key|lock|pyc)$|training-state|__pycache__|\.hypothesis")
LEFT_OUT: Final = (
    (re.compile(r"\d{8}-\d{6}"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s|min)\b"), "N s"),
    (re.compile(r"\b\d+:\d\d(:\d\d)?\b"), "N s"),
    (re.compile(r"\b\d+(\.\d+)?/s\b"), "N/s"),
    (re.compile(r'(timestamp|time)="[^"]*"'), "TIME"),
    (
        re.compile(
            r'"(seconds|elapsed|duration|waited|began|ended|started|created|finished)[a-z_]*": ?[\d.e+-]+'
        ),
        "SECONDS",
    ),
    (re.compile(r'"wall_seconds": [\d.]+'), "SECONDS"),
    (re.compile(r"tmp[a-z0-9_]{8}"), "TMP"),
    (re.compile(r'"codeaudit": "[0-9a-f]{32}"'), "HASH OF THE PROGRAM"),
    (re.compile(r'"(salt|key_check)": "[0-9a-f]+"|"tags": {[^}]*}'), "KEYED"),
    (re.compile(r"^codeaudit: (reading \d|.* N s left$).*\n?", re.MULTILINE), ""),
)


def inputs(folder: Path) -> None:
    """Write the frozen inputs: standard library modules, a Java class, x86 blocks, models and a project."""
    (folder / "py").mkdir(parents=True)
    for name in ("textwrap", "fnmatch", "bisect", "shlex", "colorsys"):
        source = Path(os.__file__).with_name(f"{name}.py")
        shutil.copy(source, folder / "py" / f"{name}_.py")
    (folder / "java").mkdir()
    (folder / "java" / "Words.java").write_text(JAVA)
    (folder / "blocks.s").write_text(BLOCKS)
    (folder / "blocks.csv").write_text(TABLE)
    (folder / "model.py").write_text(MODEL)
    (folder / "answers.py").write_text(PROGRAM)
    project = folder / "project"
    project.mkdir()
    shutil.copy(Path(os.__file__).with_name("bisect.py"), project / "finding.py")
    shutil.copy(Path(os.__file__).with_name("colorsys.py"), project / "colours.py")
    (project / "test_all.py").write_text(
        textwrap.dedent(
            """\
            import unittest
            from colours import hls_to_rgb, rgb_to_hls, rgb_to_hsv
            from finding import bisect_left, insort

            class Tests(unittest.TestCase):
                def test_bisect(self):
                    self.assertEqual([bisect_left([1, 2, 2, 5], x) for x in range(7)], [0, 0, 1, 3, 3, 3, 4])
                    kept = []
                    for x in (3, 1, 2):
                        insort(kept, x)
                    self.assertEqual(kept, [1, 2, 3])

                def test_colours(self):
                    self.assertEqual(rgb_to_hsv(0.5, 0.5, 0.2)[2], 0.5)
                    self.assertAlmostEqual(hls_to_rgb(*rgb_to_hls(0.3, 0.4, 0.1))[1], 0.4)
            """
        )
    )


def perform(name: str, line: str, out: Path, data: Path | None) -> None:
    """Run the commands of a line in a folder of their own, and keep what they print, write and return."""
    folder = out / name
    inputs(folder)
    before = set(folder.rglob("*"))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CODEAUDIT_")}
    # One thread: sums of floats depend on how many threads share them.
    environment |= {
        "PYTHONPATH": str(CHECKOUT), "COLUMNS": "120", "NO_COLOR": "1", "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1", "CODEAUDIT_CACHE": str(folder / ".cache"), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    for number, command in enumerate(line.split(" && ")):
        words = shlex.split(command.replace("{data}", str(data)))
        done = subprocess.run(
            [sys.executable, "-m", "codeaudit", *words], cwd=folder, env=environment, capture_output=True
        )
        (folder / f"{number}.stdout").write_bytes(done.stdout)
        (folder / f"{number}.stderr").write_bytes(done.stderr)
        (folder / f"{number}.code").write_text(str(done.returncode))
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    for path in before:
        if path.is_file():
            path.unlink()
    print(f"{name}: {(folder / f'{number}.code').read_text()}", flush=True)


def text(path: Path, root: Path) -> list[str]:
    """The lines of a file, with times, paths and versions left out; tables as a row of JSON per line."""
    if path.suffix == ".parquet":
        import pandas as pd

        rows = json.loads(pd.read_parquet(path).to_json(orient="records"))
        content = "\n".join(json.dumps(row, sort_keys=True, indent=1) for row in rows)
    elif path.suffix == ".gz":
        content = gzip.decompress(path.read_bytes()).decode()
    else:
        content = path.read_bytes().decode(errors="backslashreplace")
    for gone in (str(root), str(CHECKOUT)):
        content = content.replace(gone, "FOLDER")
    for pattern, instead in LEFT_OUT:
        content = pattern.sub(instead, content)
    return content.splitlines()


def files(root: Path) -> Iterator[str]:
    """The files of a recording that are compared."""
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and not SKIPPED.search(name):
            yield name


def compare(before: Path, after: Path, lines: int) -> int:
    """Print how the recordings differ; 1 if they do."""
    ours, theirs = set(files(before)), set(files(after))
    different = 0
    for name in sorted(ours | theirs):
        if name not in ours or name not in theirs:
            different += 1
            print(f"only in {'before' if name in ours else 'after'}: {name}")
            continue
        old, new = text(before / name, before), text(after / name, after)
        if old != new:
            different += 1
            print(f"different: {name}")
            shown = [
                x
                for x in difflib.unified_diff(old, new, lineterm="", n=0)
                if not x.startswith(("---", "+++", "@@"))
            ]
            print("\n".join(f"    {x[:300]}" for x in shown[:lines]))
    print(f"{len(ours & theirs)} files in both, {different} different")
    return int(different > 0)


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--data", type=Path)
    recording.add_argument("--only", default="", help="names, separated by commas")
    recording.add_argument("--jobs", type=int, default=os.cpu_count())
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--lines", type=int, default=12, help="lines of difference shown per file")
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.before.resolve(), given.after.resolve(), given.lines)
    listed = (
        line.partition(": ") for line in COMMANDS.read_text().splitlines() if ": " in line and line[0] != "#"
    )
    chosen = {name: line for name, _, line in listed if given.data or "{data}" not in line}
    if given.only:
        chosen = {name: chosen[name] for name in given.only.split(",")}
    data = given.data.resolve() if given.data else None
    out = given.out.resolve()
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(lambda name: perform(name, chosen[name], out, data), chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
