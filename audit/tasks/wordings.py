"""Other ways to ask the questions of the built-in tasks (`codeaudit run --prompt NAME`).

`reworded` asks the same in other words, `native` in the words of the language's own people, `few-shot` with
solved examples before the code, `reasoning` lets a model think before its last line. The answer has the same
form everywhere, except that in `reasoning` it stands behind `Answer:`. Each task has those that fit it.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from codeaudit.audit.prompts import SolvedExample, Wording

Wordings: TypeAlias = Mapping[str, Wording]

SUMMARIES: Final[Mapping[str, str]] = {
    "plain": "the task's own prompt, as without --prompt",
    "reworded": "the same question in other words",
    "native": "in the words of the language: a Java method in camelCase, a Python function in snake_case",
    "few-shot": "with solved examples before the code",
    "reasoning": "the model may think first; its last line is the answer",
    "yes-no": "a choice of YES and NO, as PrimeVul's authors ask (Ding et al. 2024, arXiv 2403.18624)",
    "spe": "the words of the SPE paper, appendix B (function names); there `plain` has them, too",
}
"""What each prompt is, for lists."""

_LAST_LINE: Final = (
    "Think first, step by step, in as many words as you need. Then end with one last line of this form, and "
    "write nothing behind it:\nAnswer: {form}\n\n{{code}}"
)


def _thinking(question: str, form: str) -> Wording:
    return Wording(f"{question} {_LAST_LINE.format(form=form)}", thinks=True)


def _solved(question: str, examples: Mapping[str, tuple[SolvedExample, ...]]) -> Wording:
    return Wording(
        template=f"{question}\n\n{{examples}}\n\nNow this one. Write its answer alone.\n\n{{code}}",
        examples=examples,
    )


# ── function names ───────────────────────────────────────────────────────────────────────────────────────

APPENDIX_B: Final = (
    "I have a segment of {language} function code and need help determining a suitable name for it. "
    "Analyze the function's logic, inputs/outputs, and purpose, then suggest a suitable full name. "
    "Then, generate a common abbreviation (if applicable) based on the full name. Return the format: "
    "[full_name] [abbreviation], with each enclosed in separate brackets. Only provide the two "
    "names, no additional text. Here is the code:\n{source}"
)
"""The words of spe-attention, appendix B, with the language in the place of "Python"."""
_NAMED: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "python": (
        SolvedExample(
            "def MASK(path):\n    with open(path) as file:\n        return file.read().splitlines()",
            "[read_lines] [rl]",
        ),
        SolvedExample(
            "def MASK(values):\n    return sum(values) / len(values) if values else 0.0",
            "[average] [avg]",
        ),
    ),
    "java": (
        SolvedExample(
            "static int MASK(int[] values) {\n    int most = values[0];\n    for (int value : values) {\n"
            "        most = Math.max(most, value);\n    }\n    return most;\n}",
            "[findMaximum] [max]",
        ),
        SolvedExample(
            "boolean MASK(String text) {\n    return text == null || text.isEmpty();\n}",
            "[isNullOrEmpty] [empty]",
        ),
    ),
    "javascript": (
        SolvedExample(
            "function MASK(items) {\n  return items.filter((item, i) => items.indexOf(item) === i);\n}",
            "[removeDuplicates] [dedup]",
        ),
        SolvedExample("function MASK(n) {\n  return n % 2 === 0;\n}", "[isEven] [even]"),
    ),
    "c": (
        SolvedExample(
            "int MASK(const int *values, int n) {\n    int total = 0;\n    for (int i = 0; i < n; i++) {\n"
            "        total += values[i];\n    }\n    return total;\n}",
            "[sum_array] [sum]",
        ),
        SolvedExample("int MASK(int a, int b) {\n    return a < b ? a : b;\n}", "[minimum] [min]"),
    ),
}

FUNCTION_NAME: Final[Wordings] = {
    "spe": Wording(APPENDIX_B),
    "reworded": Wording(
        "The name of this {language} function is hidden. What would a careful programmer call it? Reply "
        "with two names in square brackets and with nothing else: first the name, then a short form of "
        "it, as in [full_name] [abbreviation].\n\n{code}"
    ),
    "native": Wording(
        "Name this {language} {unit}. Write its name in {style}, as {language} programmers do, and a "
        "short form behind it, each in square brackets: [full_name] [abbreviation]. No additional "
        "text.\n\n{code}"
    ),
    "few-shot": _solved(
        "Find a suitable name for a {language} function whose name is hidden. The answer is the name and a "
        "short form of it, each in square brackets: [full_name] [abbreviation]. Solved examples:",
        _NAMED,
    ),
    "reasoning": _thinking(
        "The name of this {language} function is hidden. What does the function do, and what should it be "
        "called?",
        "[full_name] [abbreviation]",
    ),
}

# ── bugs ─────────────────────────────────────────────────────────────────────────────────────────────────

_BUGS: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "python": (
        SolvedExample("def is_even(n):\n    return n % 2 == 1", "buggy"),
        SolvedExample("def last(items):\n    return items[-1] if items else None", "clean"),
    ),
    "java": (
        SolvedExample("static boolean isEven(int n) {\n    return n % 2 == 1;\n}", "buggy"),
        SolvedExample("static int larger(int a, int b) {\n    return a > b ? a : b;\n}", "clean"),
    ),
    "javascript": (
        SolvedExample("function isEven(n) {\n  return n % 2 === 1;\n}", "buggy"),
        SolvedExample("function larger(a, b) {\n  return a > b ? a : b;\n}", "clean"),
    ),
    "c": (
        SolvedExample("int is_even(int n) {\n    return n % 2 == 1;\n}", "buggy"),
        SolvedExample("int larger(int a, int b) {\n    return a > b ? a : b;\n}", "clean"),
    ),
}

ERROR_DETECTION: Final[Wordings] = {
    "reworded": Wording(
        "Read this {language} function and say if there is a mistake in it. Reply with a single word: "
        "buggy if there is one, clean if there is none.\n\n{code}"
    ),
    "native": Wording(
        "You review a change to {language} code. It adds this {unit}. Is it right? Write one word on the "
        "first line and nothing else: buggy or clean.\n\n{code}"
    ),
    "few-shot": _solved(
        "Is a {language} function buggy or clean? It is buggy if it does something else than it is meant to. "
        "The answer is one word. Solved examples:",
        _BUGS,
    ),
    "reasoning": _thinking(
        "Does this {language} function have a bug? It is buggy if it does something else than it is meant "
        "to, clean if it is right.",
        "buggy (or: clean)",
    ),
}

# ── vulnerabilities ──────────────────────────────────────────────────────────────────────────────────────

_FLAWS: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "c": (
        SolvedExample(
            "void greet(const char *name) {\n    char text[16];\n    strcpy(text, name);\n    puts(text);\n}",
            "vulnerable (CWE-121)",
        ),
        SolvedExample("int larger(int a, int b) {\n    return a > b ? a : b;\n}", "safe"),
    ),
    "python": (
        SolvedExample(
            'def find(cursor, name):\n    cursor.execute("SELECT * FROM t WHERE n = \'" + name + "\'")',
            "vulnerable (CWE-89)",
        ),
        SolvedExample("def larger(a, b):\n    return a if a > b else b", "safe"),
    ),
}
VULNERABILITY_DETECTION: Final[Wordings] = {
    "reworded": Wording(
        "Could an attacker misuse this {language} function? Reply with one word: vulnerable if it has a "
        "security flaw (you may put its CWE in brackets behind it), safe if it has none.\n\n{code}"
    ),
    "native": Wording(
        "You review the security of {language} code. Here is a {unit}. Write on the first line and "
        "nothing else: vulnerable, with its CWE in brackets if you know it, or safe.\n\n{code}"
    ),
    "yes-no": Wording(
        "Look for security flaws in this {language} {unit}. Is there at least one? Write one word and "
        "nothing else: YES if there is, NO if there is none.\n\n{code}"
    ),
    "few-shot": _solved(
        "Is a {language} function vulnerable or safe? It is vulnerable if an attacker can misuse it. The "
        "answer is one word, with the CWE in brackets behind `vulnerable`. Solved examples:",
        _FLAWS,
    ),
    "reasoning": _thinking(
        "Does this {language} function have a security vulnerability, or is it safe?",
        "vulnerable (or: safe)",
    ),
}

# ── pairs ────────────────────────────────────────────────────────────────────────────────────────────────

_PAIR: Final = "The first:\n\n{code}\n\nThe second:\n\n{other}"


def _thinking_of_pairs(question: str, form: str) -> Wording:
    return Wording(
        template=f"{question} {_LAST_LINE.format(form=form).removesuffix('{code}')}{_PAIR}", thinks=True
    )


def _pairs(same: str, different: str) -> Mapping[str, tuple[SolvedExample, ...]]:
    """Solved pairs: two ways to write one function, and two functions that look alike."""
    return {
        "python": (
            SolvedExample(
                "def f(values):\n    return [one for one in values if one]",
                same,
                "def f(items):\n    return list(filter(None, items))",
            ),
            SolvedExample(
                "def f(a, b):\n    return a if a < b else b",
                different,
                "def f(a, b):\n    return a if a > b else b",
            ),
        ),
        "java": (
            SolvedExample(
                "int f(int[] a) {\n    int t = 0;\n    for (int x : a) {\n        t += x;\n    }\n"
                "    return t;\n}",
                same,
                "int f(int[] v) {\n    int s = 0;\n    for (int i = 0; i < v.length; i++) {\n"
                "        s += v[i];\n    }\n    return s;\n}",
            ),
            SolvedExample(
                "int f(int a, int b) {\n    return a < b ? a : b;\n}",
                different,
                "int f(int a, int b) {\n    return a > b ? a : b;\n}",
            ),
        ),
        "javascript": (
            SolvedExample(
                "function f(text) {\n  return text.length === 0;\n}",
                same,
                "function f(word) {\n  return !(word.length !== 0);\n}",
            ),
            SolvedExample(
                "function f(a, b) {\n  return a < b ? a : b;\n}",
                different,
                "function f(a, b) {\n  return a > b ? a : b;\n}",
            ),
        ),
        "c": (
            SolvedExample(
                "int f(int a, int b) {\n    return a < b ? a : b;\n}",
                same,
                "int f(int x, int y) {\n    if (x < y) {\n        return x;\n    }\n    return y;\n}",
            ),
            SolvedExample(
                "int f(int a, int b) {\n    return a < b ? a : b;\n}",
                different,
                "int f(int a, int b) {\n    return a > b ? a : b;\n}",
            ),
        ),
    }


def _solved_pairs(question: str, same: str, different: str) -> Wording:
    return Wording(
        template=f"{question}\n\n{{examples}}\n\nNow these two. Write the answer alone.\n\n{_PAIR}",
        examples=_pairs(same, different),
    )


EQUIVALENCE: Final[Wordings] = {
    "reworded": Wording(
        "Here are two {language} programs. Could one replace the other without anybody noticing, "
        f"whatever the input is? Reply with one word: same if it could, different if not.\n\n{_PAIR}"
    ),
    "native": Wording(
        "A colleague rewrote a {language} {unit}. Does the new one behave exactly as the old one? Write "
        f"one word: same, or different.\n\n{_PAIR}"
    ),
    "few-shot": _solved_pairs(
        "Do these two {language} programs do the same for every input? Answer with one word: same or "
        "different. Solved examples, each with two programs:",
        "same",
        "different",
    ),
    "reasoning": _thinking_of_pairs(
        "Do these two {language} programs do the same for every input, or something different?",
        "same (or: different)",
    ),
}

CLONE_DETECTION: Final[Wordings] = {
    "reworded": Wording(
        "Here are two {language} functions. Do they do the same job, however they are written? Reply "
        f"with one word: clone if they do, different if not.\n\n{_PAIR}"
    ),
    "native": Wording(
        "You look for copies in a {language} project. Is the second {unit} a clone of the first one, of "
        f"any type (1 to 4)? Write one word: clone, or different.\n\n{_PAIR}"
    ),
    "few-shot": _solved_pairs(
        "Do these two {language} functions implement the same functionality? Answer with one word: clone or "
        "different. Solved examples, each with two functions:",
        "clone",
        "different",
    ),
    "reasoning": _thinking_of_pairs(
        "Are these two {language} functions clones, or do they do something different?",
        "clone (or: different)",
    ),
}

# ── cycles ───────────────────────────────────────────────────────────────────────────────────────────────

_BLOCKS: Final = {
    "x86": (
        SolvedExample("addq %rax, %rbx\naddq %rbx, %rax", "2"),
        SolvedExample("imulq %rcx, %rcx", "3"),
    )
}
THROUGHPUT: Final[Wordings] = {
    "reworded": Wording(
        "An Intel Haswell processor repeats the following {language} instructions (AT&T syntax) in a "
        "loop; all data is in the first-level cache. Estimate the cycles per iteration in the steady "
        "state. Reply with a single number, such as 2.25.\n\n{code}"
    ),
    "native": Wording(
        "Inverse throughput of this {unit} ({style}) on Haswell, unrolled, L1-resident, in cycles per "
        "iteration? One number on the first line, no additional text.\n\n{code}"
    ),
    "few-shot": _solved(
        "How many cycles does one iteration of a basic block of {language} (AT&T syntax) take, run in a loop "
        "on an Intel Haswell processor, in the steady state? The answer is one number. Solved examples:",
        _BLOCKS,
    ),
    "reasoning": _thinking(
        "This basic block of {language} (AT&T syntax) is run in a loop on an Intel Haswell processor. "
        "Nothing misses the first-level cache. How many cycles does one iteration take on average, in the "
        "steady state?",
        "a number, such as 2.25",
    ),
}

# ── derivatives ──────────────────────────────────────────────────────────────────────────────────────────

_TERMS: Final = {
    "algebra": (
        SolvedExample("mul x x =? mul INT+ 2 x", "true"),
        SolvedExample("sin x =? sin x", "false"),
    )
}
_NOTATION: Final = (
    "Two expressions in prefix notation stand on the left and on the right of =?. An operator stands before "
    "its operands; INT+ and INT- begin an integer, whose decimal digits follow; x is the variable, all other "
    "names are constants."
)
DERIVATIVE: Final[Wordings] = {
    "reworded": Wording(
        f"{_NOTATION} If you differentiate the left one by x, do you get the right one, perhaps written "
        "in another form? Reply with true or with false, and with nothing else.\n\n{source}"
    ),
    "native": Wording(
        "f =? g, both in {style}, with INT+ or INT- before the digits of an integer and constants for "
        "all names but x. Is df/dx = g? One word on the first line: true or false.\n\n{source}"
    ),
    "few-shot": _solved(
        f"{_NOTATION} Is the right one the derivative of the left one by x? The answer is true or false. "
        "Solved examples:",
        _TERMS,
    ),
    "reasoning": _thinking(
        f"{_NOTATION} Is the right expression the derivative of the left one by x, in whatever form it is "
        "written?",
        "true (or: false)",
    ),
}

# ── results ──────────────────────────────────────────────────────────────────────────────────────────────

_CALLS: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "python": (
        SolvedExample("def f(items):\n    return items[::-1]\n\nf([1, 2, 3])", "[3, 2, 1]"),
        SolvedExample("def f(a, b):\n    return a / b\n\nf(1, 0)", "ZeroDivisionError"),
    ),
}
OUTPUT_PREDICTION: Final[Wordings] = {
    "reworded": Wording(
        "Run this {language} code in your head. Which value does the call at its end give? Reply with "
        "that value alone, on one line, in the form that repr() gives it. If it raises an exception, "
        "reply with the name of its type alone.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nWhat would the {language} prompt print for the last line? Write repr() of the result "
        "on one line, or the exception's type alone. No additional text."
    ),
    "few-shot": _solved(
        "Some {language} code ends with a call. What does the call return? The answer is one line: the value "
        "as repr() writes it, or, if the call raises an exception, the name of the exception's type. Solved "
        "examples:",
        _CALLS,
    ),
    "reasoning": _thinking(
        "This {language} code ends with a call. What does the call return? The answer is the value as repr() "
        "writes it, or, if the call raises an exception, the name of the exception's type alone.",
        "the value",
    ),
}

_CALLS_IN_JAVASCRIPT: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "javascript": (
        SolvedExample("const f = (items) => items.slice(1);\n\nf([1, 2, 3])", "[2, 3]"),
        SolvedExample("function f(text) {\n  return text.a.b;\n}\n\nf('x')", "TypeError"),
    ),
}
OUTPUT_PREDICTION_IN_JAVASCRIPT: Final[Wordings] = {
    "reworded": Wording(
        "Run this {language} code in your head. Which value does the call at its end give? Reply with "
        "that value alone, on one line, as a literal. If the call throws an error, reply with the name "
        "of the error's type alone.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nWhat would node print for the last line? Write the value as a literal on one line, or "
        "the error's type alone. No additional text."
    ),
    "few-shot": _solved(
        "Some {language} code ends with a call. What does the call return? The answer is one line: the value "
        "as a literal, or, if the call throws an error, the name of the error's type. Solved examples:",
        _CALLS_IN_JAVASCRIPT,
    ),
    "reasoning": _thinking(
        "This {language} code ends with a call. What does the call return? The answer is the value as a "
        "literal, or, if the call throws an error, the name of the error's type alone.",
        "the value",
    ),
}

_CALLS_IN_C: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "c": (
        SolvedExample("int f(int a, int b) {\n  return a * b + 1;\n}\n\nf(2, 3);", "7"),
        SolvedExample(
            "double f(int *v, int n) {\n  return v[n - 1] / 2.0;\n}\n\nf((int[]){1, 4}, 2);", "2.0"
        ),
    ),
    "cpp": (
        SolvedExample(
            "std::vector<int> f(std::vector<int> items) {\n  items.pop_back();\n  return items;\n}\n\n"
            "f({1, 2, 3});",
            "{1, 2}",
        ),
        SolvedExample("double f(double a) {\n  return a * 2;\n}\n\nf(1);", "2.0"),
    ),
}
OUTPUT_PREDICTION_IN_C: Final[Wordings] = {
    "reworded": Wording(
        "Run this {language} code in your head. Which value does the call at its end give? Reply with "
        "that value alone, on one line, as a literal: a container as a list in braces, such as {1, 2}, "
        "and a floating-point number with a point.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nWhich {language} literal could stand in place of the call on the last line? Write it "
        "on one line: a container as a list in braces, and a floating-point number with a point. No "
        "additional text."
    ),
    "few-shot": _solved(
        "Some {language} code ends with a call. What does the call return? The answer is one line: the value "
        "as a literal. Solved examples:",
        _CALLS_IN_C,
    ),
    "reasoning": _thinking(
        "This {language} code ends with a call. What does the call return? The answer is the value as a "
        "literal: a container as a list in braces, such as {1, 2}, and a floating-point number with a point.",
        "the value",
    ),
}

INPUT_PREDICTION: Final[Wordings] = {
    "reworded": Wording(
        "Find an input. The last line of this {language} code holds if its call has the right arguments. "
        "Reply with that call, all arguments written as literals, in one fence and with nothing "
        "else.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nReplace the dots in the last line by literals, so that the assertion passes. Write "
        "the completed line in one fence. No additional text."
    ),
}
INPUT_PREDICTION_BY_COMMENT: Final[Wordings] = {
    **INPUT_PREDICTION,
    "native": Wording(
        "{code}\n\nReplace the comment in the last line by literals, so that the assertion passes. Write "
        "the completed line in one fence. No additional text."
    ),
}

REPAIR: Final[Wordings] = {
    "reworded": Wording(
        "Tests of the last function below fail. Find its fault and mend it. Reply with the whole mended "
        "function, its name unchanged, in one fence and with nothing else. The language is "
        "{language}.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nThe last {unit} of this {language} code is wrong. Write it again, corrected, with the "
        "same head. Answer with one fence. No additional text."
    ),
}

TRANSLATION_MATCH: Final[Wordings] = {
    "reworded": Wording(
        "Write the {language} code below in {text} instead; what it does stays the same. Reply with the "
        "translated code in one fence and with nothing else.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nPort this {unit} to {text}, without any change of what it does. Answer with one "
        "fence. No additional text."
    ),
}

TRANSLATION: Final[Wordings] = {
    "reworded": Wording(
        "Translate. The comments at the end of the {language} code below say into which language, and "
        "how the result begins. Reply with the translated function, head and body, in one fence and with "
        "nothing else.\n\n{code}"
    ),
    "native": Wording(
        "{code}\n\nPort this {unit} as the last comments ask: same behaviour, the given head. Answer "
        "with one fence. No additional text."
    ),
}

# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────


def classification(listed: str) -> Wordings:
    """With these labels, one a line. There are no examples, because nobody knows what the labels mean."""
    return {
        "reworded": Wording(
            "Which of these labels fits the {language} function below?\n\n"
            f"{listed}\n\nReply with one label and nothing else, spelled as above.\n\n{{code}}"
        ),
        "native": Wording(
            "You sort {language} code. Give this {unit} one of these labels, exactly as it stands here, "
            f"on the first line and with no additional text:\n\n{listed}\n\n{{code}}"
        ),
        "reasoning": _thinking(
            f"Classify this {{language}} function. These are the labels:\n\n{listed}\n\n", "one of the labels"
        ),
    }


# ── code ─────────────────────────────────────────────────────────────────────────────────────────────────

NEXT_LINE: Final[Wordings] = {
    "reworded": Wording(
        "Here is the beginning of some {language} code. Which line would come next in its last function? "
        "Reply with that one line and nothing else.\n\n{code}"
    ),
    "native": Wording(
        "Continue this {language} {unit} by exactly one line. Write the line and no additional "
        "text.\n\n{code}"
    ),
}
GENERATION: Final[Wordings] = {
    "reworded": Wording(
        "The last function of this {language} code is unfinished. Complete it: reply with the missing "
        "rest, indented as it has to be, in one fence and with nothing around it.\n\n{code}"
    ),
    "native": Wording(
        "Finish the last {unit} of this {language} code. Write only what is missing behind the last "
        "line, with its indentation, in one fence. No additional text.\n\n{code}"
    ),
}

# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────

_SUMMARISED: Final[Mapping[str, tuple[SolvedExample, ...]]] = {
    "python": (
        SolvedExample(
            "def average(values):\n    return sum(values) / len(values) if values else 0.0",
            "Return the mean of the values, or zero if there are none.",
        ),
    ),
    "java": (
        SolvedExample(
            "boolean isBlank(String text) {\n    return text == null || text.trim().isEmpty();\n}",
            "Tells whether a text is missing or has nothing but white space.",
        ),
    ),
}

SUMMARISATION: Final[Wordings] = {
    "reworded": Wording(
        "Somebody reads this {language} code for the first time. Tell them in one sentence what it is "
        "for. Reply with that sentence alone.\n\n{code}"
    ),
    "native": Wording(
        "Write the first sentence of the documentation of this {language} {unit}, as {language} "
        "programmers write it, without parameters and results. No additional text.\n\n{code}"
    ),
    "few-shot": _solved(
        "Summarise a {language} {unit} in one sentence. Solved examples:",
        _SUMMARISED,
    ),
}

# ── search ───────────────────────────────────────────────────────────────────────────────────────────────

CLONE_SEARCH: Final[Wordings] = {
    "reworded": Wording(
        "Here is a piece of {language} code:\n\n{code}\n\nBelow are others, each with its number. Reply "
        "with the numbers of those that do the same job, the surest first, with commas between, and with "
        "nothing else.\n\n{candidates}"
    ),
    "reasoning": Wording(
        (
            "Which of the numbered {language} functions do the same as this one? Think first, step by step, "
            "in as many words as you need. Then end with one last line of this form, and write nothing "
            "behind it:\nAnswer: numbers, the likeliest first, with commas between\n\n{code}\n\nThe numbered "
            "functions:\n\n{candidates}"
        ),
        thinks=True,
    ),
}
CODE_SEARCH: Final[Wordings] = {
    "reworded": Wording(
        "Somebody looks for code that does this: {text}\n\nHere are pieces of {language} code, each "
        "with its number. Reply with the number of the one that fits best, and with nothing "
        "else.\n\n{candidates}"
    ),
    "reasoning": Wording(
        (
            "Which of these {language} functions does what the query says? Think first, step by step, in as "
            "many words as you need. Then end with one last line of this form, and write nothing behind "
            "it:\nAnswer: number\n\nQuery: {text}\n\n{candidates}"
        ),
        thinks=True,
    ),
}
