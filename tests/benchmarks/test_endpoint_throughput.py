"""The table of the driver beside its peer, with few queries."""

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.mark.weekly
def test_both_ask_the_same_and_are_answered(
    script: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["endpoint_throughput.py", "--mean", "0.02", "--seconds", "0.3", "--rounds", "1", "--levels", "4"]
    monkeypatch.setattr(sys, "argv", words)
    assert script("endpoint_throughput").main() == 0
    *_, row = capsys.readouterr().out.splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[0] == "4"
    assert float(cells[5]) > 0.3


@pytest.mark.weekly
def test_servers_refuse_and_queue_beyond_their_capacity(script: Script) -> None:
    benchmark = script("endpoint_throughput")
    for name in ("queue", "refuse", "thrash"):
        clock = benchmark.Clock()
        with benchmark.serving(benchmark.Kind(name=name, capacity=2), 0.01) as url:
            _, lost = benchmark.driver(url, 60, None, clock)
        assert len(clock.times) == 60
        assert lost == 0
