"""The Python API: each public function on real input, and the names that are public."""

import doctest
import json
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import codeaudit
from codeaudit import finished_runs
from codeaudit.audit.records import Query
from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main
from codeaudit.transforms.records import Origin
from tests.support.commands import environment

TEXT = """def add_up(values, start):
    total = start
    count = 1
    for value in values:
        total += value
    return total, count"""
API: Any = codeaudit
"""Without types, for calls that a type checker refuses."""
FILE = f"import os\n\n\n{TEXT}\n\n\ndef twice(x):\n    y = x\n    return y + y\n"
PUBLIC = [
    "CannotAudit",
    "CodeauditError",
    "CorpusError",
    "ModelError",
    "NotApplied",
    "Perturbed",
    "Query",
    "Run",
    "RunError",
    "Sample",
    "SourceError",
    "UsageError",
    "__version__",
    "assert_invariant",
    "compare",
    "gate",
    "open_run",
    "perturb",
    "run",
    "transform",
]


# Typed with `list`, as users type their models: mypy checks that the API accepts these types.
def fickle(queries: list[Query]) -> list[str]:
    return ["sum" if "total" in query.source else "other" for query in queries]


class Steady:
    """An object with `predict` and nothing else."""

    def predict(self, queries: list[Query]) -> list[str]:
        return ["sum" for _ in queries]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def found(sources: Path, tmp_path: Path) -> codeaudit.Run:
    return codeaudit.run(
        [fickle, Steady()], corpus=sources, transforms=["rename"], variants=2, out=tmp_path / "out"
    )


def renamed(row: dict[str, str]) -> dict[str, str]:
    return {"code": codeaudit.transform(row["code"], "rename", seed=1)}


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_public_names_are_these_and_all_exist() -> None:
    assert codeaudit.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(codeaudit))
    for name in PUBLIC:
        assert getattr(codeaudit, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = codeaudit.nothing  # type: ignore[attr-defined]


def test_no_module_takes_the_place_of_a_function() -> None:
    """`import codeaudit.run` would replace the function `codeaudit.run`."""
    for name in PUBLIC:
        with pytest.raises(ImportError):
            import_module(f"codeaudit.{name}")
    for name in ("audit", "reports", "transforms"):
        assert import_module(f"codeaudit.{name}").__name__ == f"codeaudit.{name}"


def test_the_import_is_light() -> None:
    program = (
        "import sys, time; began = time.process_time(); import codeaudit; took = time.process_time() - began; "
        "assert took < 0.2, took; codeaudit.CodeauditError; codeaudit.assert_invariant; codeaudit.transform; "
        "dir(codeaudit); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert not tops & {"pandas", "torch", "numpy", "pyarrow", "rich", "click", "scipy", "transformers"}


def test_the_package_is_typed() -> None:
    assert (Path(codeaudit.__file__).parent / "py.typed").is_file()


def test_the_examples_in_the_docstrings_work() -> None:
    from codeaudit import edits

    result = doctest.testmod(edits, extraglobs={"codeaudit": codeaudit}, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
    assert result.attempted >= 2


# ── values and types ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wrap": "x"}, "wrap='x' must be one of canonical, columns, rows"),
        ({"sites": "x"}, "sites='x' must be one of auto, all, one"),
        ({"precision": "x"}, "precision='x' must be one of float32"),
        ({"limit": -1}, "limit=-1 must be a whole number, at least 0"),
        ({"limit": 2.5}, "limit=2.5 must be a whole number"),
        ({"seed": "x"}, "seed='x' must be a whole number"),
        ({"workers": -1}, "workers=-1 must be a whole number, at least 1"),
        ({"attack": "greedy", "budget": 0}, "budget=0 must be a whole number, at least 1"),
        ({"trials": 0}, "trials=0 must be a whole number, at least 1"),
        ({"batch_size": 0}, "batch_size=0 must be a whole number, at least 1"),
        ({"batch_size": -8}, "batch_size=-8 must be"),
        ({"variants": 0}, "variants=0 must be a whole number, at least 1"),
        ({"variants": True}, "variants=True must be a whole number"),
        ({"task": 3}, "task=3 must be a text"),
        ({"transforms": 3}, "transforms=3 must be a name or a list of names"),
        ({"language": "pyton"}, "unknown language 'pyton'; did you mean 'python'"),
        ({"corpus": 3}, "corpus=3 must be a SPEC, a path"),
        ({"corpus": [3]}, "sample 1 is 3; it must be a text, a path or a Sample"),
        ({"models": []}, "models is empty"),
        ({"models": {}}, "models is empty"),
        ({"models": {3: fickle}}, "the name of a model must be a text, not 3"),
        ({"models": {"a": "fake/hash"}}, "has its SPEC as its name"),
    ],
)
def test_run_refuses_values_before_it_starts(options: dict[str, Any], message: str) -> None:
    with pytest.raises(codeaudit.UsageError, match=message) as caught:
        API.run(**{"models": fickle, "corpus": [TEXT], "out": "out", **options})
    assert "\n" not in str(caught.value)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(API.transform, TEXT, "rename", variant=-1), "variant=-1 must be"),
        (partial(API.transform, TEXT, "rename", sites="x"), "sites='x' must be"),
        (partial(API.transform, TEXT, "rename", language="jaba"), "did you mean 'java'"),
        (partial(API.transform, TEXT.encode(), "rename"), "source=b'def.* must be a text"),
        (partial(API.transform, None, "rename"), "source=None must be a text"),
        (partial(API.transform, TEXT, 3), "name=3 must be a text"),
        (partial(API.transform, TEXT, ["rename"]), r"name=\['rename'\] must be a text"),
        (partial(API.perturb, [TEXT], variants=-1), "variants=-1 must be"),
        (partial(API.perturb, [TEXT], workers=0), "workers=0 must be"),
        (partial(API.perturb, [TEXT], language="pyton"), "did you mean 'python'"),
        (partial(API.perturb, 3), "samples 3 must be"),
        (lambda: list(API.perturb([3])), "sample 1 is 3"),
        (partial(API.assert_invariant, Steady(), [TEXT], variants=0), "variants=0 must be"),
        (partial(API.assert_invariant, Steady(), [TEXT], max_violation_rate=5), "must be a number from"),
        (partial(API.assert_invariant, Steady(), [TEXT], language="pyton"), "did you mean 'python'"),
        (partial(API.gate, "out", max_violation_rate=5), "max_violation_rate=5 must be a number from 0"),
        (partial(API.gate, "out", max_violation_rate=-1), "max_violation_rate=-1 must be"),
        (partial(API.gate, "out", max_violation_rate="5%"), "max_violation_rate='5%' must be"),
        (partial(API.gate, "out", "out", margin=-2), "margin=-2 must be a number from 0 to 1"),
        (partial(API.transform, TEXT, "rename,reorder"), "names several transforms; call transform for each"),
        (partial(API.gate, "out", min_sensitivity=5), r"a number from 0 to 1; did you mean 0\.05\?"),
        (partial(API.gate, "out", max_f1_drop=-1), "max_f1_drop=-1 must be a number, at least 0"),
    ],
)
def test_the_other_functions_refuse_values(call: Callable[[], object], message: str) -> None:
    with pytest.raises(codeaudit.UsageError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"batch_size": 2}, {"device": "cpu"}])
