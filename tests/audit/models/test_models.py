"""The adapters: fakes, callables, programs, the canonical wrapper, and the catalogue that finds them."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from codeaudit.audit import checkpoints
from codeaudit.audit.interface import FreeText, Model
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.models.wrappers import Canonical
from codeaudit.audit.prompts import VERSION, QuestionPrompt
from codeaudit.audit.records import Failed, Predicted, Query, Repeat
from codeaudit.audit.registry import TASKS, answer_kind
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.permission import permit
from tests.support.models import Recorder, echo

CALLABLES = """
def names(queries):
    return [query.source[:3] for query in queries]

def told(queries):
    return [{"answer": "a", "scores": {"b": 1, "a": 2.5}} for query in queries]

def short(queries):
    return []

def picky(queries):
    for query in queries: 1 / (len(query.source) - 3)
    return ["fine" for query in queries]

def lazy(queries):
    print("thinking")
    return (query.source for query in queries)

def array(queries):
    import numpy
    return numpy.arange(len(queries))

def mapping(queries):
    return {query.source: "x" for query in queries}

def leaving(queries):
    raise SystemExit(3)

class Holder:
    @staticmethod
    def inner(queries):
        return [("b", "a") for query in queries]

number = 3

def single(queries):
    [query] = queries
    return ["fine"]
"""

PROGRAM = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if row["source"] == "die":
        sys.exit(4)
    if row["source"] == "garbage":
        print("Loading model...", flush=True)
        continue
    if row["source"] == "fail":
        print(json.dumps({"id": row["id"], "error": "too long: 512"}), flush=True)
        continue
    print(json.dumps({"id": row["id"], "answer": row["source"].upper() + row["task"]}), flush=True)
"""


def query(source: str) -> Query:
    return Query(task="t", language="python", source=source)


def name_query(source: str) -> Query:
    return Query(task="function-name", language="python", source=source)


def load(spec: str, **given: str) -> Model:
    """A model that somebody typed."""
    permit(spec)
    return catalogue.load(spec, Settings(), given)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    path = tmp_path / "my_models.py"
    path.write_text(CALLABLES, encoding="utf-8")
    return path


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return f"exec/{sys.executable} {path}"


def test_fakes_do_what_they_are_named_for() -> None:
    sources = [query("a"), query("b\nc"), query("d\ne")]
    assert len(set(load("fake/constant").predict(sources))) == 1
    assert len(set(load("fake/hash").predict(sources))) == 3
    assert len(set(load("fake/length").predict(sources))) == 2
    assert load("fake/hash").fingerprint != load("fake/constant").fingerprint


@pytest.mark.parametrize("name", ["chatty", "noisy", "reasoning"])
def test_fakes_that_rehearse_keep_their_answer_under_renaming_and_reordering(name: str) -> None:
    before = [
        name_query(f"def MASK(a):\n    b = 1 + {n}\n    c = 2 * {n}\n    return a.b, b - c\n")
        for n in range(60)
    ]
    after = [
        name_query(f"def MASK(a):\n    y = 2 * {n}\n    x = 1 + {n}\n    return a.b, x - y\n")
        for n in range(60)
    ]
    pairs = list(zip(load(f"fake/{name}").predict(before), load(f"fake/{name}").predict(after), strict=True))
    judged = [
        (one, other) for one, other in pairs if isinstance(one, Predicted) and isinstance(other, Predicted)
    ]
    assert len(judged) >= (60 if name != "reasoning" else 45)
    changed = sum(one.answer != other.answer for one, other in judged)
    assert (changed > 0) == (name == "noisy")
    assert changed < 20
    # One variable takes the place of the other, which changes the meaning and no operator.
    merged = [replace(question, source=question.source.replace("b - c", "b - b")) for question in before]
    seen = [(one, other) for one, other in zip(load(f"fake/{name}").predict(before),
            load(f"fake/{name}").predict(merged), strict=True)
            if isinstance(one, Predicted) and isinstance(other, Predicted)]  # fmt: skip
    assert all(one.answer != other.answer for one, other in seen)


