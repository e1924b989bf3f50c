"""Decides whether two Python programs do the same, by running both in the sandbox on the same inputs.

Each program reports what it did, and the reports are compared here. A program shares its process with the
code that reports, so a hostile one can give a false report, just as it can behave otherwise when it is
watched. For programs with tests of their own, agreement therefore also needs a variant that passes them where
it cannot reach them: in another process (`trial`).
"""

import json
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.oracle.calls import Passed, TrialFailed, Trials
from codeaudit.transforms.oracle.carry import is_name
from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.inputs import find, inputs
from codeaudit.transforms.oracle.sandbox import Answer, Lost, Sandbox
from codeaudit.transforms.oracle.server import BROKEN, CPU
from codeaudit.transforms.oracle.tested import trial
from codeaudit.transforms.oracle.worker import ENDS, INCOMPLETE, UNFIT
from codeaudit.transforms.python.parsing import FunctionNode, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """Both programs did the same wherever a comparison was possible."""

    inputs: int
    """Inputs (or calls by the sample's own tests) that ran to a usable and equal end; at least one."""
    returned: int
    """Number of these inputs on which the programs returned; on the others they raised."""
    skipped: int
    """Inputs that say nothing: the original needs something that is missing here, or is not deterministic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differed:
    """An input on which the programs do not do the same; the original did the same again when run again."""

    input: str
    """The arguments as text, or the words `its own tests`."""
    before: str
    """The differing part of what the original did."""
    after: str
    """The same part of what the perturbed program did."""
    returned: bool = True
    """Whether the original returned on this input; otherwise it raised."""
    report: str = ""
    """What a sanitizer reported of the perturbed program; empty without one."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """No input ran to a usable end in both programs."""

    reason: str
    """A short phrase without names or numbers of the sample, so that equal reasons are counted together."""
    of_variant: bool = False
    """Whether only the perturbed program is to blame, and another one may be judged."""


Verdict: TypeAlias = Agreed | Differed | Inconclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPair:
    """Two programs to compare."""

    original: str
    """The text of the original program."""
    perturbed: str
    """The text of the variant."""
    function: str | None = None
    """The function to call; `None` for the last one at the top level of the text."""
    tests: str | None = None
    """A text that defines `check(candidate)`. If given, both programs run it and nothing else.

    The variant must also pass it when it runs in another process than the program.
    """
    inputs: tuple[str, ...] | None = None
    """Argument lists such as `(1, 'a')`; `None` to draw inputs that fit the function."""
    setup: str = ""
    """Code executed before each program, in its namespace."""
    seed: int = 0
    """Seed for the inputs that are drawn."""


_OWN_TESTS: Final = "its own tests"
"""The input of a verdict that rests on the sample's own tests."""
_SHAKES: Final = (1, 2, 5)
"""For the reruns before a difference is reported; each puts the original's objects at other addresses."""
_DRAWN_SECONDS: Final = 0.2
"""Processor time in seconds for an input that was drawn: there are others, so little is lost."""
_REMEMBERED: Final = 32
"""Number of originals whose answers are kept."""
_SHOWN: Final = 400
"""Most characters that a difference shows of each text."""
_BEFORE_DIFFERENCE: Final = 60
"""Characters shown before the first difference."""
APART: Final = "its tests can't be run in another process than the program"
_UNSTABLE: Final = Inconclusive("the original is not deterministic")
_WRONG_KIND: Final = frozenset({"TypeError", "AttributeError"})
"""Exceptions that a function raises for drawn values of a kind that it does not take."""


@dataclass(frozen=True, slots=True)
class _Original:
    """The original program: the job with its usable inputs, and what was observed on them."""

    job: Mapping[str, Any]
    """The request for the sandbox, with the usable inputs only."""
    answers: tuple[Answer, ...]
    """The answers as they came, one per usable input."""
    usable: tuple[Mapping[str, str], ...]
    """The observations, one per usable input."""
    reasons: Counter[str]
    """Why other inputs are not usable, with their number."""
    given: bool
    """Whether the inputs were given, not drawn."""


