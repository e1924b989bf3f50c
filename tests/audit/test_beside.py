"""What a query has beside its source: a second unit, candidates, a query in words."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.cache import AnswerCache, ModelMemory, digest_of
from codeaudit.audit.models.program import _question
from codeaudit.audit.prompts import filled
from codeaudit.audit.records import Case, Query
from codeaudit.audit.rows import input_hash, original_hash, read_suite, suite_rows
from codeaudit.audit.run import asked_of, query_of
from codeaudit.audit.store import BESIDE_COLUMNS, SUITE_COLUMNS, LinesWriter, TableWriter, read_rows
from codeaudit.audit.tasks.error_detection import ERROR_DETECTION
from codeaudit.transforms.records import Origin, Perturbed, Sample

PLAIN = Query(task="t", language="python", source="a = 1\n")
PAIR = replace(PLAIN, other="b = 2\n")
RANKED = replace(PLAIN, candidates=("a = 1\n", "b = 2\n"), text="set a")
ABOUT = {"schema": 1, "task": "t", "corpus": "c"}
SAMPLE = Sample(
    id="s",
    language="python",
    source="a = 1\n",
    label="x",
    origin=Origin(path="a.py", line=1),
    other="b = 2\n",
)
CHANGED = Perturbed(
    sample=SAMPLE,
    transform="t",
    kind="preserving",
    variant=0,
    source="c = 1\n",
    moves=(),
    evidence="analysis",
)


def test_a_query_without_them_has_the_key_the_line_and_the_hash_that_it_had(tmp_path: Path) -> None:
    known = digest_of(b"codeaudit-1", ("f", "", "t", "python", "a = 1\n"))
    with closing(AnswerCache(tmp_path / "c.sqlite")) as cache:
        memory = ModelMemory(cache=cache, fingerprint="f", run="r")
        assert memory._key(PLAIN, again=False) == known
        assert len({memory._key(query, again=False) for query in (PLAIN, PAIR, RANKED)}) == 3
    assert json.loads(_question(0, PLAIN)) == {
        "id": "0",
        "task": "t",
        "language": "python",
        "source": "a = 1\n",
    }
    assert json.loads(_question(0, PAIR))["other"] == "b = 2\n"
    assert input_hash("python", "a = 1\n") == "ffcd2546ec33815e"
    assert input_hash("python", "a = 1\n", other="b = 2\n") != input_hash("python", "a = 1\n")


def test_templates_have_places_for_them() -> None:
    assert filled("{source}{other}{candidates}{text}", PLAIN) == "a = 1\n{other}{candidates}{text}"
    assert filled("{other}", PAIR) == "```python\nb = 2\n```"
    text = filled("{text}:\n{candidates}", RANKED)
    assert text == "set a:\n1.\n```python\na = 1\n```\n\n2.\n```python\nb = 2\n```"


def test_a_query_shows_the_units_in_the_order_of_the_sample() -> None:
    asked = asked_of(SAMPLE, CHANGED, ERROR_DETECTION)
    assert (asked.source, asked.other) == ("c = 1\n", "b = 2\n")
    both = asked_of(SAMPLE, replace(CHANGED, other="d = 2\n"), ERROR_DETECTION)
    assert (both.source, both.other) == ("c = 1\n", "d = 2\n")
    second = asked_of(replace(SAMPLE, sides="second"), CHANGED, ERROR_DETECTION)
    assert (second.source, second.other) == ("b = 2\n", "c = 1\n")
    ranked = replace(SAMPLE, other="", candidates=("z = 0\n", "a = 1\n"), text="set a")
    assert query_of(ranked, "c = 1\n", ERROR_DETECTION).beside == {
        "candidates": ("z = 0\n", "c = 1\n"),
        "text": "set a",
    }


@pytest.mark.parametrize("name", ["suite.parquet", "suite.jsonl"])
def test_a_suite_of_pairs_reads_back(tmp_path: Path, name: str) -> None:
    full = replace(SAMPLE, sides="both", candidates=("a = 1\n", "z"), text="words")
    written = Case(sample=full, outcomes=(replace(CHANGED, sample=full, other="d = 2\n", candidates=("y",)),))
    path = tmp_path / name
    columns = {**SUITE_COLUMNS, **BESIDE_COLUMNS}
    with (LinesWriter if name.endswith("jsonl") else TableWriter)(path, columns, ABOUT) as table:
        table.write(suite_rows(0, written))
    assert list(read_suite(path, seed=0)) == [written]
    query = query_of(full, full.source, ERROR_DETECTION)
    (row,) = read_rows(path)
    assert original_hash(row) == input_hash("python", query.source, **query.beside)
