"""A program behind `codeaudit run` that is killed in the middle: nothing it answered before is asked again."""

import json
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from tests.support.commands import codeaudit

BATCH = 4
KILLED_AFTER = 14

PROGRAM = """
import json, os, signal, sys
log = open("log", "a")
for number, line in enumerate(sys.stdin):
    row = json.loads(line)
    log.write(json.dumps(row["source"]) + "\\n")
    log.flush()
    if number == int(sys.argv[1]) and not os.path.exists("healed"):
        print("out of memory", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"id": row["id"], "answer": "get_value"}), flush=True)
"""


@pytest.mark.slow
def test_a_program_that_is_killed_loses_one_batch_at_most(tmp_path: Path, sources: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    words = ["run", "--corpus", str(sources), "--out", "out", "--workers", "1", "--batch-size", str(BATCH)]
    words += ["--model", f"exec/{sys.executable} program.py {KILLED_AFTER}"]
    log = tmp_path / "log"

    broken = codeaudit(*words, cwd=tmp_path)
    assert broken.returncode == 3
    assert broken.stdout == ""
    *_, hint, last = broken.stderr.splitlines()
    again = shlex.split(hint.partition("every answer so far is kept; go on with: codeaudit ")[2])
    assert again[:7] == ["run", "--config", "out", "--out", "out", *words[-2:]]
    assert "was killed by SIGKILL before it had answered; 2 of the 16 queries so far had no answer" in last
    assert last.endswith("; its last words: out of memory")
    before = log.read_text(encoding="utf-8").splitlines()
    assert len(before) == KILLED_AFTER + 1

    (tmp_path / "healed").touch()
    whole = codeaudit(*again, cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert "going on with the run in out" in whole.stderr
    after = log.read_text(encoding="utf-8").splitlines()[len(before) :]
    kept = before[: KILLED_AFTER // BATCH * BATCH]
    rows = list(read_rows(tmp_path / "out" / "suite.parquet"))
    originals = {row["source"] for row in rows}
    texts = originals | {row["perturbed"] for row in rows if row["perturbed"]}
    asked = Counter(kept) + Counter(after)
    # Each original is repeated once. Nothing that was kept is asked anew.
    assert asked == {json.dumps(text): 2 if text in originals else 1 for text in texts}
    (model,) = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["models"]
    assert model["unjudged"] == 0
