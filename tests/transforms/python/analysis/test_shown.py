"""What the text of a file shows of the objects that it looks at."""

import ast

import pytest

from codeaudit.transforms.python.analysis.shown import shown_looks

CLASS = "class C:\n    pass\n"


@pytest.mark.parametrize(
    "patch",
    [
        "type.__setattr__(C, '__lt__', act)",
        "with patch.object(C, '__lt__', act):\n    pass",
        "monkeypatch.setattr(C, '__lt__', act)",
        "C.__lt__ = act",
        "setattr(C, '__lt__', act)",
        "type('D', (C,), {'__lt__': act})",
    ],
)
def test_a_method_of_the_data_model_that_is_patched_in_may_do_anything(patch: str) -> None:
    text = f"from unittest.mock import patch\nfrom m import act, monkeypatch\n{CLASS}{patch}\n"
    assert shown_looks(text, ast.parse(text)).methods
    other = text.replace("__lt__", "_label")
    assert not shown_looks(other, ast.parse(other)).methods