@pytest.mark.parametrize(
    "task", [name for name, prompt in built_in().items() if isinstance(prompt, QuestionPrompt)]
)
def test_what_a_talkative_fake_says_is_read(task: str) -> None:
    """The prose around an answer never hides it, and the answer is that of the fake that does not talk."""
    labels = ("first", "second") if task == "classification" else ()
    asked = [
        Query(task=task, language="python", source=f"def f(a):\n    return a{'+' * n}{n}\n", labels=labels)
        for n in range(40)
    ]
    if task == "code-search":
        texts = [question.source for question in asked]
        asked = [replace(asked[n], source="", candidates=tuple(texts[n : n + 20])) for n in range(20)]
    predictions = load("fake/chatty").predict(asked)
    assert all(isinstance(prediction, Predicted) for prediction in predictions), predictions
    plain = load("fake/noisy", p="0").predict(asked)
    same = [one.answer == other.answer for one, other in zip(predictions, plain, strict=True)]
    assert all(same) or task == "function-name"
    if task == "code-search":
        first = {
            said.answer[0] for said in plain if isinstance(said, Predicted) and isinstance(said.answer, tuple)
        }
        assert len(first) > 5, "the answers vary over the candidates"
        renamed = [
            replace(
                question, candidates=(*question.candidates[:-1], question.candidates[-1].replace("a", "b"))
            )
            for question in asked
        ]
        assert load("fake/noisy", p="0").predict(renamed) == plain


@pytest.mark.parametrize("task", [name for name in TASKS if isinstance(answer_kind(name), FreeText)])
@pytest.mark.parametrize("name", ["chatty", "reasoning"])
def test_what_a_fake_says_around_a_text_changes_with_no_edit(name: str, task: str) -> None:
    texts = [
        f"def f({variable}):\n    return {variable} + 1\n"
        for variable in ("a", "b", "index", "value", "x", "y", "z")
    ]
    asked = [Query(task=task, language="python", source=text) for text in texts]
    answers = {said.answer for said in load(f"fake/{name}").predict(asked) if isinstance(said, Predicted)}
    assert len(answers) <= 1


def test_noise_is_drawn_anew_when_a_query_is_repeated() -> None:
    first = name_query("def MASK(a):\n    return a + 1\n")
    repeats = [
        Repeat(task=first.task, language=first.language, source=first.source, bucket=n, number=0)
        for n in range(400)
    ]
    model = load("fake/noisy", p="0.25")
    other = sum(said.answer != model.predict([first])[0].answer for said in model.predict(repeats))
    assert 60 < other < 140 or other > 300  # the first answer may be the odd one
    assert model.predict(repeats) == model.predict(repeats)
    with pytest.raises(UsageError, match="from 0 to 1"):
        load("fake/noisy", p="2")


def test_a_callable_of_the_working_directory_answers(module: Path) -> None:
    model = load("py/my_models:names")
    assert model.predict([query("abcd"), query("efgh")]) == [Predicted(answer="abc"), Predicted(answer="efg")]
    assert load("py/my_models:Holder.inner").predict([query("x")]) == [Predicted(answer=("b", "a"))]
    assert load("py/my_models:told").predict([query("x")]) == [
        Predicted(answer="a", scores=(("a", 2.5), ("b", 1.0)))
    ]


def test_a_callable_that_raises_fails_the_bad_query_alone(module: Path) -> None:
    predictions = load("py/my_models:picky").predict([query("ab"), query("abc"), query("abcd")])
    assert predictions == [
        Predicted(answer="fine"),
        Failed(reason="callable raised ZeroDivisionError: division by zero (my_models.py:12, in picky)"),
        Predicted(answer="fine"),
    ]


