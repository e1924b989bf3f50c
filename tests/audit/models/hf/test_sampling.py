"""GumbelSampling answers: draws that belong to the attempt, from the distribution that was asked for."""

from collections.abc import Sequence

import pytest
import torch

from codeaudit.audit.models.hf.generate import GumbelSampling, gumbel, splitmix
from codeaudit.audit.models.hf.heads import TokenizedQuery
from codeaudit.audit.models.hf.model import ATTEMPTS_AT_ONCE, Batcher, HubModel
from codeaudit.audit.models.text_models import draws
from codeaudit.audit.records import Failed, Predicted, Prediction
from codeaudit.transforms.errors import UsageError
from tests.audit.models.hf.conftest import SOURCES, Load, asked

WRITERS = ("gpt2", "llama", "t5")
QUERIES = asked("generation", *SOURCES)
SHORT = {"max_new_tokens": "6"}


def texts(predictions: Sequence[Prediction]) -> list[tuple[str, ...]]:
    made = []
    for prediction in predictions:
        assert isinstance(prediction, Predicted)
        assert prediction.answer == prediction.draws[0]
        made.append(prediction.draws)
    return made  # type: ignore[return-value]


def test_the_noise_comes_from_splitmix() -> None:
    numbers = splitmix([1234567, 2**64 - 1], 5, "cpu")
    # As other implementations print them for the seed 1234567.
    assert [number % 2**64 for number in numbers[0].tolist()] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert numbers[1].tolist() == splitmix([2**64 - 1], 5, "cpu")[0].tolist()


@pytest.mark.slow
def test_tokens_are_drawn_from_the_softmax() -> None:
    """Within five standard errors of each share, over 20,000 draws."""
    scores = torch.tensor([[1.5, 0.0, -1.0, 0.5, -torch.inf]])
    count = 20_000
    for temperature in (0.5, 1.0, 2.0):
        streams = [draws(attempt) for attempt in range(count)]
        drawn = GumbelSampling(streams, temperature)(torch.empty(0), scores.repeat(count, 1)).argmax(dim=1)
        shares = drawn.bincount(minlength=5) / count
        expected = (scores[0].double() / temperature).softmax(0)
        assert bool(((shares - expected).abs() <= 5 * (expected * (1 - expected) / count).sqrt()).all())


def test_noise_is_finite_and_has_the_moments_of_gumbels() -> None:
    noise = gumbel(range(50), 10_000, "cpu")
    assert bool(noise.isfinite().all())
    assert noise.mean().item() == pytest.approx(0.57722, abs=0.01)
    assert noise.std().item() == pytest.approx(1.28255, abs=0.01)
    assert torch.corrcoef(noise).fill_diagonal_(0).abs().max().item() < 0.06


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", WRITERS)
def test_answers_are_the_same_in_any_batch_and_order(name: str, load: Load) -> None:
    model = load(name, samples="4", **SHORT)
    answers = texts(model.predict(QUERIES))
    assert all(len(set(attempts)) == 4 for attempts in answers), "attempts differ"
    assert len(set(answers)) > 1, "by what is asked, too"
    assert texts(model.predict(QUERIES[::-1])) == answers[::-1]
    assert [texts(model.predict([query]))[0] for query in QUERIES] == answers
    assert texts(model.predict([QUERIES[1], *QUERIES, QUERIES[1]]))[1:-1] == answers
    model._batches.room = 1.0
    assert texts(model.predict(QUERIES)) == answers
    assert texts(load(name, samples="4", **SHORT).predict(QUERIES)) == answers


def test_fewer_answers_are_the_first_ones(load: Load) -> None:
    many = texts(load("llama", samples="5", **SHORT).predict(QUERIES))
    few = texts(load("llama", samples="2", **SHORT).predict(QUERIES))
    assert few == [attempts[:2] for attempts in many]
    alone = load("llama", samples="1", temperature="0.8", **SHORT).predict(QUERIES)
    assert [said.answer for said in alone if isinstance(said, Predicted)] == [
        attempts[0] for attempts in many
    ]


@pytest.mark.slow
def test_the_temperature_counts_and_near_none_the_likeliest_tokens_are_left(load: Load) -> None:
    greedy = [said.answer for said in load("llama", **SHORT).predict(QUERIES) if isinstance(said, Predicted)]
    for cold in ("1e-6", "5e-324"):
        answers = texts(load("llama", samples="3", temperature=cold, **SHORT).predict(QUERIES))
        assert answers == [(answer,) * 3 for answer in greedy]
    default = texts(load("llama", samples="3", **SHORT).predict(QUERIES))
    assert default == texts(load("llama", samples="3", temperature="0.8", **SHORT).predict(QUERIES))
    warm = texts(load("llama", samples="3", temperature="2", **SHORT).predict(QUERIES))
    assert all(one != other for one, other in zip(default, warm, strict=True))