class Oracle(Sandbox):
    """Compares programs in a sandbox; a context manager. Not for use by several threads at once."""

    def __init__(self, *, inputs: int = 12, limits: RunLimits | None = None, messages: bool = False) -> None:
        """Prepare a sandbox. `inputs` is the number of inputs drawn for a function.

        Error texts about unbound names are compared only with `messages`, because renaming changes them.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        super().__init__("codeaudit.transforms.oracle.worker", limits)
        self._count = inputs
        self._messages = messages
        self._originals: OrderedDict[tuple[object, ...], _Original] = OrderedDict()
        self._trials = Trials(cpu_seconds=self._limits.cpu_seconds)

    def close(self) -> None:
        """End both sandboxes with every process that they started."""
        super().close()
        self._trials.close()

    def judge(
        self,
        original: str,
        perturbed: str,
        *,
        tests: str | None = None,
        function: str | None = None,
        inputs: tuple[str, ...] | None = None,
        setup: str = "",
        seed: int = 0,
    ) -> Verdict:
        """Run both programs and compare their observable behaviour; `ProgramPair` documents the arguments.

        Raises:
            CannotAudit: the sandbox cannot be started.
        """
        pair = ProgramPair(
            original=original,
            perturbed=perturbed,
            tests=tests,
            function=function,
            inputs=inputs,
            setup=setup,
            seed=seed,
        )
        return self.judge_pair(pair)

    def judge_pair(self, pair: ProgramPair) -> Verdict:
        """Compare the behaviour of a pair. Consecutive pairs with one original run the original once.

        Raises:
            CannotAudit: the sandbox cannot be started.
        """
        try:
            name = _called(pair)
        except SourceError:
            return Inconclusive(NOT_PARSED)
        if name is None:
            return Inconclusive("no function to call")
        try:
            original = self._original(pair, name[0])
            if not original.usable:
                reasons = original.reasons.most_common(1)
                return Inconclusive(reasons[0][0] if reasons else "no inputs to call it with")
            job = {**original.job, "source": pair.perturbed, "function": name[1]}
            (answers,) = self.ask([job])
            verdict = self._compared(original, job, tuple(answers))
        except Lost as lost:
            return Inconclusive(str(lost))
        if pair.tests is None or not isinstance(verdict, Agreed):
            return verdict
        return self._tested_apart(pair, pair.tests, name)

    def _tested_apart(self, pair: ProgramPair, tests: str, names: tuple[str, str]) -> Verdict:
        """The verdict of the tests in another process than the program's."""
        before, after = (f"{pair.setup}\n{text}\n" for text in (pair.original, pair.perturbed))
        if names[0] != names[1]:
            after += f"{names[0]} = {names[1]}\n"
        judged = f"{tests.rstrip()}\n\n\ncheck({names[0]})\n"
        (outcome,) = self._trials.outcomes([trial(after, before, judged)])
        if isinstance(outcome, Passed):
            calls = max(1, outcome.calls)
            return Agreed(inputs=calls, returned=calls, skipped=0)
        (first,) = self._trials.outcomes([trial(before, before, judged)])
        if not isinstance(first, Passed):
            return Inconclusive(APART)
        if isinstance(outcome, TrialFailed) and outcome.certain:
            return Differed(input=_OWN_TESTS, before="passes", after=f"fails: {outcome.reason}")
        return Inconclusive(outcome.reason)

    def _original(self, pair: ProgramPair, function: str) -> _Original:
        """The original of a pair, run on its inputs; cached, because many variants share one original."""
        key = (pair.setup, pair.original, function, pair.tests, pair.inputs, pair.seed)
        earlier = self._originals.get(key)
        if earlier is not None:
            self._originals.move_to_end(key)
            return earlier
        texts: tuple[str, ...] = (_OWN_TESTS,)
        if pair.tests is None:
            texts = (
                inputs(pair.original, function=function, seed=pair.seed, count=self._count)
                if pair.inputs is None
                else pair.inputs
            )
        job: dict[str, Any] = {
            "source": pair.original,
            "setup": pair.setup,
            "function": function,
            "inputs": texts,
            "tests": pair.tests,
            "messages": self._messages,
            "shake": 0,
            "count": len(texts),
        }
        if pair.tests is None and pair.inputs is None:
            job["cpu_seconds"] = _DRAWN_SECONDS
        answers = self.ask([job])[0] if texts else []
        rows = [
            (text, answer, _observation(answer, tests=pair.tests is not None))
            for text, answer in zip(texts, answers, strict=True)
        ]
        usable = [(text, answer, report) for text, answer, report in rows if not isinstance(report, str)]
        # Inputs on which the original returns come first, so that a difference there is reported first.
        usable.sort(key=lambda row: row[2]["end"] != "returned")
        original = _Original(
            job={**job, "inputs": [text for text, _, _ in usable], "count": len(usable)},
            answers=tuple(answer for _, answer, _ in usable),
            usable=tuple(report for _, _, report in usable),
            reasons=Counter(reason for _, _, reason in rows if isinstance(reason, str)),
            given=pair.inputs is not None or pair.tests is not None,
        )
        self._originals[key] = original
        if len(self._originals) > _REMEMBERED:
            self._originals.popitem(last=False)
        return original

    def _compared(self, original: _Original, job: Mapping[str, Any], answers: tuple[Answer, ...]) -> Verdict:
        """The verdict for the answers of the perturbed program."""
        reasons = original.reasons.copy()
        undecided: Inconclusive | None = Inconclusive(INCOMPLETE) if reasons[INCOMPLETE] else None
        agreed: list[Mapping[str, str]] = []
        for place, (before, report, after) in enumerate(
            zip(original.answers, original.usable, answers, strict=True)
        ):
            # The texts as they came: equal texts need not be parsed.
            if before == after:
                agreed.append(report)
            else:
                verdict = self._again(original, job, place, report, after)
                if isinstance(verdict, Differed):
                    return verdict
                if verdict == _UNSTABLE:
                    reasons[_UNSTABLE.reason] += 1
                else:
                    undecided = undecided or verdict
        if undecided:
            return undecided
        # If a function raises TypeError for all drawn inputs, their agreement says nothing about its body.
        fitting = original.given or any(report.get("kind") not in _WRONG_KIND for report in agreed)
        if not agreed or not fitting:
            reason = "only inputs of kinds that it does not take" if agreed else reasons.most_common(1)[0][0]
            return Inconclusive(reason)
        returned = sum(report["end"] == "returned" for report in agreed)
        return Agreed(inputs=len(agreed), returned=returned, skipped=reasons.total())

    def _again(
        self,
        original: _Original,
        job: Mapping[str, Any],
        place: int,
        report: Mapping[str, str],
        after: Answer,
    ) -> Differed | Inconclusive:
        """The verdict for one input with different answers, after both programs ran again on it.

        The original runs several times; if any run differs from the first, the input says nothing.
        """
        only = {"inputs": [job["inputs"][place]], "count": 1}
        runs = [{**original.job, **only, "shake": shake} for shake in _SHAKES]
        answers = [answer for (answer,) in self.ask([*runs, {**job, **only, "shake": _SHAKES[0]}])]
        if any(answer != original.answers[place] for answer in answers[:-1]):
            return _UNSTABLE
        again = answers[-1]
        if again == original.answers[place]:
            lost = after[0] == "lost"
            return Inconclusive(after[1] if lost else "the perturbed program is not deterministic")
        # A run that was lost once may have been unlucky. Lost twice for a reason of its own, it is behaviour.
        if "lost" in (after[0], again[0]) and not _is_behaviour(after, again):
            return Inconclusive(again[1] if again[0] == "lost" else after[1])
        other = _parsed(again)
        if isinstance(other, Mapping) and _described(other) == _described(report):
            return Inconclusive(other.get("unfit") or INCOMPLETE)
        texts = _difference(report, other) if isinstance(other, Mapping) else (_summary(report), other)
        returned = report["end"] == "returned"
        return Differed(input=job["inputs"][place], before=texts[0], after=texts[1], returned=returned)


