"""What models of text are asked, and how their answers are read: leniently in form, never by guess."""

import pytest

from codeaudit.audit.interface import Ranking
from codeaudit.audit.models.text_models import Prompts, built_in, customised
from codeaudit.audit.prompts import ContinuationPrompt, Message
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.registry import TASKS, answer_kind
from codeaudit.audit.tasks.wordings import SUMMARIES
from codeaudit.transforms.errors import ModelError, UsageError

PROMPTS = built_in()
MALFORMED = Failed(reason="no readable answer")
CODE = "def MASK(a):\n    return '{language} {source}', a\n"


def query(task: str, source: str = CODE, language: str = "python") -> Query:
    if isinstance(answer_kind(task), Ranking):
        return Query(task=task, language=language, source="", text="a query", candidates=(source,))
    return Query(task=task, language=language, source=source)


def read(task: str, text: str) -> object:
    prediction = PROMPTS[task].read(text)
    return prediction.answer if isinstance(prediction, Predicted) else prediction


WITHOUT = {"code-modelling"}
"""What no text tells: how surprised a model is."""


def test_every_task_of_the_registry_has_a_prompt() -> None:
    assert set(TASKS) - WITHOUT == set(PROMPTS)


@pytest.mark.parametrize("task", PROMPTS)
def test_a_prompt_holds_the_source_as_it_is_and_nothing_left_to_fill(task: str) -> None:
    (message,) = PROMPTS[task].messages(query(task))
    assert message.role == "user"
    assert CODE.strip() in message.content
    assert message.content.count("{source}") == 1, "only the one that stands in the source itself"
    prompt = PROMPTS[task]
    text = prompt.text(query(task))
    bare = isinstance(prompt, ContinuationPrompt) and prompt.bare
    assert text == CODE if bare else text.endswith("Answer:")


def test_function_names_are_asked_in_the_words_of_the_paper() -> None:
    (message,) = PROMPTS["function-name"].messages(query("function-name"))
    assert message.content.startswith(
        "I have a segment of Python function code and need help determining a suitable name for it. Analyze"
    )
    (java,) = PROMPTS["function-name"].messages(query("function-name", "void MASK() {}", "java"))
    assert "segment of Java function code" in java.content


def test_no_line_of_the_source_closes_its_fence() -> None:
    source = 'def f():\n    """\n    ````\n    """'
    (message,) = PROMPTS["error-detection"].messages(query("error-detection", source))
    assert message.content.endswith(f"\n`````python\n{source}\n`````")


PAIR = "[compute_mean] [mean]"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (PAIR, "compute_mean"),
        (f"Answer: {PAIR}", "compute_mean"),
        (f"**Answer:** {PAIR}\n\nThe function sums [a] and divides.", "compute_mean"),
        (f"\n\n```\n{PAIR}\n```\nIt computes a mean.", "compute_mean"),
        (f"```text\nAnswer:\n{PAIR}```", "compute_mean"),
        (f"<think>\n[other] [o]\n</think>\n\n{PAIR}", "compute_mean"),
        (f"[other] [o]\n</think>\n{PAIR}", "compute_mean"),
        (f"Sure! Here are the names:\n{PAIR}\nHope it helps.", "compute_mean"),
        ("[compute\\_mean] [mean]", "compute_mean"),
        ("**[compute_mean] [mean]**", "compute_mean"),
        ("[`computeMean`] [`m`]", "computeMean"),
        ("[Compute Mean] [CM]", "Compute_Mean"),
        ("[compute_mean()] [cm]", "compute_mean"),
        ("[compute_mean] [mean] - the arithmetic mean", "compute_mean"),
        ("[compute_mean] []", "compute_mean"),
        ("[compute_mean]", "compute_mean"),
        ("[compute_mean] [me", None),
        ("[größe_прочесть] [g]", "größe_прочесть"),
        ("[full_name] [abbreviation]", None),
        ("[full_name: compute_mean] [abbreviation: mean]", None),
        ("compute_mean mean", None),
        ("[1, 2] [3]", None),
        ("[123] [1]", None),
        ("[] []", None),
        ("[compute", None),
        ("[name] is a good one", None),
        ("Either\n[compute_mean] [mean]\nor\n[average] [avg]", None),
        ("<think>[compute_mean] [mean]", None),
        ("", None),
        (" \n```\n```\n", None),
    ],
)
def test_names(text: str, answer: str | None) -> None:
    assert read("function-name", text) == (MALFORMED if answer is None else answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("buggy", "buggy"),
        ("Clean.", "clean"),
        ("`buggy`", "buggy"),
        ("**Buggy**\n\nThe loop is clean otherwise.", "buggy"),
        ('"clean"', "clean"),
        ("Answer: buggy", "buggy"),
        ("The answer is: **buggy**.", "buggy"),
        ("### Answer\n\nbuggy", "buggy"),
        ("**Buggy.** The loop is off by one.", "buggy"),
        ("**Clean** code is important.", None),
        ("Buggy: the index is off by one", "buggy"),
        ("buggy - off by one", "buggy"),
        ("Let me see.\nThe loop is fine.\nFinal answer: clean", "clean"),
        ("Answer: clean\nAnswer: buggy", None),
        ("Let me see.\nAnswer: clean\nAnswer: buggy", None),
        ("buggy or clean", None),
        ("Clean, not buggy", None),
        ("not buggy", None),
        ("buggy?", None),
        ("Clean code is important.", None),
        ("The function is buggy.", "buggy"),
        ("The function is not buggy.", None),
        ("The function is buggy if x is 0.", "buggy"),
        ("If x is 0 the function is buggy.", None),
        ("The function is clean. However, it may be buggy.", None),
        ("The function is clean.\n\nOn closer look it is buggy.", None),
        ("Let me see.\nbuggy", None),
        ("yes", "buggy"),
        ("Yes, this is fine.", None),
        ("1. The loop ends early.", None),
    ],
)
def test_verdicts_on_code(text: str, answer: str | None) -> None:
    assert read("error-detection", text) == (MALFORMED if answer is None else answer)


