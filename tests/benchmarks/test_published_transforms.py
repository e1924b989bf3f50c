"""The references of published transforms: each edits as described, and some change the meaning."""

import ast
from collections.abc import Callable
from types import ModuleType

TEXT = """\
def joined(words, least):
    found = ""
    for i in range(len(words)):
        if len(words[i]) < least:
            continue
        else:
            found = found + words[i]
    while least > 0:
        least -= 1
    return found
"""


def test_each_reference_edits_and_parses(script: Callable[[str], ModuleType]) -> None:
    program = script("published_transforms")
    for name in program.REFERENCES:
        made = list(program.references(name, TEXT, 4))
        assert made, name
        assert all(ast.parse(text) for text in made)


def test_operands_of_texts_change_places_which_ours_do_not(script: Callable[[str], ModuleType]) -> None:
    program = script("published_transforms")
    swapped = "found = words[i] + found"
    assert any(swapped in text for text in program.references("OperandSwap", TEXT, 32))
    assert not any(swapped in text for text in program.ours("OperandSwap", TEXT, 8))
