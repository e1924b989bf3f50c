"""The fuzzer of x86 blocks: engines agree on what it makes, and it finds what an engine without a rule breaks."""

import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.witnesses.native import BlockPair, NativeProcessor
from codeaudit.transforms.x86.witnesses.verdicts import BlocksAgreed
from tests.support.commands import ROOT


@pytest.fixture(scope="module")
def processor() -> NativeProcessor:
    try:
        return NativeProcessor()
    except CannotAudit as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_nothing_differs_but_the_controls(
    script: Callable[[str], ModuleType], processor: NativeProcessor
) -> None:
    fuzzer = script("fuzz_x86")
    with processor:
        tallies, differ = fuzzer.chunk(processor, None, 7, range(80))
    assert differ == []
    assert all(tallies[name]["applied"] > 30 for name in fuzzer.KEEPING)
    assert sum(tallies[name]["different"] for name in fuzzer.CONTROLS) > 20


@pytest.mark.weekly
@pytest.mark.parametrize("name", ["turns", "alias", "implied-register", "barrier", "fixed-register"])
def test_an_engine_without_a_rule_is_found_out(processor: NativeProcessor, name: str) -> None:
    if name == "turns" and _ignores_full_turns(processor):
        pytest.skip("on this processor a full turn leaves the overflow flag as it was")
    words = [str(ROOT / "benchmarks" / "fuzz_x86.py"), "--without", name, "--blocks", "4000"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"without {name}:" in done.stdout
    assert "nothing differs" not in done.stdout


def _ignores_full_turns(processor: NativeProcessor) -> bool:
    """Whether a full turn through the carry changes nothing, as on some processors: its rule breaks nothing."""
    pair = BlockPair(before=read("rclb $9, %al"), after=read("nop"), renaming={}, seed=1)
    with processor:
        (verdict,) = processor.compare([pair], alone=False)
    return isinstance(verdict, BlocksAgreed)