@pytest.mark.slow
def test_without_samples_nothing_is_another(load: Load) -> None:
    model = load("llama", **SHORT)
    assert set(model._head.decides) == {"prompts", "chat", "max_new_tokens"}
    same = load("llama", samples="1", **SHORT)
    assert same.fingerprint == model.fingerprint
    assert same.predict(QUERIES) == model.predict(QUERIES)
    assert all(isinstance(said, Predicted) and said.margin is not None for said in model.predict(QUERIES))
    given = ({"samples": "2"}, {"samples": "3"}, {"samples": "2", "temperature": "1"}, {"temperature": "1"})
    fingerprints = {load("llama", **SHORT, **settings).fingerprint for settings in given}
    assert len(fingerprints | {model.fingerprint}) == 5
    assert load("llama", samples="2", temperature="0.8", **SHORT).fingerprint in fingerprints


def test_one_sampled_answer_is_a_text_and_has_no_margin(load: Load) -> None:
    for task in ("generation", "next-line"):
        for prediction in load("gpt2", temperature="1.5", **SHORT).predict(asked(task)):
            assert isinstance(prediction, Predicted)
            assert isinstance(prediction.answer, str)
            assert (prediction.scores, prediction.margin) == ((), None)


def test_what_cannot_be_had_of_one_attempt_leaves_the_query_without_an_answer(load: Load) -> None:
    model = load("llama", samples="3", **SHORT)
    inner = model._head.answer

    def failing(batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        lost = Failed(reason="scores that are not finite")
        return [
            lost if (tokenized.query, tokenized.attempt) == (QUERIES[1], 2) else prediction
            for tokenized, prediction in zip(batch, inner(batch), strict=True)
        ]

    model._batches = Batcher(failing, room=model._batches.room)
    predictions = model.predict(QUERIES)
    assert predictions[1] == Failed(reason="scores that are not finite")
    assert all(len(text) == 3 for text in texts([predictions[0], *predictions[2:]]))


def rows_at_once(model: HubModel) -> list[int]:
    """How many rows each batch that is asked from now on has."""
    sizes: list[int] = []
    inner = model._head.answer

    def counted(batch: Sequence[TokenizedQuery]) -> Sequence[Prediction]:
        sizes.append(len(batch))
        return inner(batch)

    model._batches = Batcher(counted, room=torch.inf)
    return sizes


def test_many_attempts_are_not_written_all_at_once(load: Load) -> None:
    model = load("llama", samples="50", max_new_tokens="1")
    sizes = rows_at_once(model)
    assert [len(text) for text in texts(model.predict(QUERIES[:1]))] == [50]
    assert sizes == [ATTEMPTS_AT_ONCE, 50 - ATTEMPTS_AT_ONCE]
    greedy = load("llama", max_new_tokens="1")
    sizes = rows_at_once(greedy)
    greedy.predict(asked("next-line", *(f"x = {number:03}\n" for number in range(ATTEMPTS_AT_ONCE + 9))))
    assert sizes == [ATTEMPTS_AT_ONCE + 9], "queries are, as many as are asked together"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("llama", {"samples": "0"}, "-M samples=0 must be a whole number from 1 to 1000"),
        ("llama", {"samples": "1001"}, "-M samples=1001 must be a whole number from 1 to 1000"),
        ("llama", {"samples": "2.5"}, "-M samples=2.5 must be a whole number"),
        (
            "llama",
            {"temperature": "0"},
            "-M temperature=0 must be a number above 0; without it, the likeliest",
        ),
        ("llama", {"temperature": "-1"}, "-M temperature=-1 must be a number above 0"),
        ("llama", {"temperature": "inf"}, "-M temperature=inf must be a number above 0"),
        ("llama", {"temperature": "nan"}, "-M temperature=nan must be a number above 0"),
        ("llama", {"temperature": "warm"}, "-M temperature=warm must be a number above 0"),
        ("bert", {"samples": "5"}, "-M samples has no effect on 'hf/.*', which answers by sequence classif"),
        ("bert", {"temperature": "1"}, "-M temperature has no effect on 'hf/.*', which answers by sequence"),
        ("roberta", {"samples": "5"}, "-M samples has no effect on 'hf/.*', which answers by masked"),
        ("encoder", {"samples": "5"}, "-M samples has no effect on 'hf/.*', which answers by embeddings"),
    ],
)
def test_wrong_values_and_heads_are_refused(
    name: str, given: dict[str, str], message: str, load: Load
) -> None:
    with pytest.raises(UsageError, match=message):
        load(name, **given)


def test_texts_that_are_the_same_to_a_model_have_the_same_answers(load: Load) -> None:
    """To one without weights all are; chance is no difference between an original and its variants."""
    model = load("llama", samples="4", **SHORT)
    for weight in model._engine.network.parameters():
        weight.detach().zero_()
    answers = texts(model.predict(QUERIES))
    assert len(set(answers)) == 1
    assert len(set(answers[0])) == 4


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_noise_is_the_same_on_a_gpu() -> None:
    keys = [draws(attempt).getrandbits(64) for attempt in range(8)]
    assert bool((splitmix(keys, 1000, "cuda").cpu() == splitmix(keys, 1000, "cpu")).all())
    assert torch.allclose(gumbel(keys, 1000, "cuda").cpu(), gumbel(keys, 1000, "cpu"), rtol=1e-12)
