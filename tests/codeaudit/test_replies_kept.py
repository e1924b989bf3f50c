"""What models of texts wrote is kept in `answers.parquet`: in whole runs, resumed ones, and shards."""

import json
import re
import signal
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import codeaudit
from codeaudit.audit.records import LONGEST_REPLY, NOT_REPEATED
from codeaudit.cli.main import main
from codeaudit.merging import merge
from tests.support.commands import start
from tests.support.endpoints import Act, Asked, says, serving
from tests.support.waiting import until

KEY = "sk-FAKEfakeFAKEfake0123456789"
FEW = ("--transform", "rename", "--variants", "2", "--no-controls", "--workers", "1")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def words(sources: Path, url: str, out: str = "out", *more: str) -> list[str]:
    model = ["--model", "openai/tiny", "--base-url", url, "-M", "backoff=0.01", "-M", "timeout=30"]
    return ["run", "--corpus", str(sources), *FEW, *model, "--out", out, *more]


def answer(asked: Asked) -> Act:
    """A reply that depends on the text, with the key in it, and no answer to some of them."""
    if "value" in asked.text:
        return says(f"The function name should be `total_{len(asked.text)}`. My key is {KEY}")
    return says("I'm sorry, I cannot say <b>that</b>.")


def replies(folder: str | Path) -> pd.DataFrame:
    return pd.read_parquet(Path(folder, "answers.parquet"))


def joined(folder: str | Path) -> pd.DataFrame:
    """The verdicts with the replies to their variants."""
    verdicts = pd.read_parquet(Path(folder, "verdicts.parquet"))
    verdicts = verdicts[verdicts["reason"] != NOT_REPEATED]
    numbers = verdicts["variant"].map(lambda number: f"again {number + 1}" if number else "again")
    verdicts["asked"] = numbers.where(verdicts["kind"] == "identity", "first")
    keys = ["seed", "model", "sample", "input", "asked"]
    return verdicts.merge(replies(folder), on=keys, how="left", validate="many_to_one")


def test_every_verdict_has_its_reply_and_no_file_has_the_key(sources: Path) -> None:
    with serving(answer) as endpoint:
        assert main(words(sources, endpoint.url)) == 0
    table = joined("out")
    assert table["reply"].notna().all()
    named = table[table["read"] == "sentence"]
    assert named["reply"].str.startswith("The function name should be `total_").all()
    assert len(named) > 0
    rest = table[table["read"] != "sentence"]
    assert set(rest["read"]) == {"no readable answer"}
    assert set(rest["reason"]) == {"no readable answer"}
    for path in (*Path("out").iterdir(), *Path("cache").rglob("*")):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    assert "answers.parquet" in manifest["files"]


@pytest.mark.slow
def test_no_raw_leaves_replies_out_and_nothing_needs_them(
    sources: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(answer) as endpoint:
        assert main(words(sources, endpoint.url, "plain", "--no-raw")) == 0
        assert not Path("plain/answers.parquet").exists()
        assert main(words(sources, endpoint.url, "out")) == 0  # from the cache
    assert joined("out")["reply"].notna().all()
    one, other = (pd.read_parquet(f"{name}/verdicts.parquet") for name in ("plain", "out"))
    pd.testing.assert_frame_equal(one, other)
    capfd.readouterr()
    table = Path("out/answers.parquet")
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)
    assert main(["report", "out"]) == 3
    assert "answers.parquet" in capfd.readouterr().err
    table.unlink()
    for command in (["report", "out"], ["report", "out", "--html", "page.html"]):
        assert main(command) == 0, command
    capfd.readouterr()
    main(["gate", "out", "--max-violation-rate", "100%"])  # too few samples to pass
    assert "answers.parquet" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_killed_and_resumed_run_has_the_same_replies(sources: Path) -> None:
    killed = threading.Event()

    def held_up(asked: Asked) -> Act:
        reply = answer(asked)

        def act(handler: Any) -> None:
            assert asked.number < 5 or killed.wait(60)
            reply(handler)

        return act

    with serving(held_up) as endpoint:
        run = start(
            *words(sources, endpoint.url, "again", "-M", "concurrency=1", "--cache", "mine"), cwd=Path.cwd()
        )
        until(lambda: len(endpoint.asked) >= 5, process=run)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        killed.set()
        assert not Path("again/verdicts.parquet").exists()
        assert main(words(sources, endpoint.url, "again", "-M", "concurrency=1", "--cache", "mine")) == 0
        assert main(words(sources, endpoint.url, "out", "-M", "concurrency=1", "--cache", "other")) == 0
    assert Path("again/answers.parquet").read_bytes() == Path("out/answers.parquet").read_bytes()


