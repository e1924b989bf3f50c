"""`codeaudit list`: names for people and for programs."""

import json

import pytest

from codeaudit.audit.registry import TASKS
from codeaudit.cli.main import main
from codeaudit.transforms.registry import ENTRIES, families, languages_of


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["list", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "expected"), [("models", "fake/hash"), ("tasks", "function-name"), ("corpora", "stdlib")]
)
def test_names_alone_or_with_what_they_are(
    kind: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    short = listed(capsys, kind)
    assert expected in short.splitlines()
    assert len(listed(capsys, kind, "--verbose")) > len(short)


def test_transforms_stand_under_their_family(capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys, "transforms").splitlines()
    heads = [line.partition(":")[0] for line in lines if line and not line.startswith(" ")]
    assert heads[0].startswith("identity")
    assert heads[1:] == [family.name for family in families()]
    by_name = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert by_name.keys() == ENTRIES.keys() - {"identity"}
    assert by_name["reorder"].endswith(" [default]")
    assert not by_name["reorder-methods"].endswith(" [default]")


@pytest.mark.slow
def test_an_example_of_each_transform_is_a_diff_of_a_real_rewriting(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = listed(capsys, "transforms", "--verbose")
    assert "  reorder-keywords\n" in printed
    assert (
        """\
      keyword arguments in another order, where the callee is known
      keeps the meaning; its control: arguments-swapped
      rests on: source-unread, positions-unread, builtins-meant, definitions-kept, lookups-exist, looks-quiet, \
attributes-plain, annotations-hold, runs-through, frames-unread, nobody-between
       def ranked(words):
      -    return sorted(words, key=len, reverse=True)
      +    return sorted(words, reverse=True, key=len)
"""
        in printed
    )
    assert "      keeps the meaning, changes what callers see" in printed
    assert "      changes the meaning\n" in printed
    assert "@@" not in printed
    assert listed(capsys, "transforms", "--verbose") == printed


def test_json_is_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    listing = json.loads(listed(capsys, "--format", "json"))
    assert list(listing) == ["models", "tasks", "transforms", "corpora"]
    by_name = {transform["name"]: transform for transform in listing["transforms"]}
    assert by_name["reorder"] == {
        "name": "reorder",
        "summary": ENTRIES["reorder"].summary,
        "family": "order",
        "kind": "preserving",
        "twin": "reorder-breaking",
        "interface": False,
        "assumes": None,
        "rests_on": list(ENTRIES["reorder"].rests_on),
        "languages": list(languages_of("reorder")),
        "default": True,
    }


def test_everything_has_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    printed = listed(capsys)
    for kind in ("models", "tasks", "transforms", "corpora"):
        assert kind in printed.splitlines()


def test_tasks_in_words_say_what_is_asked_read_and_scored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "tasks"]) == 0
    plain = capsys.readouterr().out
    assert main(["list", "tasks", "--verbose"]) == 0
    printed = capsys.readouterr().out
    for name in TASKS.built_in:
        task = TASKS.get(name)
        assert (
            f"{name}: {task.question}\n  an answer: {task.accepted}\n  score: {task.score_name}, " in printed
        )
    assert "corpus without --corpus: stdlib" in printed
    assert "spe-bugs-checkpoint" in printed
    assert len(printed) > 2 * len(plain)
