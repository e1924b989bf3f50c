"""Programs as models: whatever one may do wrong has an error that says so, and nothing is left running."""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codeaudit.audit.interface import Model
from codeaudit.audit.models import catalogue, program
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.permission import permit
from tests.support.commands import ROOT
from tests.support.waiting import until

HEAD = """
import json, os, signal, subprocess, sys, time
out = sys.stdout.buffer
def rows():
    for line in sys.stdin:
        yield json.loads(line)
def say(identity, answer="x", end="\\n"):
    out.write((json.dumps({"id": identity, "answer": answer}) + end).encode())
    out.flush()
"""

Loader = Callable[..., Model]


def loaded(spec: str, **given: str) -> Model:
    """A model whose program somebody typed."""
    permit(spec)
    return catalogue.load(spec, Settings(), given)


def queries(count: int, prefix: str = "source") -> list[Query]:
    return [Query(task="t", language="python", source=f"{prefix} {number}") for number in range(count)]


@pytest.fixture
def made(tmp_path: Path) -> Loader:
    """Makes a model of the body of a program."""

    def make(body: str, **given: str) -> Model:
        path = tmp_path / "program.py"
        path.write_text(HEAD + body, encoding="utf-8")
        return loaded(f"exec/{sys.executable} {path}", **given)

    return make


def assert_ends(pid: int) -> None:
    """A process is soon gone, or only waits to be collected."""

    def ended() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    until(ended, seconds=10)


# ── what is right ────────────────────────────────────────────────────────────────────────────────────────


def test_answers_may_come_in_any_order(made: Loader) -> None:
    model = made(
        """
batch = []
for row in rows():
    batch.append(row)
    if len(batch) == 3:
        for one in reversed(batch):
            say(one["id"], one["source"])
        batch = []
"""
    )
    for prefix in ("a", "b"):
        predictions = model.predict(queries(3, prefix))
        assert predictions == [Predicted(answer=f"{prefix} {number}") for number in range(3)]


def test_the_fields_of_a_line(made: Loader) -> None:
    model = made('for row in rows(): say(row.pop("id"), json.dumps(row, sort_keys=True))')
    (prediction,) = model.predict([Query(task="t", language="java", source='"ä\n\ud800')])
    assert isinstance(prediction, Predicted)
    assert json.loads(str(prediction.answer)) == {"task": "t", "language": "java", "source": '"ä\n\ud800'}


def test_a_program_need_not_flush_if_it_is_python(made: Loader) -> None:
    model = made('for row in rows(): print(json.dumps({"id": row["id"], "answer": "x"}))', timeout="20")
    assert model.predict(queries(2)) == [Predicted(answer="x")] * 2


@pytest.mark.slow
def test_slow_and_steady_is_not_hung(made: Loader) -> None:
    model = made('for row in rows(): time.sleep(0.4); say(row["id"])', timeout="1")
    began = time.monotonic()
    assert model.predict(queries(4)) == [Predicted(answer="x")] * 4
    assert time.monotonic() - began > 1


def test_long_lines_and_empty_ones(made: Loader) -> None:
    model = made('for row in rows(): say(row["id"], "y" * 3_000_000); out.write(b"\\n \\n")')
    predictions = model.predict(queries(2))
    assert [len(str(said.answer)) for said in predictions if isinstance(said, Predicted)] == [3_000_000] * 2


def test_the_last_line_needs_no_newline(made: Loader) -> None:
    assert made('say(next(rows())["id"], end="")').predict(queries(1)) == [Predicted(answer="x")]


def test_a_line_without_an_answer_fails_alone(made: Loader) -> None:
    model = made('for row in rows(): print(json.dumps({"id": row["id"]}), flush=True)')
    assert model.predict(queries(1)) == [Failed(reason="no readable answer")]


def test_what_it_says_on_stderr_is_passed_on(made: Loader, capsys: pytest.CaptureFixture[str]) -> None:
    model = made('for row in rows(): print("loading ä", file=sys.stderr); say(row["id"])')
    model.predict(queries(1))
    printed: list[str] = []

    def whole() -> bool:
        printed.append(capsys.readouterr().err)
        return "".join(printed).endswith("\n")

    until(whole, seconds=10)
    assert "".join(printed) == "loading ä\n"


