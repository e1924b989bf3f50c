"""Published robustness suites: which of our transforms come near to those of a paper, and what differs.

`--transform suite/NAME` stands for our transforms of a suite. This table holds all that is known of each: the
pages, `codeaudit list suites` and the command line read it. The originals' names are those of the authors'
repositories. What a repository or an abstract does not say is not stated here.
"""

from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown

SUITE: Final = "suite"
"""The form `suite/NAME`: our transforms of a published suite."""


NOT_MEANT: Final = frozenset({"algebra", "x86"})
"""Languages that no suite is about: registers and letters of a formula are not the variables of a program."""


@dataclass(frozen=True, slots=True)
class Original:
    """One transform of a published suite."""

    name: str
    """The name in the authors' repository."""
    ours: tuple[str, ...] = ()
    """Our counterparts; a language may have only some of them."""
    note: str = ""
    """How ours differ, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSuite:
    """A suite of a paper, with our counterparts."""

    summary: str
    """One line for `codeaudit list`."""
    paper: str
    source: str
    """The repository in which the transforms were looked up."""
    originals: tuple[Original, ...]
    differences: tuple[str, ...]
    """What else differs in the set-up, a sentence each."""
    figures: str = ""
    """What the paper's abstract says that it found, in a sentence."""
    attack: str = ""
    """The strategies of `--attack` that come nearest to the original's search."""


_NO_WORDS: Final = "edits the words or letters of a name; our names do not come from the old one"
_NO_SYNONYMS: Final = "adds words that a thesaurus relates to others; they may ask for something else"
_RECODE: Final = (
    "Wang et al., ReCode: Robustness Evaluation of Code Generation Models, 2022, arXiv 2212.10264"
)
_RECODE_SOURCE: Final = "https://github.com/amazon-science/recode"
_RECODE_FIGURES: Final = (
    "People who were asked found that over 90 % of the perturbed prompts keep the meaning."
)
_RECODE_SETUP: Final = (
    "The original perturbs prompts of HumanEval and MBPP and runs tests of what a model completes; "
    "here a suite runs on any task, and `--task generation` is the nearest.",
    "The original reports the worst case over several random variants of a prompt; "
    "`--variants` gives several, and the drop of the score is that of each sample's worst answer.",
    "The group of docstrings is `suite/recode-docstring`: words may mean something else, so its rates are "
    "marked as assumed and stand apart.",
)