def test_a_given_model_brings_no_note_about_options(
    options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    codeaudit.run(fickle, corpus=[TEXT], transforms="rename", out="out", **options)
    assert not caplog.records


def test_the_folder_of_a_run_is_absolute(found: codeaudit.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run = codeaudit.run(fickle, corpus=[TEXT], transforms="rename", out="here")
    again = codeaudit.open_run("here")
    monkeypatch.chdir(found.path)
    assert run.path == again.path
    assert run.path.is_absolute()
    assert len(run.samples()) == len(again.samples()) == 1


# ── transform, perturb ───────────────────────────────────────────────────────────────────────────────────


def test_transform_is_deterministic_and_its_variants_differ() -> None:
    texts = [codeaudit.transform(TEXT, "rename", 7, variant=number) for number in range(3)]
    assert len({TEXT, *texts}) == 4
    assert texts == [codeaudit.transform(TEXT, "rename", 7, variant=number) for number in range(3)]
    scope: dict[str, object] = {}
    exec(texts[0], scope)
    add_up = scope["add_up"]
    assert callable(add_up)
    assert add_up([1, 2], 3) == (6, 1)


def test_perturb_gives_the_variants_of_a_run(sources: Path, tmp_path: Path) -> None:
    codeaudit.run("fake/constant", corpus=sources, transforms="rename", variants=2, seed=5, out="out")
    compared = 0
    for row in read_rows(Path("out/suite.parquet")):
        if row["status"] == "perturbed" and row["kind"] == "preserving":
            sample = codeaudit.Sample(
                id=row["sample"],
                language="python",
                source=row["source"],
                label=None,
                origin=Origin(path="", line=1),
            )
            outcomes = list(codeaudit.perturb([sample], "rename", variants=2, seed=5))
            made = outcomes[row["variant"]]
            assert isinstance(made, codeaudit.Perturbed)
            assert row["perturbed"] == made.source
            compared += 1
    assert compared


def test_transform_rewrites_every_function_of_a_file() -> None:
    assert "total = start" in codeaudit.transform(FILE, "rename"), "the last function is the sample"
    text = codeaudit.transform(FILE, "rename", whole_file=True)
    assert text.startswith("import os\n\n\ndef add_up(")
    assert "total" not in text
    assert "y = x" not in text
    with pytest.raises(codeaudit.NotApplied, match="no local"):
        codeaudit.transform("def f():\n    return 1\n", "rename", whole_file=True)
    with pytest.raises(codeaudit.UsageError, match="no whole files of 'x86'"):
        codeaudit.transform("ret", "rename", language="x86", whole_file=True)


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("def f(:", "rename", "source does not parse"),
        ("def f():\n    return 1", "rename", "no local"),
        (TEXT, "x86-nothing", None),
    ],
)
def test_transform_tells_why_it_cannot(source: str, name: str, reason: str | None) -> None:
    if reason is None:
        with pytest.raises(codeaudit.UsageError, match="unknown transform"):
            codeaudit.transform(source, name)
        return
    with pytest.raises(codeaudit.NotApplied, match=reason) as caught:
        codeaudit.transform(source, name)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.reason, again.transform) == (caught.value.reason, name)
    assert isinstance(caught.value, codeaudit.CodeauditError)