def test_a_callable_that_answers_single_queries_only_is_told_once(
    module: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = load("py/my_models:single")
    for _ in range(2):
        assert model.predict([query("a"), query("b")]) == [Predicted(answer="fine")] * 2
    (record,) = caplog.records
    message = "a list of 2 queries raised ValueError: too many values to unpack (expected 1) (my_models.py:"
    assert message in record.getMessage()
    assert "one by one, which is slower" in record.getMessage()


def test_a_callable_must_give_one_answer_per_query(module: Path) -> None:
    with pytest.raises(ModelError, match="must give a list of 1 answer; it gave 0 answers"):
        load("py/my_models:short").predict([query("x")])


def test_a_callable_may_give_what_can_be_listed(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [query("a"), query("b")]
    assert load("py/my_models:lazy").predict(asked) == [Predicted(answer="a"), Predicted(answer="b")]
    assert capsys.readouterr() == ("", "thinking\n"), "stdout is for results"
    assert load("py/my_models:array").predict(asked) == [Predicted(answer=0.0), Predicted(answer=1.0)]
    with pytest.raises(ModelError, match="must give a list of 2 answers; it gave dict"):
        load("py/my_models:mapping").predict(asked)


def test_a_callable_without_a_source_file_is_kept_for_one_run(module: Path) -> None:
    assert load("py/math:sqrt").fingerprint.startswith("volatile:py/math:sqrt:")


def test_a_callable_that_leaves_is_no_end_of_the_run(module: Path) -> None:
    assert load("py/my_models:leaving").predict([query("a")]) == [
        Failed(reason="callable raised SystemExit: 3 (my_models.py:27, in leaving)")
    ]
    module.with_name("scripted.py").write_text("import sys; sys.exit()", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot import 'scripted': SystemExit"):
        load("py/scripted:main")


def test_callables_are_remembered_for_one_run_unless_a_version_is_vouched_for(module: Path) -> None:
    before = load("py/my_models:names").fingerprint
    assert before.startswith("volatile:")
    module.write_text(CALLABLES + "\n# edited\n", encoding="utf-8")
    assert load("py/my_models:names").fingerprint != before
    assert load("py/my_models:names", version="3").fingerprint == f"py/my_models:names@3?reading={VERSION}"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("py/my_models", UsageError, "must be py/MODULE:CALLABLE"),
        ("py/my_models:nothing", ModelError, "has no callable 'nothing'"),
        ("py/my_models:number", ModelError, "has no callable 'number'"),
        ("py/no_such_module:f", ModelError, "cannot import 'no_such_module'"),
        ("exec/", UsageError, "has no command"),
        ("exec/no-such-program-here", ModelError, "no program 'no-such-program-here'"),
        ("exec/python 'open", UsageError, "cannot read the command"),
        ("fake/hsh", UsageError, "did you mean 'fake/hash'"),
        ("fakes/hash", UsageError, "did you mean 'fake/hash'"),
        ("./nowhere", ModelError, "no checkpoint at './nowhere'"),
        ("my_models.py", ModelError, "is a file"),
        ("quite something else", UsageError, "unknown model .* known: "),
    ],
)
def test_what_cannot_be_loaded_says_why(
    module: Path, spec: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        load(spec)


def test_arguments_are_typed_by_the_provider(program: str) -> None:
    with pytest.raises(UsageError, match="takes no argument 'speed'; known: env, timeout, version"):
        load(program, speed="3")
    with pytest.raises(UsageError, match="must be a number"):
        load(program, timeout="long")
    assert load(program, version="6e12345").fingerprint.endswith(f"@6e12345?reading={VERSION}")


def test_a_program_answers_line_by_line(program: str) -> None:
    model = load(program)
    assert model.predict([query("a"), query("b")]) == [Predicted(answer="At"), Predicted(answer="Bt")]
    assert model.predict([query("fail"), query("c")]) == [
        Failed(reason="model: too long: 512"),
        Predicted(answer="Ct"),
    ]


def test_a_program_may_be_fed_more_than_its_pipes_hold(program: str) -> None:
    queries = [query("x" * 50_000 + str(number)) for number in range(40)]
    predictions = load(program).predict(queries)
    assert [prediction.answer for prediction in predictions if isinstance(prediction, Predicted)] == [
        question.source.upper() + "t" for question in queries
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [("die", "ended with status 4"), ("garbage", "wrote 'Loading.* to stdout: each line on stdout must be")],
)
def test_a_program_that_breaks_off_is_one_error(program: str, source: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(program).predict([query("a"), query(source), query("b")])


def test_a_program_that_hangs_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "hangs.py"
    path.write_text("import time; time.sleep(60)", encoding="utf-8")
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        load(f"exec/{sys.executable} {path}", timeout="0.2").predict([query("a")])


def test_canonical_code_is_all_that_a_wrapped_model_sees() -> None:
    inner = Recorder(echo)
    model = Canonical(inner)
    one = query("def MASK(a, b):\n    x = a\n    y = b\n    return x, y\n")
    other = query("def MASK(a, b):\n    second = b\n    first = a\n    return first, second\n")
    first, second = model.predict([one, other])
    assert first == second
    assert len(inner.asked) == 1
    assert model.predict([query("def broken(:")]) == [Failed(reason="source does not parse")]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("x86", "movq %rdi, %rbx\nincq %rsi", "incq %r9\nmovq %rcx, %rax"),
        (
            "java",
            "int f(int[] a) { int[] b = a; int n = 1; return n; }",
            "int f(int[] v) { int i = 1; int[] w = v; return i; }",
        ),
        ("algebra", "asked sin a1 + z", "asked sin a0 + y"),
    ],
)
def test_other_languages_have_a_canonical_form_too(language: str, one: str, other: str) -> None:
    inner = Recorder(echo)
    first, second = Canonical(inner).predict(
        [Query(task="t", language=language, source=source) for source in (one, other)]
    )
    assert first == second
    assert len(inner.asked) == 1


def test_a_function_is_canonical_in_the_text_that_stands_around_it() -> None:
    inner = Recorder(echo)
    text = "import math\n\n\ndef f(x):\n    {0} = 1\n    {1} = 2\n    return {0} + {1} + math.pi\n\n\nf(2)\n"
    queries = [
        Query(task="output-prediction", language="python", source=text.format(*names))
        for names in ("ab", "uv")
    ]
    first, second = Canonical(inner).predict(queries)
    assert first == second
    (asked,) = inner.asked
    assert asked.startswith("import math\n\n\ndef f(")
    assert asked.endswith("\n\n\nf(2)\n")
    shadowed = "abs = print\n\n\ndef f(x):\n    y = abs(x)\n    return y\n"
    query = Query(task="function-name", language="python", source=shadowed)
    assert Canonical(inner).predict([query]) == [Failed(reason="a builtin's name means something else here")]


def test_what_has_no_canonical_form_is_not_asked() -> None:
    inner = Recorder(echo)
    broken = Query(task="t", language="x86", source="nosuch %rax")
    foreign = Query(task="t", language="cobol", source="STOP RUN.")
    assert Canonical(inner).predict([broken, foreign]) == [
        Failed(reason="source does not parse"),
        Failed(reason="no canonical form for cobol"),
    ]
    assert inner.asked == []


def test_the_wrapper_is_a_part_of_the_fingerprint() -> None:
    assert Canonical(Recorder(echo)).fingerprint != "recorder"
    assert Canonical(Recorder(echo, fingerprint="volatile:x")).fingerprint.startswith("volatile:canonical")
    assert load("canonical/fake/hash").name == "canonical/fake/hash"
    with pytest.raises(UsageError, match="did you mean"):
        load("canonical/fake/hsh")


class Unshown:
    def __repr__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("x", Predicted(answer="x")),
        (2, Predicted(answer=2.0)),
        (["b", "a"], Predicted(answer=("b", "a"))),
        ({"b", "a"}, Predicted(answer=("a", "b"))),
        ({"answer": "x", "score": 0.5}, Predicted(answer="x", scores=(("x", 0.5),))),
        ({"error": "429\nmore"}, Failed(reason="model: 429")),
        (None, Failed(reason="no readable answer")),
        (True, Predicted(answer="True")),
        (numpy.bool_(False), Predicted(answer="False")),
        (float("nan"), Failed(reason="no readable answer")),
        ([1], Failed(reason="no readable answer")),
        ({"answer": {"answer": 1}}, Failed(reason="no readable answer")),
        ({"answer": "x", "scores": {"x": "high"}}, Failed(reason="no readable answer")),
        ({"answer": "x", "scores": 3}, Failed(reason="no readable answer")),
        (10**400, Failed(reason="no readable answer")),
        pytest.param(10**5000, Failed(reason="no readable answer"), id="5000 digits"),
        ([{"a": ["b" * 999] * 999}] * 999, Failed(reason="no readable answer")),
        (Unshown(), Failed(reason="no readable answer")),
        ({"answer": "x", "score": 10**400}, Failed(reason="no readable answer")),
        ({"answer": "x", "score": float("inf")}, Failed(reason="no readable answer")),
        ({"answer": "x", "scores": {"x": -(10**400)}}, Failed(reason="no readable answer")),
        ({"error": 10**5000}, Failed(reason="model: an error")),
    ],
)
def test_answers_from_outside_are_read_or_refused(raw: object, expected: Predicted | Failed) -> None:
    prediction = read_answer(raw)
    assert prediction == expected
    # A no readable answer is shown to the user, in one line.
    given = prediction.given if isinstance(prediction, Failed) else ""
    assert bool(given) == (expected == Failed(reason="no readable answer"))
    assert len(given) <= 160
    assert given.isprintable()


