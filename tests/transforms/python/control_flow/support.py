"""What the tests of this family share: functions around a piece of text, objects that log what they are asked."""

import textwrap

from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from tests.support.watched import behaviour
from tests.transforms.python.order.support import outcome, variants


def function(text: str, parameters: str = "a, b") -> str:
    """A function with this body; strings over lines keep their lines."""
    opened = False
    lines = []
    for line in text.split("\n"):
        lines.append(line if opened or not line.strip() else "    " + line)
        opened ^= line.count("'''") % 2 == 1
    return f"def f({parameters}):\n" + "\n".join(lines) + "\n"


def logged(rule: PythonRule, text: str, *, runs: int = 24) -> int:
    """Run the body of a function of `a`, `b` and `c` and every variant on objects that answer by chance and
    log each question; how many variants there were."""
    source = "def f(a, b, c):\n" + textwrap.indent(text, "    ")
    texts = variants(rule, source)
    everything = outcome(rule, source)
    if isinstance(everything, Perturbed):
        texts.add(everything.source)
    for seed in range(runs):
        expected = behaviour(source, seed)
        for variant in texts:
            assert behaviour(variant, seed) == expected, variant
    return len(texts)