def test_transform_reads_other_languages() -> None:
    assembly = "movq %rax, %rbx\naddq %rcx, %rbx\nimulq %rdx, %rbx"
    assert codeaudit.transform(assembly, "rename", language="x86") != assembly


@pytest.mark.slow
def test_transform_maps_over_a_data_set_in_processes() -> None:
    """As `datasets.map(renamed, num_proc=2)`: the function is pickled and has no state."""
    rows = [{"code": TEXT}, {"code": "def twice(x):\n    y = x\n    return y + y"}]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(renamed, rows) == [renamed(row) for row in rows]


def test_perturb_yields_outcomes_in_order() -> None:
    outcomes = list(codeaudit.perturb([TEXT, "x = 1"], ["rename", "reorder"], variants=2, seed=3))
    assert [(outcome.transform, outcome.variant) for outcome in outcomes] == [
        ("rename", 0), ("rename", 1), ("reorder", 0), ("reorder", 1)
    ] * 2  # fmt: skip
    assert isinstance(outcomes[0], codeaudit.Perturbed)
    assert outcomes[0].sample.source == TEXT
    refused = outcomes[-1]
    assert not isinstance(refused, codeaudit.Perturbed)
    assert refused.reason


def test_perturb_takes_paths_families_and_tasks(sources: Path) -> None:
    for outcome in codeaudit.perturb(sources, "identifiers", variants=1, task="function-name"):
        assert outcome.transform.startswith("rename")
        assert outcome.sample.label
    with pytest.raises(codeaudit.UsageError, match="unknown transform"):
        codeaudit.perturb(sources, "renam")
    with pytest.raises(codeaudit.CorpusError):
        list(codeaudit.perturb(Path("nowhere")))


def test_perturb_is_the_same_with_worker_processes(sources: Path) -> None:
    one, two = (list(codeaudit.perturb(sources, variants=2, workers=number)) for number in (1, 2))
    assert one == two


def test_perturb_feeds_a_data_loader() -> None:
    data = pytest.importorskip("torch.utils.data")

    class Variants(data.IterableDataset):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[str]:
            for outcome in codeaudit.perturb([TEXT], "rename", variants=4):
                if isinstance(outcome, codeaudit.Perturbed):
                    yield outcome.source

    (batch,) = data.DataLoader(Variants(), batch_size=4)
    assert len(set(batch)) == 4


# ── run, open_run ────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_from_a_callable_and_an_object(found: codeaudit.Run) -> None:
    assert [model.model for model in found.summary.models] == ["fickle", "Steady"]
    samples, verdicts, violations = found.samples(), found.verdicts(), found.violations()
    assert len(samples) == found.summary.models[0].samples
    assert set(verdicts["outcome"]) <= {"held", "violated", "unjudged"}
    assert set(violations["model"]) == {"fickle"}
    assert (violations["before"].map(tuple) != violations["after"].map(tuple)).all()
    assert (violations["source"] != violations["perturbed"]).all()
    assert found.summary.models[0].pairs.count == len(violations)