def test_every_shipped_name_can_be_checked_without_loading() -> None:
    names: Sequence[str] = [
        f"{head}/{name}" for head, provider in catalogue.providers().items() for name in provider.names
    ]
    assert "fake/hash" in names
    for name in names:
        catalogue.check(name)


def test_bundled_checkpoints_are_for_a_task_in_a_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards: dict[str, dict[str, object]] = {
        "old": {"task": "function-name", "languages": ["python"]},
        "new": {"task": "function-name", "languages": ["java"]},
        "both": {"task": "function-name", "languages": ["java", "python"]},
        "large": {"task": "function-name", "languages": ["python"], "by_default": False},
        "blocks": {"task": "throughput"},
    }
    for name, card in cards.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}", encoding="utf-8")
        (tmp_path / name / "model-card.json").write_text(json.dumps(card), encoding="utf-8")
    monkeypatch.setattr(checkpoints, "FOLDER", tmp_path)
    assert catalogue.bundled_for("function-name") == ("both", "new", "old")
    assert catalogue.bundled_for("function-name", "python") == ("both", "old")
    assert catalogue.bundled_for("function-name", "java") == ("both", "new")
    assert catalogue.bundled_for("function-name", "x86") == ()
    assert catalogue.bundled_for("throughput", "x86") == ("blocks",)
    catalogue.check("large")


def test_an_object_with_predict_is_a_model_and_predict_comes_before_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
from codeaudit.audit.records import Predicted

class Net:
    def predict(self, queries):
        return [Predicted(answer="from predict") for query in queries]
    def __call__(self, tensors):
        raise TypeError("tensors only")

class Broken:
    def __init__(self, weights):
        pass
    def predict(self, queries):
        return []

net = Net()
"""
    (tmp_path / "objects_here.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("net", "Net", "net.predict"):
        assert load(f"py/objects_here:{name}").predict([query("x")]) == [Predicted(answer="from predict")]
    with pytest.raises(ModelError, match=r"objects_here:Broken\(\) raised TypeError"):
        load("py/objects_here:Broken")