def _called(pair: ProgramPair) -> tuple[str, str] | None:
    """The names of the function in both programs; a function that was renamed is found by its position."""
    before = find(pair.original, pair.function)
    if before is None:
        return None
    same = find(pair.perturbed, before.name)
    if same is not None:
        return before.name, same.name
    there = [node.name for node in parse(pair.original).body if isinstance(node, FunctionNode)]
    here = [node.name for node in parse(pair.perturbed).body if isinstance(node, FunctionNode)]
    return (before.name, here[there.index(before.name)]) if len(there) == len(here) else None


def _parsed(answer: Answer) -> Mapping[str, str] | str:
    """The observation that an answer holds, or the reason why it holds none."""
    kind, text = answer
    if kind == "lost":
        return text
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return BROKEN
    # A program can write its report itself. Its words must be known, because reasons are counted and shown.
    match content:
        case {"end": str(end)} if (
            all(isinstance(value, str) for value in content.values())
            and end in ENDS
            and content.get("unfit", "") in UNFIT
            and ("kind" not in content or is_name(content["kind"]))
        ):
            return dict(content)
    return BROKEN


def _observation(answer: Answer, *, tests: bool) -> Mapping[str, str] | str:
    """The observation of the original, or the reason why it cannot be compared with."""
    observed = _parsed(answer)
    if isinstance(observed, str):
        return observed
    if observed.get("unfit"):
        return observed["unfit"]
    if observed["end"] == "raised at import":
        return "the program can't be executed alone"
    if observed["end"] == "no function":
        return "no function to call"
    return "the original fails its own tests" if tests and observed["end"] != "returned" else observed


def _described(observed: Mapping[str, str]) -> Mapping[str, str]:
    """The parts of an observation of which a difference is one of the programs."""
    return {name: text for name, text in observed.items() if name not in ("unseen", "unfit")}


def _is_behaviour(first: Answer, again: Answer) -> bool:
    """Whether a run of the perturbed program that gave no answer, twice, says something about the program."""
    return all(
        kind == "lost" and (text == CPU or text.startswith(("left", "killed by signal")))
        for kind, text in (first, again)
    )


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, str]:
    """The differing parts of two observations, each from a little before its first different character."""
    sides: tuple[list[str], list[str]] = ([], [])
    for name in {**before, **after}:
        texts = (before.get(name, ""), after.get(name, ""))
        if texts[0] != texts[1]:
            pairs = enumerate(zip(*texts, strict=False))
            first = next((place for place, (one, other) in pairs if one != other), min(map(len, texts)))
            start = max(0, first - _BEFORE_DIFFERENCE)
            for side, text in zip(sides, texts, strict=True):
                side.append(f"{name}: {'…' if start else ''}{text[start : start + _SHOWN]}")
    return "; ".join(sides[0]), "; ".join(sides[1])


def _summary(report: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {text[:_SHOWN]}" for name, text in report.items())