def test_a_run_is_opened_again_and_shown(found: codeaudit.Run, tmp_path: Path) -> None:
    again = codeaudit.open_run(tmp_path / "out")
    assert again == found
    assert again.summary == found.summary
    text = again.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    assert text.startswith("<!doctype html>")
    assert "fickle" in again._repr_html_()
    with pytest.raises(codeaudit.RunError, match="no run"):
        codeaudit.open_run(tmp_path / "nowhere")


@pytest.mark.slow
def test_a_graph_of_another_analysis_is_not_drawn(
    found: codeaudit.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report shows what the run saw."""
    with monkeypatch.context() as changed:
        changed.setattr(finished_runs, "analysis_digest", lambda: "another")
        other = found.to_html()
    assert finished_runs.NOT_DRAWN in other
    same = found.to_html()
    assert finished_runs.NOT_DRAWN not in same
    assert len(same) > len(other)


def test_models_have_the_names_of_a_mapping_and_samples_come_from_a_list() -> None:
    run = codeaudit.run({"a": fickle, "b": fickle}, corpus=[TEXT], transforms="rename", out="out")
    assert [model.model for model in run.summary.models] == ["a", "b"]
    assert run.summary.corpus == "samples given in Python"
    assert list(run.samples()["label"]) == [["add", "up"]]
    with pytest.raises(codeaudit.UsageError, match="two models are called 'fickle'"):
        codeaudit.run([fickle, fickle], corpus=[TEXT])
    with pytest.raises(codeaudit.UsageError, match="is no model"):
        codeaudit.run(3, corpus=[TEXT])  # type: ignore[arg-type]


def test_a_run_without_any_verdict_is_an_error() -> None:
    with pytest.raises(codeaudit.CannotAudit, match="nothing could be judged"):
        codeaudit.run(fickle, corpus=["def f():\n    return 1"], transforms="rename", out="out")


@pytest.mark.slow
def test_the_command_writes_the_same_folder(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--variants", "2", "--trials", "2"]
    assert main(["run", *words, "--attack", "random", "--workers", "1", "--out", "command"]) == 0
    codeaudit.run("fake/hash", corpus=sources, variants=2, trials=2, attack=["random"], out="function")
    for name in ("summary.json", "suite.parquet", "verdicts.parquet", "attacks.parquet"):
        one, two = Path("command", name), Path("function", name)
        assert one.read_bytes() == two.read_bytes(), name
    one, two = (json.loads(Path(place, "manifest.json").read_text()) for place in ("command", "function"))
    changing = {"codeaudit", "started", "finished", "command", "options", "digest"}
    assert {key: one[key] for key in one.keys() - changing} == {
        key: two[key] for key in two.keys() - changing
    }
    options = {"out", "workers", "cache"}
    assert {**one["options"], **dict.fromkeys(options)} == {**two["options"], **dict.fromkeys(options)}


# ── gate ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_gate_on_one_run_and_on_two(found: codeaudit.Run, sources: Path) -> None:
    failed = codeaudit.gate(found, max_violation_rate=0.0)
    assert (failed.passed, failed.exit_code) == (False, 1)
    assert [check.name for check in failed.checks if check.outcome == "failed"] == ["violations"]
    passed = codeaudit.gate(found, max_violation_rate=1.0, transforms="rename", allow_insensitive=True)
    assert (passed.passed, passed.exit_code) == (True, 0)
    unasked = codeaudit.gate(found, max_violation_rate=1.0, transforms="rename")
    assert (unasked.passed, unasked.exit_code) == (False, 3)
    assert {check.found for check in unasked.of("unknown")} == {"15 judged controls, fewer than 20"}
    with pytest.raises(codeaudit.UsageError, match="allow_insensitive='no' must be True or False"):
        codeaudit.gate(found, max_violation_rate=1.0, allow_insensitive="no")  # type: ignore[arg-type]
    unknown = codeaudit.gate(found, found.path)
    assert unknown.exit_code == 3, "four samples show no rise"
    with pytest.raises(codeaudit.UsageError, match="nothing to hold the run to: give baseline, max_viol"):
        codeaudit.gate(found)


def test_assert_invariant_is_the_one_of_testing() -> None:
    from codeaudit import testing

    assert codeaudit.assert_invariant is testing.assert_invariant
    codeaudit.assert_invariant(Steady(), [TEXT], transforms="rename")
    with pytest.raises(AssertionError, match="fickle changed its answer"):
        codeaudit.assert_invariant(partial(fickle).func, [TEXT], transforms="rename")


def test_a_text_of_another_language_is_named() -> None:
    with pytest.raises(codeaudit.NotApplied, match="source does not parse; as java it does: language='java'"):
        codeaudit.transform("int f(int a) { int b = a; return b + a; }", "rename")
    with pytest.raises(codeaudit.NotApplied, match=r"source does not parse$"):
        codeaudit.transform("def f(:", "rename")


def test_the_path_of_a_file_is_no_text_of_a_function(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("def f(a):\n    b = a\n    return b\n", "utf-8")
    message = "sample 1 is a text; for the file of that name write Path"
    with pytest.raises(codeaudit.UsageError, match=message):
        codeaudit.assert_invariant("fake/constant", [str(path)], transforms=["rename"])
    with pytest.raises(codeaudit.UsageError, match=message):
        list(codeaudit.perturb(str(path), "rename"))


@pytest.mark.parametrize(
    ("source", "name", "told"),
    [
        ("x = 1\n", "rename", "the text is not one function; only the last function of a text is rewritten"),
        ("# only\n", "rename", "the text is not one function"),
        ("", "rename", "the text is not one function"),
        ("def f(:\n", "rename", "source does not parse"),
        (
            "def one(x):\n    y = x\n    return y\n\ndef two():\n    pass\n",
            "rename",
            "no local to rename; only the last function of a text is rewritten: for a whole file write whole_file",
        ),
    ],
)
def test_what_a_text_lacks_is_told(source: str, name: str, told: str) -> None:
    with pytest.raises(codeaudit.NotApplied) as raised:
        codeaudit.transform(source, name)
    assert told in str(raised.value)


def test_a_family_is_no_transform_of_one_text() -> None:
    with pytest.raises(codeaudit.UsageError, match="'layout' is a family; name one of its transforms"):
        codeaudit.transform("def f(a):\n    b = a\n    return b\n", "layout")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (partial(API.run, fickle, transform="rename"), "codeaudit.run takes no argument 'transform'; did you mean 'transforms'?"),
        (partial(API.run, model=fickle), "takes no argument 'model'; did you mean 'models'?"),
        (partial(API.run, fickle, samples=[TEXT]), "takes no argument 'samples'; did you mean 'corpus'?"),
        (partial(API.transform, TEXT, transform="rename"), "codeaudit.transform takes no argument 'transform'; did you mean 'name'?"),
        (partial(API.transform, TEXT, transforms="rename"), "takes no argument 'transforms'; did you mean 'name'?"),
        (partial(API.perturb, [TEXT], transform="rename"), "takes no argument 'transform'; did you mean 'transforms'?"),
        (partial(API.gate, "out", transform="rename"), "takes no argument 'transform'; did you mean 'transforms'?"),
        (partial(API.gate, "out", max_violation=1), "did you mean 'max_violation_rate'?"),
        (partial(API.assert_invariant, Steady(), [TEXT], transform="rename"), "did you mean 'transforms'?"),
        (partial(API.compare), "nothing to compare"),
    ],
)  # fmt: skip
def test_an_argument_by_another_name_is_told(call: Callable[[], object], told: str) -> None:
    with pytest.raises(codeaudit.UsageError) as caught:
        call()
    assert told in str(caught.value)


def test_runs_are_compared_as_on_the_command_line(
    found: codeaudit.Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(found.path), "--format", "json"]) == 0
    assert json.loads(codeaudit.compare(found).to_json()) == json.loads(capsys.readouterr().out)
    assert codeaudit.compare(str(found.path)) == codeaudit.compare(found.path)


def test_a_data_frame_is_a_corpus() -> None:
    rows = [{"func": codeaudit.transform(TEXT, "rename", seed=n), "target": f"name_{n}"} for n in range(3)]
    frame = pd.DataFrame([*rows, {"func": None, "target": None}])
    for number, corpus in enumerate((frame, rows)):
        run = API.run(
            fickle,
            corpus=corpus,
            columns="source=func,label=target",
            transforms="rename",
            out=f"frame{number}",
        )
        assert run.summary.models[0].samples == 3
        assert run.manifest["corpus"]["available"] == (4, 3)[number]
    with pytest.raises(
        codeaudit.CorpusError, match=r"has no column of code.*--columns source=func,label=target"
    ):
        codeaudit.run(fickle, corpus=frame, out="none")