@pytest.mark.parametrize(
    ("text", "answer"), [("True", "true"), ("false.", "false"), ("0", None), ("true/false", None)]
)
def test_derivatives(text: str, answer: str | None) -> None:
    assert read("derivative", text) == (MALFORMED if answer is None else answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("2.25", 2.25),
        ("3", 3.0),
        ("1e1", 10.0),
        ("**4.5**", 4.5),
        ("Answer: 2.25 cycles per iteration.\nTwo loads, 3 adds.", 2.25),
        ("2.25 cycles/iteration, bound by port 5", 2.25),
        ("2.25 cycles (port 5)", 2.25),
        ("1. The block has two loads", None),
        ("2,25", None),
        ("1,000", None),
        ("3/4", None),
        ("3-4 cycles", None),
        ("~3", None),
        ("-3", None),
        ("about 3", None),
        ("3 to 4 cycles", None),
        ("1e999", None),
        ("nan", None),
        ("٣", None),
    ],
)
def test_cycles(text: str, answer: float | None) -> None:
    assert read("throughput", text) == (MALFORMED if answer is None else answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3", "3"),
        ("-3.5e-07", "-3.5e-07"),
        ("(1+2j)", "(1+2j)"),
        ("'a `b` **c**'", "'a `b` **c**'"),
        ("`'a'`", "'a'"),
        ("```python\n{'a': [1, (2,)], 'b': {3}}\n```\nsince ...", "{'a': [1, (2,)], 'b': {3}}"),
        ("Answer: None", "None"),
        ("ValueError", "ValueError"),
        ("KeyError: 'a'", "KeyError"),
        ("raises KeyError.", "KeyError"),
        ("json.decoder.JSONDecodeError: Expecting value", "json.decoder.JSONDecodeError"),
        ("Counter({'a': 1})", "Counter({'a': 1})"),
        ("datetime.date(2020, 1, 1)", "datetime.date(2020, 1, 1)"),
        ("[nan, inf, -inf]", "[nan, inf, -inf]"),
        ("<object object at 0x7f>", "<object object at 0x7f>"),
        ("The function returns 3", "3"),
        ("The function returns 3. The call raises a KeyError.", None),
        ("It returns 3 if the list is empty.", None),
        ("Result: 3", "3"),
        ("3 (since a is 1)", None),
        ("3 is 3", None),
        ("1 if a else 2", None),
        ("[x for x in y]", None),
        ("lambda: 3", None),
        ("'unclosed", None),
        ("(" * 500, None),
        ("a\0b", None),
    ],
)
def test_values(text: str, answer: str | None) -> None:
    assert read("output-prediction", text) == (MALFORMED if answer is None else answer)


def test_of_a_reply_that_was_cut_off_the_last_line_is_no_answer() -> None:
    prompt = PROMPTS["throughput"]
    assert prompt.read("12") == Predicted(answer=12.0)
    assert prompt.read("12", cut=True) == MALFORMED
    assert prompt.read("12\nTwo lo", cut=True) == Predicted(answer=12.0)


def test_a_digest_moves_with_every_word_and_between_tasks() -> None:
    plain = Prompts()
    assert plain.digest == Prompts().digest
    others = [customised(system="Be brief."), customised(system=""), customised(template="Name it: {source}")]
    digests = {plain.digest, *(other.digest for other in others)}
    assert len(digests) == 4
    assert len({prompt.digest for prompt in PROMPTS.values()}) == len(PROMPTS)


def test_a_template_of_ones_own_is_asked_and_the_format_stays() -> None:
    prompts = customised(template="Name this {language}:\n{code}", system="Be brief.")
    question = query("function-name")
    assert prompts.of(question).messages(question) == (
        Message("system", "Be brief."),
        Message("user", f"Name this Python:\n```python\n{CODE.strip()}\n```"),
    )
    assert prompts.of(question).read(PAIR) == Predicted(answer="compute_mean")
    with pytest.raises(UsageError, match="no place for the code"):
        customised(template="Name it.")


