"""How replies are read. The table is also on a page: `python -m tests.audit.test_replies` writes it there."""

import json
import re
import time
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Failed, Predicted
from codeaudit.audit.replies import FORMS, AnswerShape, read
from tests.support.commands import ROOT

PAGE: Final = ROOT / "docs" / "howto" / "replies.md"
START: Final = "<!-- the table of tests/audit/test_replies.py -->"
HEAD: Final = "| form | how it is recognised | example |\n|---|---|---|\n"
NAME, BUG, VALUE, CYCLES = "function-name", "error-detection", "output-prediction", "throughput"


class Row(NamedTuple):
    kind: str
    task: str
    reply: str
    answer: str | float | None


CODE = "def read_file(path):\n    return open(path).read()"
SNIPPET = f"```python\n{CODE}\n```"
ROWS: Final = (
    # 1. as the prompt asks for it
    Row("as asked", NAME, "[read_file] [rf]", "read_file"),
    Row("as asked", NAME, "[read_file], [rf]", "read_file"),
    Row("as asked", NAME, "**[read_file]** **[rf]**", "read_file"),
    Row("as asked", NAME, "1. [read_file] [rf]", "read_file"),
    Row("as asked", NAME, "[read_file]\n[rf]", "read_file"),
    Row("as asked", NAME, "[Read File] [RF]", "Read_File"),
    Row("as asked", NAME, "[read_file] [rf] or [load_file] [lf]", None),
    Row("as asked", BUG, "buggy", "buggy"),
    Row("as asked", BUG, "Clean.", "clean"),
    Row("as asked", VALUE, "{'a': [1, (2,)]}", "{'a': [1, (2,)]}"),
    Row("as asked", VALUE, "KeyError: 'a'", "KeyError"),
    Row("as asked", CYCLES, "2.25", 2.25),
    Row("as asked", CYCLES, "2.25 cycles per iteration", 2.25),
    # 2. the answer alone, decorated
    Row("alone", NAME, "read_file", "read_file"),
    Row("alone", NAME, "readFile()", "readFile"),
    Row("alone", NAME, "read_file.", "read_file"),
    Row("alone", NAME, "`read_file`", "read_file"),
    Row("alone", NAME, "**read_file**", "read_file"),
    Row("alone", NAME, "**`read_file`**", "read_file"),
    Row("alone", NAME, '"read_file"', "read_file"),
    Row("alone", NAME, "`read_file(path)`", "read_file"),
    Row("alone", NAME, "- read_file", "read_file"),
    Row("alone", NAME, "1. `read_file`", "read_file"),
    Row("alone", NAME, "größe_lesen", "größe_lesen"),
    Row("alone", BUG, "`buggy`", "buggy"),
    Row("alone", BUG, "- buggy", "buggy"),
    Row("alone", VALUE, "`'a b'`", "'a b'"),
    Row("alone", CYCLES, "**2.25**", 2.25),
    Row("alone", NAME, "read file", "read_file"),
    Row("alone", NAME, r"\boxed{read_file}", "read_file"),
    Row("alone", NAME, "<name>read_file</name>", "read_file"),
    Row("alone", NAME, "<b>read_file</b>", None),
    Row("alone", BUG, "<answer>buggy</answer>", "buggy"),
    Row("alone", BUG, "Yes", "buggy"),
    # 3. fences
    Row("fence", NAME, "```\nread_file\n```", "read_file"),
    Row("fence", NAME, "```text\n[read_file] [rf]\n```\nIt reads a file.", "read_file"),
    Row("fence", NAME, "Here is the name:\n\n```\nread_file\n```", "read_file"),
    Row("fence", VALUE, "```python\n[1,\n 2]\n```", "[1,\n 2]"),
    Row("fence", BUG, "```\nbuggy\n```", "buggy"),
    # 4. JSON
    Row("JSON", NAME, '{"name": "read_file"}', "read_file"),
    Row("JSON", NAME, '```json\n{\n  "full_name": "read_file",\n  "abbreviation": "rf"\n}\n```', "read_file"),
    Row("JSON", NAME, '{"functionName": "readFile", "reason": "it reads"}', "readFile"),
    Row("JSON", NAME, '["read", "file"]', "read_file"),
    Row("JSON", NAME, '["read_file", "load_file"]', None),
    Row("JSON", NAME, '{"name": "read_file", "answer": "load_file"}', None),
    Row("JSON", NAME, '"name": "read_file"', "read_file"),
    Row("JSON", NAME, '"name": "read_file",', "read_file"),
    Row("JSON", NAME, '"title": "read_file"', None),
    Row("JSON", NAME, '{"name": "read_file", "alternative": "load_file"}', None),
    Row("JSON", NAME, '{"name": "read_file", "alternatives": ["load_file", "open_file"]}', None),
    Row("JSON", BUG, '{"answer": "buggy"}', "buggy"),
    Row("JSON", BUG, '{"verdict": "clean", "reason": "no bug"}', "clean"),
    Row("JSON", CYCLES, '{"cycles": 2.25}', 2.25),
    Row("JSON", VALUE, '{"answer": 3}', '{"answer": 3}'),
    # 5. labelled lines
    Row("label", NAME, "Full name: [read_file]\nAbbreviation: [rf]", "read_file"),
    Row("label", NAME, "Function name: read_file", "read_file"),
    Row("label", NAME, "**Full name:** `read_file`, **abbreviation:** `rf`", "read_file"),
    Row("label", NAME, "The suggested name is: read_file", "read_file"),
    Row("label", NAME, "### Name\n\n`read_file`", "read_file"),
    Row("label", NAME, "Function: read_file", "read_file"),
    Row("label", NAME, "Output: read_file", "read_file"),
    Row("label", NAME, "Result: `read_file`", "read_file"),
    Row("label", NAME, "`read_file`\n\nInput: path\nOutput: lines", "read_file"),
    Row("label", NAME, "Full name: read_file\nAlternative: load_file", None),
    Row("label", NAME, "Full name: read_file\nAlternative name: readFile", "read_file"),
    Row("label", BUG, "Let me see.\nFinal answer: clean", "clean"),
    Row("label", BUG, "Verdict: buggy", "buggy"),
    Row("label", VALUE, "Output: [1, 2]", "[1, 2]"),
    Row("label", CYCLES, "Answer: 2.25 cycles", 2.25),
    # 6. sentences
    Row("sentence", NAME, "The function name should be `read_file`.", "read_file"),
    Row("sentence", NAME, "A suitable name for this function is **read_file**.", "read_file"),
    Row("sentence", NAME, "I would call it `read_file` because it calls `open`.", "read_file"),
    Row("sentence", NAME, "The function could be named read_file.", "read_file"),
    Row("sentence", NAME, "`read_file` would be a good name.", "read_file"),
    Row("sentence", NAME, "This function reads a file and returns its lines.", None),
    Row("sentence", NAME, "The variable name is `path`.", None),
    Row("sentence", BUG, "The answer is buggy.", "buggy"),
    Row("sentence", BUG, "This code is not clean, it has a bug.", None),
    Row("sentence", BUG, "The function is buggy.", "buggy"),
    Row("sentence", BUG, "Clean code is important.", None),
    Row("sentence", BUG, "It could be buggy.", None),
    Row("sentence", NAME, "**The function name should be `read_file`.**", "read_file"),
    Row("sentence", NAME, "Here you go: read_file", "read_file"),
    Row("sentence", NAME, "I think it is `read_file`.", "read_file"),
    Row("sentence", NAME, "The missing name is read_file.", "read_file"),
    Row("sentence", NAME, "Since it calls `open`, the name should be `read_file`.", "read_file"),
    Row("sentence", NAME, "The function name is `MASK`.", None),
    Row("sentence", CYCLES, "It takes about 2 cycles.", None),
    Row("sentence", VALUE, "The answer is `3`.", "3"),
    Row("sentence", VALUE, "The answer is unknown.", None),
    # 7. with an explanation
    Row("explained", NAME, "`read_file`\n\nIt opens `path` and reads it.", "read_file"),
    Row("explained", NAME, "`read_file` - opens the path and reads it", "read_file"),
    Row("explained", NAME, "read_file\n\n- `path`: the file\n- `mode`: how it is opened", "read_file"),
    Row("explained", NAME, f"`read_file`\n\n{SNIPPET}", "read_file"),
    Row("explained", BUG, "buggy: the index is off by one", "buggy"),
    Row("explained", BUG, "Buggy\n\nThe loop is clean otherwise.", "buggy"),
    Row("explained", VALUE, "3\n\nBecause `a` is 1 and `b` is 2.", "3"),
    Row("explained", CYCLES, "2.25\n\n1. Two loads\n2. One add", 2.25),
    # 8. thoughts and cut replies
    Row("thoughts", NAME, "<think>\n`load` or `open`?\n</think>\n\n`read_file`", "read_file"),
    Row("thoughts", NAME, "<think>\nread_file", None),
    Row("thoughts", BUG, "<think>It is clean.</think>buggy", "buggy"),
    Row("thoughts", NAME, "[read_fi", None),
    Row("thoughts", NAME, "[read_file] [r", None),
    Row("thoughts", VALUE, "[1, 2, ", None),
    # 9. several candidates
    Row("several", NAME, "read_file\nload_file", None),
    Row("several", NAME, "1. `read_file`\n2. `load_file`", None),
    Row("several", NAME, "`read_file` or `load_file`", None),
    Row("several", NAME, "The function name should be `read_file` or `load_file`.", None),
    Row("several", NAME, "`read_file`\n\nAlternatively, `load_file` is a good name.", None),
    Row("several", NAME, "`read_file`\n\nA better name would be `load_file`.", None),
    Row("several", NAME, "read_file\n\nOn second thought:\n\nload_file", None),
    Row("several", NAME, "`read_file`\n\nFunction name: readFile", "read_file"),
    Row("several", NAME, "read_file or load_file", None),
    Row("several", NAME, "read_file/load_file", None),
    Row("several", NAME, "The name is read_file, not load_file.", None),
    Row("several", NAME, "I first thought of `load_file`, but the name should be `read_file`.", None),
    Row("several", BUG, "buggy or clean", None),
    Row("several", BUG, "The function is clean. However, it is buggy.", None),
    Row("several", BUG, "The function is clean.\n\nNo, it is buggy.", None),
    Row("several", BUG, "Answer: clean\nAnswer: buggy", None),
    Row("several", BUG, "Buggy\n\nAnswer: clean", None),
    Row("several", VALUE, "3\n4", None),
    Row("several", CYCLES, "3 to 4 cycles", None),
    # 10. code, refusals, other languages, nothing
    Row("other", NAME, SNIPPET, "read_file"),
    Row("other", NAME, CODE, "read_file"),
    Row("other", NAME, "```java\npublic static String readFile(String path) {\n    return null;\n}\n```", "readFile"),
    Row("other", NAME, "```python\ndef MASK(path):\n    return path\n```", None),
    Row("other", NAME, f"{SNIPPET}\n\n```python\ndef load_file(path):\n    pass\n```", None),
    Row("other", NAME, "I'm sorry, but I can't help with that.", None),
    Row("other", BUG, "I'm sorry, I cannot tell.", None),
    Row("other", NAME, "", None),
    Row("other", NAME, "La función debería llamarse `leer_archivo`.", None),
    Row("other", NAME, "Name: `datei_lesen`", "datei_lesen"),
    Row("other", NAME, "Sure", None),
    Row("other", NAME, "N/A", None),
    Row("other", NAME, "None", None),
    Row("other", NAME, "`null`", None),
    Row("other", NAME, "[unknown]", None),
    Row("other", NAME, "MASK", None),
    Row("other", NAME, "`MASK_1`", None),
    Row("other", NAME, "function_name", None),
    Row("other", NAME, "[full_name] [abbreviation]", None),
    Row("other", NAME, "[Function Name]", None),
)  # fmt: skip


