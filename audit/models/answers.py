"""Reads answers of foreign code into predictions, for programs, callables and files of answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real

from codeaudit.audit.checks import finite, is_whole
from codeaudit.audit.records import UNREAD, Failed, Predicted, Prediction, RawReply, kept_reply, malformed


def read_answer(raw: object) -> Prediction:
    """The prediction for one answer: `Failed('no readable answer')` if it is none of these:

    - a text, a truth value (read as its text), a finite number, a list of texts (in order) or a set of texts
      (sorted);
    - a mapping with `answer`, and optionally `score`, `scores` (a number by label) or `error`;
    - a mapping with `ranking` alone, the numbers of candidates, the best first;
    - a mapping with `scores` alone, a list with a number for each candidate;
    - a prediction.

    A text is kept as it came. The driver reads it, and decides whether an answer fits the task.
    """
    if isinstance(raw, Predicted):
        # A prediction with replies was read by whoever made it.
        return replace(raw, replies=_replies(raw.answer)) if not raw.replies else raw
    if isinstance(raw, Failed):
        return raw
    if isinstance(raw, Mapping):
        return _from_mapping(raw)
    match raw:
        case None:
            return malformed(raw)
        case bool():  # a bool is an int, but True is no number that a model estimates
            return read_answer(str(raw))
        case str():
            return Predicted(answer=raw, replies=_replies(raw))
        case Real():  # also the numbers of numpy
            number = finite(raw)
            return malformed(raw) if number is None else Predicted(answer=number)
        case list() | tuple() if all(isinstance(part, str) for part in raw):
            return Predicted(answer=tuple(raw))
        case set() | frozenset() if all(isinstance(part, str) for part in raw):
            return Predicted(answer=tuple(sorted(raw)))
        case _ if type(raw).__name__ in ("bool", "bool_") and type(raw).__module__ == "numpy":
            return read_answer(str(bool(raw)))
        case _:
            return malformed(raw)


def ranked_by(scores: Sequence[float]) -> Predicted:
    """The ranking of candidates by their scores, which are finite; of equal ones the first comes first."""
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    # Sorted as all scores of predictions are.
    pairs = tuple(sorted((str(place + 1), float(score)) for place, score in enumerate(scores)))
    return Predicted(answer=tuple(str(place + 1) for place in order), scores=pairs)


def _replies(answer: object) -> tuple[RawReply, ...]:
    return (RawReply(kept_reply(answer), UNREAD),) if isinstance(answer, str) else ()


def _from_mapping(raw: Mapping[object, object]) -> Prediction:
    if error := raw.get("error"):
        # Without surrogates, which Parquet cannot store; in one short line, because reasons are counted.
        try:
            lines = str(error).encode("utf-8", "replace").decode().splitlines()
        except (ValueError, RecursionError):  # a number of thousands of digits, or a deeply nested list
            lines = []
        return Failed(reason=f"model: {lines[0][:80]}" if lines else "model: an error")
    if "answer" not in raw:
        order, given = raw.get("ranking"), raw.get("scores")
        if isinstance(order, list | tuple) and order and all(map(is_whole, order)):
            return Predicted(answer=tuple(map(str, order)))
        values = [_score(number) for number in given] if isinstance(given, list | tuple) else []
        known = [value for value in values if value is not None]
        # All or none, as for labels.
        if known and len(known) == len(values):
            return ranked_by(known)
        return malformed(dict(raw), "it has no answer, nor a ranking or scores of candidates in numbers")
    plain = raw["answer"]
    # A mapping in a mapping could nest without end.
    predicted = malformed(raw) if isinstance(plain, Mapping) else read_answer(plain)
    if isinstance(predicted, Failed):
        return predicted
    scores = _scores(raw.get("scores"))
    if scores is None:
        return malformed(dict(raw), "scores must be a finite number for each label")
    alone = raw.get("score")
    if not scores and isinstance(alone, Real) and isinstance(predicted.answer, str):
        score = _score(alone)
        if score is None:
            return malformed(dict(raw), "score must be a finite number")
        scores = ((predicted.answer, score),)
    return replace(predicted, scores=scores)


def _scores(raw: object) -> tuple[tuple[str, float], ...] | None:
    if raw is None:
        return ()
    if not isinstance(raw, Mapping):
        return None
    # All or none: without one label, the others would be ranked as if they were all.
    pairs = [(str(label), score) for label, number in raw.items() if (score := _score(number)) is not None]
    return tuple(sorted(pairs)) if len(pairs) == len(raw) else None


def _score(raw: object) -> float | None:
    """A score, if it is a finite number. NaN would be no score of a verdict's table either."""
    return finite(raw) if isinstance(raw, Real) else None