def test_a_task_without_a_prompt_is_an_error_that_names_those_with_one() -> None:
    with pytest.raises(ModelError, match="no prompt for the task 'riddles'; there is one for function-name"):
        Prompts().of(query("riddles"))


@pytest.mark.parametrize("task", ["generation", "next-line"])
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("    return a\n\n\ndef g():", "    return a\n\n\ndef g():"),
        ("", ""),
        ("<think>\nreturn?\n</think>    return a", "    return a"),
        ("<think>\nreturn?", ""),
        ("Answer: buggy", "Answer: buggy"),
    ],
)
def test_code_that_goes_on_with_the_source_is_taken_whole(task: str, text: str, answer: str) -> None:
    assert read(task, text) == answer
    assert PROMPTS[task].read(text, cut=True) == PROMPTS[task].read(text), "models of text end nowhere else"


def test_a_template_of_the_users_is_asked_of_models_of_text_too() -> None:
    prompt = customised(template="Go on: {source}").of(query("generation"))
    assert prompt.text(query("generation")) == f"Go on: {CODE}\n\nAnswer:"
    assert customised(system="Be brief.").of(query("generation")).text(query("generation")) == CODE


WAYS = [(task, name) for task in PROMPTS for name in SUMMARIES if TASKS.get(task).asked(name) is not None]


@pytest.mark.thinned(26)
@pytest.mark.parametrize(("task", "name"), WAYS)
def test_every_prompt_holds_the_source_and_nothing_left_to_fill(task: str, name: str) -> None:
    language = TASKS.get(task).language
    for each in {language, "python", "java", "go"}:
        text = (
            Prompts(name=name)
            .of(query(task, "x = '{unit} {examples}'", each))
            .messages(query(task, "x = '{unit} {examples}'", each))
        )
        (message,) = text
        assert message.content.count("x = '{unit} {examples}'") == 1
        for place in ("{code}", "{source}", "{language}", "{examples}", "{unit}", "{style}"):
            assert message.content.count(place) == (place in "{unit} {examples}")


def test_prompts_of_one_task_differ_and_each_is_in_the_fingerprint() -> None:
    for task, prompt in PROMPTS.items():
        prompts = [TASKS.get(task).asked(name) for name in SUMMARIES if name != "spe"]
        digests = [prompt.digest for prompt in prompts if prompt is not None]
        assert len(set(digests)) == len(digests) >= 3
        assert prompt.digest == digests[0]
    assert len({Prompts(name=name).digest for name in SUMMARIES}) == len(SUMMARIES)


def test_examples_are_of_the_language_and_right() -> None:
    asked = Prompts(name="few-shot")
    for language, word in (("java", "static int"), ("python", "def MASK"), ("javascript", "function MASK")):
        text = (
            asked.of(query("function-name", language=language))
            .messages(query("function-name", "SOURCE", language))[0]
            .content
        )
        assert text.index(word) < text.index("SOURCE")
    for task in TASKS.built_in:
        wording = TASKS.get(task).wordings.get("few-shot")
        for each in () if wording is None else wording.examples.values():
            for example in each:
                read = PROMPTS[task].read(example.answer)
                assert isinstance(read, Predicted), (task, example)


@pytest.mark.parametrize(
    ("task", "text", "answer"),
    [
        ("error-detection", "It may be buggy.\nThe loop is fine.\nAnswer: clean", "clean"),
        ("error-detection", "buggy\n\nOn second thought it is right.\n\n**Answer: clean**", "clean"),
        ("error-detection", "Answer: buggy? No, the bound is right.\nAnswer: clean", "clean"),
        ("error-detection", "The bound is wrong.\n\nbuggy", "buggy"),
        ("error-detection", "It may be buggy or clean.", None),
        ("error-detection", "Answer: buggy or clean", None),
        ("function-name", "It reads a file.\n[not_this] is short.\nAnswer: [read_file] [rf]", "read_file"),
        ("function-name", "Candidates: `load`, `read_file`.\n\nAnswer:\n[read_file] [rf]", "read_file"),
        ("function-name", "It reads a file, I would say.", None),
        ("output-prediction", "1 + 1 is 2.\nAnswer: [2]", "[2]"),
        ("throughput", "2 loads, 3 adds.\nAnswer: 1.25", 1.25),
        ("derivative", "true for x, I think, but no.\nAnswer: false", "false"),
    ],
)
def test_of_a_reply_with_thoughts_the_last_line_is_the_answer(
    task: str, text: str, answer: str | float | None
) -> None:
    prompt = TASKS.get(task).asked("reasoning")
    assert prompt is not None
    prediction = prompt.read(text)
    assert (prediction.answer if isinstance(prediction, Predicted) else None) == answer
    assert isinstance(prompt.read(text, cut=True), Failed), "its last line may be missing"