SUITES: Final[dict[str, PublishedSuite]] = {
    "recode-function": PublishedSuite(
        summary="ReCode's names of functions",
        paper=_RECODE,
        source=_RECODE_SOURCE,
        figures=_RECODE_FIGURES,
        originals=(
            Original("FuncRenameCamelCase", note="no transform changes only the style of a name"),
            Original("FuncRenameButterFinger", note=_NO_WORDS),
            Original("FuncRenameSwapChar", note=_NO_WORDS),
            Original("FuncRenameChangeChar", note=_NO_WORDS),
            Original("FuncRenameInflectionalVariation", note=_NO_WORDS),
            Original(
                "FuncRenameSynonymSub",
                ("rename-functions", "rename-inner-functions"),
                "another name, not a synonym; only functions that no other file names",
            ),
        ),
        differences=(
            "The original renames the function that the model is to complete; "
            "here only functions are renamed whose callers are all in the text.",
            *_RECODE_SETUP,
        ),
    ),
    "recode-syntax": PublishedSuite(
        summary="ReCode's code syntax",
        paper=_RECODE,
        source=_RECODE_SOURCE,
        figures=_RECODE_FIGURES,
        originals=(
            Original("BlockSwap", ("invert-if",)),
            Original(
                "DeadCodeInserter",
                ("unreachable-branches",),
                "the original copies a statement of the code into a dead loop or branch",
            ),
            Original(
                "DeadCodeInserterLast",
                note="inserts at the end of the part that a prompt shows; our units have no such place",
            ),
            Original("ForWhileTransformer", ("for-to-while", "while-to-for")),
            Original("OperandSwap", ("flip-comparisons", "swap-operands")),
            Original("VarRenamerCB", ("rename",), "names that other functions use, not those of CodeBERT"),
            Original("VarRenamerNaive", ("rename-canonical",), "v0, v1, … for all locals, not VAR_0 for one"),
            Original("VarRenamerRN", ("rename-random",), "pronounceable names, not letters and digits"),
        ),
        differences=(
            "The original renames the most frequent variable, parameters too; here locals are renamed.",
            *_RECODE_SETUP,
        ),
    ),
    "recode-format": PublishedSuite(
        summary="ReCode's code format",
        paper=_RECODE,
        source=_RECODE_SOURCE,
        figures=_RECODE_FIGURES,
        originals=(
            Original("tab_indent", ("indentation",), "2, 3, 4 or 8 blanks or a tab"),
            Original(
                "split_lines",
                ("split-lines",),
                "behind a comma in brackets; the original breaks the longest line with a backslash",
            ),
            Original("doc2comments", note="no transform turns a docstring into a comment"),
            Original("new_lines", ("insert-blank-lines",)),
            Original(
                "new_line_afterdoc", ("insert-blank-lines",), "anywhere between statements, not at one place"
            ),
            Original("new_line_aftercode", note="a line break at the end of the prompt; our units end there"),
            Original(
                "indent_new_line_aftercode", note="a line break at the end of the prompt; our units end there"
            ),
        ),
        differences=_RECODE_SETUP,
    ),
    "recode-docstring": PublishedSuite(
        summary="ReCode's words of docstrings",
        paper=_RECODE,
        source=_RECODE_SOURCE,
        figures=_RECODE_FIGURES,
        originals=(
            Original("BackTranslation", note="needs a model that translates"),
            Original("ButterFingersPerturbation", ("prose-typos",), "one typo in four words"),
            Original("ChangeCharCase", ("prose-case",), "of a word in four, not of single letters"),
            Original("EnglishInflectionalVariation", note="needs the inflections of English"),
            Original("SwapCharactersPerturbation", ("prose-typos",), "one typo in four words"),
            Original("SynonymInsertion", note=_NO_SYNONYMS),
            Original("SynonymSubstitution", ("prose-paraphrase",), "phrases of a fixed table"),
            Original("TenseTransformationPast", note="needs the tenses of English"),
            Original("TenseTransformationFuture", note="needs the tenses of English"),
            Original("Whitespace", ("prose-spacing",), "one edit in four words"),
        ),
        differences=(
            "Examples, lines with code and names of the code stay as they are.",
            *_RECODE_SETUP[:2],
            "That the words still ask for the same is assumed: these rates stand apart from all others.",
        ),
    ),
    "alert": PublishedSuite(
        summary="ALERT's substitution of variable names",
        paper="Yang et al., Natural Attack for Pre-trained Models of Code, ICSE 2022, arXiv 2201.08698",
        source="https://github.com/soarsmu/attack-pretrain-models-of-code",
        originals=(
            Original(
                "substitution of variable names",
                ("rename", "rename-parameters"),
                "the original makes substitutes that are to look natural to people",
            ),
        ),
        differences=(
            "The original's repository has a greedy and a genetic search; add `--attack greedy,genetic`.",
            "The original attacks CodeBERT and GraphCodeBERT on vulnerability prediction, clone detection "
            "and authorship attribution; here any model and task.",
            "The original counts successes against the true label; "
            "here an attack succeeds where the answer changes.",
        ),
        figures="Attacks on CodeBERT succeeded for 53.62 % (vulnerability prediction), 27.79 % (clone "
        "detection) and 35.78 % (authorship attribution); on GraphCodeBERT for 76.95 %, 7.96 % and 61.47 %.",
        attack="greedy,genetic",
    ),
    "coda": PublishedSuite(
        summary="CODA's structure and name transformations",
        paper="Tian, Chen and Jin, Code Difference Guided Adversarial Example Generation for Deep Code "
        "Models, ASE 2023, arXiv 2301.02412",
        source="https://github.com/tianzhaotju/CODA",
        originals=(
            Original("R1-loop", ("for-to-while", "while-to-for")),
            Original(
                "R2-branch",
                ("else-to-return", "return-to-else"),
                "only behind a branch that leaves: elsewhere the second condition may read what the first "
                "branch wrote",
            ),
            Original(
                "R3-calculation",
                ("expand-augmented", "contract-augmented", "expand-increments", "contract-increments"),
            ),
            Original("R4-constant", note="no transform moves a constant into a variable"),
            Original(
                "identifier renaming",
                ("rename", "rename-parameters"),
                "of variables; the original also renames functions",
            ),
        ),
        differences=(
            "The original takes names and styles from reference inputs of another label; here none are used.",
            "The original tries a bounded number of candidates; add `--attack random` and a `--budget`.",
        ),
        attack="random",
    ),
    "averloc": PublishedSuite(
        summary="the transforms of averloc",
        paper="Ramakrishnan et al., Semantic Robustness of Models of Source Code, 2020, arXiv 2002.03043",
        source="https://github.com/jjhenkel/averloc",
        originals=(
            Original("AddDeadCode", ("unreachable-branches",)),
            Original("InsertPrintStatements", note="meaning not kept: the program writes more"),
            Original("RenameFields", note="meaning not kept: other methods and classes may read the field"),
            Original("RenameLocalVariables", ("rename",)),
            Original("RenameParameters", ("rename-parameters",)),
            Original("ReplaceTrueFalse", ("bool-literals",), "the original compares a text with itself"),
            Original("UnrollWhiles", ("unroll-while",)),
            Original("WrapTryCatch", note="no transform wraps a body in a try"),
        ),
        differences=(
            "The original is for methods of Java and functions of Python.",
            "The original also applies five transforms in a row (depth 5); "
            "`--mixed suite/averloc` puts several into one variant.",
            "The original also attacks by the model's gradient; here no gradient is read.",
        ),
    ),
    "codecrash": PublishedSuite(
        summary="CodeCrash's structural perturbations",
        paper="Lam et al., CodeCrash: Stress Testing LLM Reasoning under Structural and Semantic "
        "Perturbations, 2025, arXiv 2504.14119",
        source="https://github.com/CUHK-ARISE/CodeCrash",
        originals=(
            Original(
                "REN",
                ("rename-canonical", "rename-parameters", "rename-functions"),
                "locals become v0, v1, …; parameters and private functions get other names, not f and Var_1",
            ),
            Original(
                "RTF",
                ("double-negation", "bool-literals"),
                "conditions doubly negated, and constants written otherwise; the other templates wrap a "
                "condition in a tuple, a call or one more comparison",
            ),
            Original(
                "GBC",
                ("unreachable-branches",),
                "of the three kinds of garbage only branches that never run; "
                "a condition such as print(x) would change what the program writes",
            ),
            Original("PSC_ALL", note="all of the above at once: `--mixed suite/codecrash`"),
            Original("MCC", note="needs sentences that contradict the code"),
            Original("MPS", note="meaning not kept: the program writes more"),
            Original("MHC", note="needs a model that writes a wrong hint"),
        ),
        differences=(
            "The original asks for inputs and outputs of CRUXEval and LiveCodeBench in Python; "
            "the nearest tasks are output-prediction and input-prediction.",
        ),
        figures="Over 17 language models output prediction lost 23.2 % on average, and 13.8 % with chain of "
        "thought (third version of the paper).",
    ),
}
"""The suites by name, without the `suite/`."""


def published(name: str) -> PublishedSuite:
    """The suite that a name means, with or without `suite/` before it.

    Raises:
        UsageError: there is no such suite; the message holds the nearest one.
    """
    plain = name.removeprefix(f"{SUITE}/")
    if plain not in SUITES:
        raise UsageError(unknown("suite", plain, SUITES))
    return SUITES[plain]
