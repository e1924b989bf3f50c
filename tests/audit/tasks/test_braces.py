"""Programs from replies in languages with braces."""

import time

import pytest

from codeaudit.audit.tasks.solutions import completed_in_braces, rewritten_in_braces

PROMPTS = {"javascript": "function total(xs) {\n", "c": "int total(int *xs, int n) {\n"}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("language", PROMPTS)
@pytest.mark.parametrize("piece", ["*", "a ", "\n", "}\n", "//", "/* */", "function f(", "1,"])
def test_no_long_reply_takes_long(piece: str, language: str) -> None:
    text, prompt = piece * (16_000 // len(piece)), PROMPTS[language]
    began = time.process_time()
    assert completed_in_braces(prompt, text, [], language)
    assert completed_in_braces(prompt, text, [text], language)
    rewritten_in_braces(prompt + "}\n", text, [text], language)
    assert time.process_time() - began < 4


@pytest.mark.parametrize(
    "reply",
    [
        "int total(int *xs, int n) { return 1; }",
        "int\ntotal(int *xs, int n) { return 1; }",
        "static int *total(int *xs, int n) { return 0; }",
    ],
)
def test_a_whole_function_is_no_continuation(reply: str) -> None:
    assert completed_in_braces(PROMPTS["c"], reply, [], "c").count("total") == 1


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (PROMPTS["c"], "  int k = *xs;\n  return k + total(xs + 1, n - 1);\n}\n"),
        (PROMPTS["c"], "  if (n) {\n    return total(xs, n - 1);\n  } else\n    return 0;\n}\n"),
        (PROMPTS["javascript"], "  return total(xs.slice(1));\n}\n"),
    ],
)
def test_a_function_that_calls_itself_is_continued(prompt: str, reply: str) -> None:
    language = "c" if "int" in prompt else "javascript"
    assert completed_in_braces(prompt, reply, [], language) == prompt + reply
