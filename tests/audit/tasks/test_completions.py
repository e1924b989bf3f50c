"""What models write, read as the program that it means."""

import pytest

from codeaudit.audit.tasks.solutions import completed

PROMPT = 'import math\n\n\ndef f(xs):\n    """Sum."""\n    total = 0\n'
LOOP = "    for x in xs:\n        total += x\n    return total\n"
MOVED = "for x in xs:\n    total += x\nreturn total\n"
STRIPPED = LOOP.lstrip()

MEANT = {
    "bare": LOOP,
    "no last line end": LOOP.rstrip(),
    "windows": LOOP.replace("\n", "\r\n"),
    "other function after it": f"{LOOP}\n\ndef g():\n    return h\n\n\nprint(g())\n",
    "half a function after it": f"{LOOP}\n\ndef g(",
    "class after it": f"{LOOP}\nclass A:\n    x = y\n",
    "prose after it": f"{LOOP}\nThis works, since it's a sum.\n",
    "example after it": f"{LOOP}\n# Test\nprint(f(undefined))\n",
    "fence": f"```python\n{LOOP}```\nThis sums.",
    "fence and prose before it": f"The rest of it:\n\n~~~\n{LOOP}~~~\n",
    "open fence": f"```python\n{LOOP}",
    "at the margin in a fence": f"```py\n{MOVED}```",
    "at the margin": MOVED,
    "at the margin, prose after it": "total = sum(xs)\nreturn total\nThis works fine.",
    "first indentation lost": STRIPPED,
    "first indentation lost, prose after it": f"{STRIPPED}\nThis works.",
    "prose before it": f"The rest is:\n\n{LOOP}\nOk.",
    "whole in a fence": "Here:\n```python\nimport os\n\ndef f(xs):\n    return sum(xs)\n\nprint(f(undefined))\n```\nOk.",
    "whole": "Here it is.\n\ndef f(xs):\n    return sum(xs)\n\nThis works because.",
    "whole with a helper": "```\ndef h(xs):\n    return sum(xs)\n\ndef f(xs):\n    return h(xs)\n```",
    "whole with a main": "def f(xs):\n    return sum(xs)\n\nif __name__ == '__main__':\n    undefined\n",
    "whole with a type": "```\nfrom typing import List\nT = List[int]\ndef f(xs: T) -> int:\n    return sum(xs)\n```",
    "the fence that defines it": "```\npip install x\n```\nthen\n```python\ndef f(xs):\n    return sum(xs)\n```",
    "margin inside brackets": "    return sum([\nx for x in xs\n])\n\nclass A: pass",
    "margin inside a text": '    """\nat the margin\n"""\n    return sum(xs)\nprint(3)',
    "comment at the margin": "    for x in xs:\n# add\n        total += x\n    return total\n",
}


@pytest.mark.parametrize("reply", MEANT.values(), ids=MEANT)
def test_the_program_that_is_meant(reply: str) -> None:
    space: dict[str, object] = {}
    exec(completed(PROMPT, reply), space)
    assert space["f"]([1, 2, 3]) == 6


@pytest.mark.parametrize(
    "reply", ["", "\n\ndef g():\n    return 6\n", "I cannot do that.", "print(6)", "```\n```"]
)
def test_what_is_no_continuation_adds_nothing(reply: str) -> None:
    program = completed(PROMPT, reply)
    assert program.startswith(PROMPT)
    assert not program[len(PROMPT) :].strip()


def test_a_function_begun_before_is_not_the_one_that_is_open() -> None:
    prompt = "def helper(x):\n    return x\n\n\ndef f(xs):\n"
    assert completed(prompt, "    return helper(xs)\n") == f"{prompt}    return helper(xs)\n"
    whole = "def f(xs):\n    return helper(xs[0])\n"
    assert completed(prompt, whole) == "def helper(x):\n    return x\n\n\n" + whole


def test_a_prompt_without_an_open_function_is_continued_as_it_is() -> None:
    assert completed("x = (\n", "1)\n") == "x = (\n1)\n"