def test_an_entry_of_an_earlier_cache_gives_a_null(sources: Path) -> None:
    with serving(answer) as endpoint:
        assert main(words(sources, endpoint.url, "first")) == 0
        (place,) = Path("cache").rglob("*.sqlite")
        with sqlite3.connect(place) as file:
            rows = file.execute("SELECT key, answer FROM answers").fetchall()
            assert all("replies" in json.loads(text) for _, text in rows)
            key, text = next((key, text) for key, text in rows if "failed" not in json.loads(text))
            old = {name: value for name, value in json.loads(text).items() if name != "replies"}
            file.execute("UPDATE answers SET answer = ? WHERE key = ?", (json.dumps(old), key))
        file.close()
        assert main(words(sources, endpoint.url, "out")) == 0
    first, later = replies("first"), replies("out")
    assert len(first) == len(later)
    assert later["reply"].isna().sum() >= 1
    kept = later["reply"].notna()
    pd.testing.assert_frame_equal(later[kept], first[kept])


@pytest.mark.slow
def test_merged_shards_have_the_replies_of_the_whole_run(sources: Path) -> None:
    with serving(answer) as endpoint:
        more = ("--model", "fake/hash", "--trials", "2")
        assert main(words(sources, endpoint.url, "out", *more)) == 0
        for number in (1, 2, 3):
            assert main(words(sources, endpoint.url, f"r{number}", *more, "--shard", f"{number}/3")) == 0
    merge([Path(f"r{number}") for number in (1, 2, 3)], Path("whole"), command=[])
    assert Path("whole/answers.parquet").read_bytes() == Path("out/answers.parquet").read_bytes()
    assert main(["report", "whole"]) == 0


def test_models_that_write_no_text_leave_no_file(sources: Path) -> None:
    run = codeaudit.run("fake/hash", corpus=sources, transforms="rename", variants=1, out="out")
    assert not (run.path / "answers.parquet").exists()


def test_a_callable_that_answers_in_sentences_is_read_and_what_it_said_is_kept(sources: Path) -> None:
    def talks(queries: list[codeaudit.Query]) -> list[str]:
        said = ["The function name should be `read_file`.", "This reads a file and returns it.", "average"]
        return [said[len(query.source) % 3] for query in queries]

    codeaudit.run({"talks": talks}, corpus=sources, transforms="rename", variants=4, out="out")
    table = joined("out")
    by_reply = table.groupby(table["reply"].fillna("-"))["after"].agg(set)
    assert by_reply["The function name should be `read_file`."] == {'["file", "read"]'}
    assert by_reply["This reads a file and returns it."] == {'{"failed": "no readable answer"}'}
    assert by_reply["average"] == {'["average"]'}, "what is said in one word is kept, too"


@pytest.mark.slow
def test_a_long_reply_is_cut_and_says_so(sources: Path) -> None:
    long = "`total`\n" + "x y " * LONGEST_REPLY
    with serving(lambda asked: says(long)) as endpoint:
        assert main(words(sources, endpoint.url)) == 0
    (text,) = set(replies("out")["reply"])
    assert text.startswith("`total`\n")
    assert text.endswith(f"\n[codeaudit kept {LONGEST_REPLY:,} of {len(long):,} characters]")


def test_explain_and_the_page_show_both_replies(sources: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def script(asked: Asked) -> Act:
        return says(f"The name should be `total_{len(asked.text)}`.\n<script>alert(1)</script> \x1b[31mred")

    with serving(script) as endpoint:
        assert main(words(sources, endpoint.url)) == 0
        capfd.readouterr()
        again = ["explain", "out", "--model", "openai/tiny", "--base-url", endpoint.url, "--limit", "1"]
        more = [word for name in ("backoff=0.01", "timeout=30") for word in ("-M", name)]
        assert main([*again, *more]) == 0
        shown = capfd.readouterr().out
        assert main([*again, *more, "--format", "json"]) == 0
        (row,) = json.loads(capfd.readouterr().out)
    said = re.findall(r"reply (before|after)\n  The name should be `total_(\d+)`", shown)
    assert [side for side, _ in said] == ["before", "after"]
    assert said[0][1] != said[1][1]
    assert "\x1b[31mred" not in shown
    assert row["reply_before"].startswith(f"The name should be `total_{said[0][1]}`")
    assert main(["report", "out", "--html", "page.html"]) == 0
    page = Path("page.html").read_text("utf-8")
    assert "<script>alert" not in page
    data = _data(page)
    assert data["rows"]
    for violation in data["rows"]:
        assert violation["before"]["reply"].startswith("The name should be")
        assert violation["after"]["reply"] != violation["before"]["reply"]
        assert violation["after"]["read"] == "sentence"


def _data(page: str) -> Any:
    import base64
    import zlib

    (code,) = re.findall(r'id="data">([^<]*)<', page)
    return json.loads(zlib.decompress(base64.b64decode(code)))