# ── what is wrong ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            'say(next(rows())["id"]); sys.exit(4)',
            "ended with status 4 before it had answered; 2 of the 3 queries so far",
        ),
        ("sys.exit(0)", "ended with status 0 before it had answered; 3 of the 3 queries so far"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL before it had answered"),
        (
            'print("first", file=sys.stderr); raise ValueError("no weights\\nhere")',
            "ended with status 1 .*; its last words: .*ValueError: no weights | here$",
        ),
        (
            'out.write(b"{\\"id\\": \\"0\\", \\"ans"); out.flush()',
            "ended with status 0 in the middle of a line",
        ),
        ("os.close(1); time.sleep(60)", "closed its output before it had answered"),
        (
            'out.write(b"Loading model...\\n"); out.flush(); time.sleep(60)',
            "wrote 'Loading model...' to stdout: each line",
        ),
        ('out.write(b"[1]\\n"); out.flush(); time.sleep(60)', r"wrote '\[1\]' to stdout: each line"),
        ('out.write(b"{}\\n"); out.flush(); time.sleep(60)', "wrote '{}' to stdout: each line"),
        (
            'out.write(b"[" * 100000 + b"\\n"); out.flush(); time.sleep(60)',
            r"wrote '\[\[\[.*' to stdout: each line",
        ),
        (
            'out.write(b"caf\\xe9\\n"); out.flush(); time.sleep(60)',
            r"wrote 'caf\\\\xe9' to stdout, which is not UTF-8",
        ),
        ('say("7"); time.sleep(60)', "answered the id '7', which it was not asked"),
        ('say("-1"); time.sleep(60)', "answered the id '-1', which it was not asked"),
        ('say("00"); time.sleep(60)', "answered the id '00', which it was not asked"),
        ("say(None); time.sleep(60)", "answered the id 'None', which it was not asked"),
        ("say('9' * 9000); time.sleep(60)", "answered the id '9{60}', which it was not asked"),
        ('say("0"); say("0", "y"); time.sleep(60)', "answered the id '0' twice"),
        ("while True: out.write(b'x' * 99999)", "wrote a line of more than 1 MiB"),
        ("while True: out.write(b'x\\n' * 99999)", "wrote 'x' to stdout: each line"),
    ],
)
@pytest.mark.thinned(2)
def test_what_a_program_does_wrong_is_said(
    made: Loader, body: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "LONGEST_LINE", 1 << 20)
    began = time.monotonic()
    with pytest.raises(ModelError, match=message) as raised:
        made(body).predict(queries(3))
    assert "\n" not in str(raised.value)
    assert time.monotonic() - began < 20


def test_an_answer_to_an_earlier_batch_is_one_too_many(made: Loader) -> None:
    model = made('for row in rows(): say(row["id"]); row["id"] == "0" and say("0")')
    assert model.predict(queries(1)) == [Predicted(answer="x")]
    with pytest.raises(ModelError, match="answered the id '0' twice; 1 of the 2 queries so far"):
        model.predict(queries(1))


def test_a_program_that_hangs_is_given_up_and_ended(made: Loader, tmp_path: Path) -> None:
    model = made(
        f'open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid())); time.sleep(60)', timeout="0.5"
    )
    with pytest.raises(ModelError, match=r"gave no answer within 0\.5 s \(does it flush each line\?"):
        model.predict(queries(1))
    assert_ends(int((tmp_path / "pid").read_text()))


CHILD = 'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]); '


def test_a_child_that_outlives_its_program_does_not_hold_us_up(made: Loader, tmp_path: Path) -> None:
    model = made(CHILD + f'open({str(tmp_path / "pid")!r}, "w").write(str(child.pid)); sys.exit(3)')
    began = time.monotonic()
    with pytest.raises(ModelError, match="ended with status 3 before it had answered"):
        model.predict(queries(1))
    assert time.monotonic() - began < 10
    assert_ends(int((tmp_path / "pid").read_text()))


def test_children_end_with_their_program(made: Loader, tmp_path: Path) -> None:
    model = made(
        CHILD
        + f'open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))\nfor row in rows(): say(row["id"])'
    )
    assert model.predict(queries(1)) == [Predicted(answer="x")]
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, 0)
    del model
    assert_ends(pid)