def reading(row: Row) -> tuple[str | float | None, str]:
    said = built_in()[row.task].read(row.reply)
    return (said.answer, said.replies[0].read) if isinstance(said, Predicted) else (None, said.reason)  # type: ignore[return-value]


@pytest.mark.thinned(48)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.task}: {row.reply!r:.60}")
def test_a_reply_is_read_as_its_one_candidate(row: Row) -> None:
    assert reading(row)[0] == row.answer


def test_the_table_has_ten_kinds_of_replies_for_four_tasks() -> None:
    assert len(ROWS) >= 60
    assert len({row.kind for row in ROWS}) >= 10
    assert {row.task for row in ROWS} == {NAME, BUG, VALUE, CYCLES}
    assert len({(row.task, row.reply) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.name}{' block' * form.block}")
def test_the_example_of_a_form_is_read_by_that_form(form: object) -> None:
    prompts = [prompt for prompt in built_in().values() if isinstance(prompt, QuestionPrompt)]
    predictions = {prompt.read(form.example) for prompt in prompts}  # type: ignore[attr-defined]
    forms = {reply.read for prediction in predictions for reply in prediction.replies}
    assert form.name in forms  # type: ignore[attr-defined]


@pytest.mark.thinned(18)
@pytest.mark.parametrize("first", ["[{}] [x]", "`{}`", "{}", "Full name: {}", '{{"name": "{}"}}', "1. `{}`"])
@pytest.mark.parametrize("second", ["[{}] [y]", "Function name: {}", "The function name should be `{}`."])
@pytest.mark.parametrize("between", ["\n", "\n\n", "\n\nOn second thought:\n\n"])
def test_no_reply_with_two_names_in_two_forms_is_read(first: str, second: str, between: str) -> None:
    prompt = built_in()[NAME]
    reply = first.format("read_file") + between + second.format("load_text")
    assert isinstance(prompt.read(reply), Failed)
    same = prompt.read(first.format("read_file") + between + second.format("readFile"))
    assert isinstance(same, Predicted), "two spellings of one name are one candidate"


def test_a_reader_of_ones_own_is_read_in_the_same_forms() -> None:
    prompt = QuestionPrompt(
        template="{source}", reader=lambda line: line if line in ("red", "blue") else None
    )
    for reply in ("red", "`red`", "Answer: red", '{"answer": "red"}', "```\nred\n```", "The answer is red."):
        prediction = prompt.read(reply)
        assert isinstance(prediction, Predicted), reply
        assert prediction.answer == "red"
    assert isinstance(prompt.read("red\nblue"), Failed)
    assert read("I like red", AnswerShape(alone=prompt.candidate.alone)) is None


PIECES = (
    *("[", '{"name":', "name ", "`a` ", "the name is ", "*", "The name is `a`. ", "I suggest ", "a", "a_"),
    *(
        "\n",
        "a\n",
        "**a",
        "def a(",
        "public ",
        "answer is ",
        "alternatively ",
        "'",
        "`",
        "[a] ",
        "```\n",
        "- ",
    ),
)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("piece", PIECES)
def test_no_long_reply_takes_long(piece: str) -> None:
    prompt = built_in()[NAME]
    began = time.process_time()
    prompt.read(piece * (20_000 // len(piece)))
    assert time.process_time() - began < 3


def rendered() -> str:
    """The table as a page has it."""
    lines = ["| kind | task | reply | read as | form |", "|---|---|---|---|---|"]
    for row in ROWS:
        answer, form = reading(row)
        # JSON shows line ends and keeps a row on one line.
        reply = json.dumps(row.reply, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("|", "\\|")
        shown = "–" if answer is None else _code(str(answer).replace("\n", "\\n").replace("|", "\\|"))
        lines.append(
            f"| {row.kind} | {row.task} | {_code(reply) if reply else '(empty)'} | {shown} | {form} |"
        )
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def forms() -> str:
    """The table of forms as a page has it."""
    rows = ((form.name, form.recognised, form.example.replace("\n", "\\n")) for form in FORMS)
    return "".join(f"| {name} | {how} | {_code(example)} |\n" for name, how, example in rows)


def page() -> str:
    """The page with both tables as they are now."""
    text, mark, _ = PAGE.read_text("utf-8").partition(START)
    before, head, rest = text.partition(HEAD)
    assert mark
    assert head
    rest = re.sub(r"\A(?:\|.*\n|FORMS\n)*", "", rest).lstrip("\n")
    return f"{before}{head}{forms()}\n{rest}{mark}\n\n{rendered()}"


def test_the_page_has_this_table() -> None:
    assert PAGE.read_text("utf-8") == page(), f"python -m {__name__} writes it"


if __name__ == "__main__":
    Path(PAGE).write_text(page(), "utf-8")
