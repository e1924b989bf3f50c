"""The logs of campaigns: they add up, survive an end in the middle, and know the engine of each chunk."""

from dataclasses import replace
from pathlib import Path

from tests.support.campaigns import CampaignLog, Chunk, engine

CHUNK = Chunk(
    campaign="java",
    engine="old",
    seed=1,
    first=0,
    programs=10,
    seconds=2.0,
    tallies={"reorder": {"pairs": 10, "applied": 6, "equal": 6}, "rename": {"pairs": 10, "applied": 3}},
)


def test_chunks_add_up_and_the_next_run_goes_on_behind_them(tmp_path: Path) -> None:
    log = CampaignLog(tmp_path / "log", "java")
    assert log.next_program(1) == 0
    log.append(CHUNK)
    log.append(replace(CHUNK, first=10, programs=5))
    log.append(replace(CHUNK, seed=2, first=70))
    CampaignLog(log.path, "python").append(replace(CHUNK, campaign="python", first=500))
    assert (log.next_program(1), log.next_program(2), log.next_program(3)) == (15, 80, 0)
    report = log.report("old", ["reorder", "rename", "spacing"])
    assert report.applied == 27
    assert report.by_transform()["reorder"]["applied"] == 18
    assert "applied least: spacing, 0 times" in list(report.lines())


def test_half_a_line_is_no_chunk_and_spoils_no_other(tmp_path: Path) -> None:
    log = CampaignLog(tmp_path / "log", "java")
    log.append(CHUNK)
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + whole[:40])
    log.append(replace(CHUNK, first=10))
    assert [chunk.first for chunk in log.chunks()] == [0, 10]


def test_a_campaign_is_steady_where_its_last_third_is_of_this_engine_and_equal(tmp_path: Path) -> None:
    log = CampaignLog(tmp_path / "log", "java")
    assert not log.report("new").steady
    log.append(CHUNK)
    log.append(replace(CHUNK, tallies={"reorder": {"applied": 9, "different": 2}}))
    assert log.report("old").applied == 18
    assert not log.report("old").steady
    log.append(replace(CHUNK, engine="new", tallies={"reorder": {"applied": 8, "equal": 8}}))
    assert not log.report("new").steady, "8 of 26 are no third"
    log.append(replace(CHUNK, engine="new", tallies={"reorder": {"applied": 2, "equal": 2}}))
    assert log.report("new").steady
    assert not log.report("old").steady
    log.append(replace(CHUNK, engine="new", tallies={"reorder": {"applied": 1, "different": 1}}))
    assert not log.report("new").steady


def test_an_engine_is_its_sources(tmp_path: Path) -> None:
    for name in ("seeding.py", "dependence/orders.py", "java/files.py", "java/order/x.py", "python/files.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    before = engine("java", tmp_path)
    (tmp_path / "python" / "files.py").write_text("2")
    assert engine("java", tmp_path) == before
    for name in ("seeding.py", "dependence/orders.py", "java/files.py", "java/order/x.py"):
        (tmp_path / name).write_text("2")
        assert engine("java", tmp_path) != before
        (tmp_path / name).write_text("1")
    assert engine("java", tmp_path) == before