def test_a_program_that_failed_is_started_anew(made: Loader, tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    model = made(
        f"if not os.path.exists({mark!r}): open({mark!r}, 'w'); sys.exit(1)\nfor row in rows(): say(row['id'])"
    )
    with pytest.raises(ModelError, match="ended with status 1"):
        model.predict(queries(2))
    assert model.predict(queries(2)) == [Predicted(answer="x")] * 2


@pytest.mark.parametrize("timeout", ["0", "-1", "nan"])
def test_a_timeout_is_positive(made: Loader, timeout: str) -> None:
    with pytest.raises(UsageError, match="must be positive"):
        made("", timeout=timeout)


def test_the_fingerprint_is_that_of_the_script(made: Loader, tmp_path: Path) -> None:
    assert made("a = 1").fingerprint == made("a = 1").fingerprint != made("a = 2").fingerprint
    script = tmp_path / "model.sh"
    fingerprints = []
    for text in ("#!/bin/sh\n", "#!/bin/sh\n:\n"):
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
        fingerprints.append(loaded(f"exec/{script}").fingerprint)
    assert fingerprints[0] != fingerprints[1]
    assert all(fingerprint.startswith("volatile:") for fingerprint in fingerprints)


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────

HEADING = "## The protocol of `exec/`"

SHELL = r"""#!/bin/sh
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed 's/^{"id": "\([0-9]*\)".*/\1/')
  loops=$(printf '%s' "$line" | grep -o 'for ' | wc -l)
  printf '{"id": "%s", "answer": "loops_%d"}\n' "$id" "$loops"
done
"""

PYTHON = """import json, sys

for line in sys.stdin:
    query = json.loads(line)
    words = query["source"].split()
    answer = {"id": query["id"], "answer": f"words_{len(words)}", "score": 0.9}
    print(json.dumps(answer), flush=True)
"""

SOURCES = ["def f(a):\n    for b in a: pass\n", 'def g():\n    return "ä"\n', "x"]


@pytest.mark.parametrize(
    ("text", "command", "answers"),
    [
        (SHELL, "sh", ["loops_1", "loops_0", "loops_0"]),
        (PYTHON, sys.executable, ["words_7", "words_4", "words_1"]),
    ],
)
def test_the_examples_of_the_protocol_run(
    text: str, command: str, answers: list[str], tmp_path: Path
) -> None:
    assert len(text.splitlines()) <= 10
    path = tmp_path / "model"
    path.write_text(text, encoding="utf-8")
    model = loaded(f"exec/{command} {path}")
    predictions = model.predict(
        [Query(task="function-name", language="python", source=text) for text in SOURCES]
    )
    assert [said.answer for said in predictions if isinstance(said, Predicted)] == answers


def test_the_page_of_models_shows_these_examples() -> None:
    _, _, page = (ROOT / "audit/models/README.md").read_text(encoding="utf-8").partition(HEADING)
    assert re.findall(r"```(?:sh|python)\n(.*?)```", page, re.DOTALL)[:2] == [SHELL, PYTHON]


SECRETS = {
    "OPENAI_API_KEY": "x",
    "ANTHROPIC_APIKEY": "x",
    "HF_TOKEN": "x",
    "HUGGING_FACE_HUB_TOKEN": "x",
    "GITHUB_TOKEN": "x",
    "GH_PAT": "x",
    "CLIENT_SECRET": "x",
    "SECRET_KEY_BASE": "x",
    "AWS_PROFILE": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "DB_PASSWORD": "x",
    "PGPASSWORD": "x",
    "NPM_CONFIG__AUTH": "x",
    "GOOGLE_APPLICATION_CREDENTIALS": "x",
    "ssh_private_key": "x",
    "DATABASE_URL": "postgres://me:mine@host/x",
    "NOTHING": "sk-FAKEfakeFAKEfake0123456789",
    "CERTIFICATE": "-----BEGIN PRIVATE KEY-----",
}
PLAIN = {
    "PWD": "/home",
    "KEYBOARD": "x",
    "TOKENIZERS_PARALLELISM": "false",
    "COMPASS": "x",
    "PATH": "/bin",
    "LANG": "C",
    "AUTHOR": "me",
    "HTTPS_PROXY": "http://host:3128",
    "CUDA_VISIBLE_DEVICES": "0",
    "MONKEY": "x",
    "PYTHONPATH": "/x",
}


def test_what_looks_like_a_secret_is_withheld() -> None:
    given, withheld = program.open_environment({**SECRETS, **PLAIN}, allowed=["HF_TOKEN"])
    assert given == {**PLAIN, "HF_TOKEN": "x"}
    assert set(withheld) == SECRETS.keys() - {"HF_TOKEN"}


def test_a_program_gets_no_key_unless_it_is_asked_for(made: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ORDINARY", "x")
    body = "for row in rows():\n    say(row['id'], ' '.join(sorted(os.environ)))"
    (prediction,) = made(body).predict(queries(1))
    assert isinstance(prediction, Predicted)
    assert not SECRETS.keys() & set(str(prediction.answer).split())
    assert "ORDINARY" in str(prediction.answer)
    (prediction,) = made(body, env="HF_TOKEN, GH_PAT").predict(queries(1))
    assert isinstance(prediction, Predicted)
    assert SECRETS.keys() & set(str(prediction.answer).split()) == {"HF_TOKEN", "GH_PAT"}


def test_a_program_that_misses_its_key_is_told_of_it(made: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-value")
    with pytest.raises(ModelError, match=r"it got no keys .*-M env=NAME") as caught:
        made("os.environ['OPENAI_API_KEY']").predict(queries(1))
    assert "secret-value" not in str(caught.value)


def test_a_variable_that_is_not_set_is_told(made: Loader) -> None:
    with pytest.raises(UsageError, match="no variable 'NOT_SET'"):
        made("", env="NOT_SET")
