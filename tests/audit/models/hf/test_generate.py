"""Language models that write: greedy, padded on the right side, read as their prompts ask."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from codeaudit.audit.models.hf.generate import _END_OF, _DecodingWatch
from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.records import Failed, Predicted
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.hf import networks as made
from tests.audit.models.hf.conftest import LONG, SHORT, SOURCES, Load, asked

LONGEST = 6


@torch.no_grad()
def written(folder: Path, text: str) -> tuple[list[int], list[float]]:
    """The likeliest tokens one by one, each from a forward pass over all before it, and their leads."""
    with quiet():
        words = transformers.AutoTokenizer.from_pretrained(folder)
        encoder = "t5" in folder.name
        auto = transformers.AutoModelForSeq2SeqLM if encoder else transformers.AutoModelForCausalLM
        network = auto.from_pretrained(folder)
    read = words.encode(text)
    tokens: list[int] = []
    leads: list[float] = []
    for _ in range(LONGEST):
        if encoder:
            before = torch.tensor([[network.config.decoder_start_token_id, *tokens]])
            logits = network(input_ids=torch.tensor([read]), decoder_input_ids=before).logits[0, -1]
        else:
            logits = network(input_ids=torch.tensor([[*read, *tokens]])).logits[0, -1]
        best, second = logits.topk(2).values.tolist()
        leads.append(best - second)
        tokens.append(int(logits.argmax()))
        if tokens[-1] == words.eos_token_id or (not encoder and "\n" in words.decode(tokens).lstrip()):
            break
    return tokens, leads


@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen2", "t5"])
def test_a_batch_writes_what_each_row_alone_would(name: str, folders: dict[str, Path], load: Load) -> None:
    model = load(name, max_new_tokens=str(LONGEST))
    head = model._head
    queries = asked("error-detection")
    batch = [head.ask(query) for query in queries]
    tokens, watch = head._written([tokenized.rows[0] for tokenized in batch], LONGEST)  # type: ignore[attr-defined]
    for row, query in enumerate(queries):
        expected, leads = written(folders[name], built_in()["error-detection"].text(query))
        assert tokens[row].tolist()[: len(expected)] == expected
        assert watch.leads[row] == pytest.approx(min(leads), abs=10 * model.noise)


def taught(folder: Path, after: str, text: str, *, chat: str | None = None) -> Path:
    words = made.tokenizer(made.GPT)
    words.chat_template = chat
    network = made.decoder("Llama", words)
    made.say(network, words, after, text)
    return made.save(folder, network, words)


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("task", "text", "answer"),
    [
        ("error-detection", " buggy", "buggy"),
        ("derivative", " true", "true"),
        ("throughput", " 2.5", 2.5),
        ("function-name", " [get_value]", "get_value"),
    ],
)
def test_the_answer_is_read_as_the_prompt_asks(
    task: str, text: str, answer: object, load: Load, tmp_path: Path
) -> None:
    model = load(taught(tmp_path / "m", ":", text))
    for prediction in model.predict(asked(task)):
        assert isinstance(prediction, Predicted)
        assert prediction.answer == answer
        assert prediction.margin is not None
        assert max(prediction.scores, key=lambda pair: pair[1])[0].lstrip("Ġ") in text


def test_a_text_ends_with_its_first_line(load: Load, tmp_path: Path) -> None:
    model = load(taught(tmp_path / "m", ":", " buggy\nclean"))
    rows = [model._head.ask(query).rows[0] for query in asked("error-detection")]
    tokens, _ = model._head._written(rows, 20)  # type: ignore[attr-defined]
    assert {model._engine.texts.tokenizer.decode(row) for row in tokens} == {" buggy\n"}


def test_a_model_is_asked_with_a_named_prompt(load: Load, tmp_path: Path) -> None:
    folder = taught(tmp_path / "m", ":", " buggy")
    plain, few = load(folder), load(folder, prompt="few-shot")
    assert (few.name, few.prompt) == (f"{plain.name}@few-shot", "few-shot")
    assert plain.fingerprint != few.fingerprint
    (row,) = few._head.ask(asked("error-detection", SHORT)[0]).rows
    text = few._engine.texts.tokenizer.decode(row)
    assert "Solved examples:" in text
    assert text.endswith("\n\nAnswer:")
    assert {prediction.answer for prediction in few.predict(asked("error-detection"))} == {"buggy"}


def test_thoughts_end_with_the_line_of_the_answer(load: Load, tmp_path: Path) -> None:
    ended = _END_OF["thought"].search
    assert ended("It is clean.\n**Answer:** buggy\n")
    assert not any(map(ended, ("It is clean.\nAnswer: bug", "Answer:\n", "The answer\n")))
    model = load(taught(tmp_path / "m", ":", " clean\nbuggy"), prompt="reasoning", max_new_tokens="60")
    queries = asked("error-detection")
    (row,) = model._head.ask(queries[0]).rows
    assert model._engine.texts.tokenizer.decode(row).endswith("\n\nThoughts:")
    predictions = model.predict(queries)
    assert {said.answer for said in predictions if isinstance(said, Predicted)} == {"buggy"}, predictions
    cut = load(tmp_path / "m", prompt="reasoning", max_new_tokens="2").predict(queries)
    assert all(isinstance(prediction, Failed) for prediction in cut), "no last line"


def test_a_classifier_takes_no_prompt(folders: dict[str, Path], load: Load) -> None:
    with pytest.raises(UsageError, match="-M prompt has no effect"):
        load("llama", head="classification", prompt="few-shot", labels="clean,buggy")
    with pytest.raises(UsageError, match="did you mean 'few-shot'"):
        load("llama", prompt="few-shots")


def test_a_chat_is_asked_by_its_template(load: Load, tmp_path: Path) -> None:
    folder = taught(tmp_path / "m", "<|bot|>", "clean", chat=made.CHAT)
    assert {prediction.answer for prediction in load(folder).predict(asked("error-detection"))} == {"clean"}
    model = load(folder, system="Be brief.")
    (row,) = model._head.ask(asked("error-detection", SHORT)[0]).rows
    text = model._engine.texts.tokenizer.decode(row)
    assert text.startswith("<|system|>Be brief.<|end|><|user|>Does this Python function have a bug?")
    assert text.endswith("<|end|><|bot|>")
    plain = load(folder, chat="false")
    (row,) = plain._head.ask(asked("error-detection", SHORT)[0]).rows
    assert plain._engine.texts.tokenizer.decode(row).endswith("\n\nAnswer:")
    assert len({model.fingerprint, plain.fingerprint, load(folder).fingerprint}) == 3


def test_a_template_that_is_missing_or_refuses_is_one_error(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="its tokenizer has no chat template"):
        load("llama", chat="true")
    refusing = shutil.copytree(folders["llama"], tmp_path / "m")
    (refusing / "chat_template.jinja").write_text("{{ raise_exception('no system turns') }}")
    with pytest.raises(ModelError, match="its chat template refuses the prompt: no system turns"):
        load(refusing).predict(asked("error-detection"))


def test_what_a_config_says_of_sampling_does_not_count(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    sampling = shutil.copytree(folders["llama"], tmp_path / "m")
    config: dict[str, Any] = json.loads((sampling / "generation_config.json").read_text())
    config |= {"do_sample": True, "temperature": 9.0, "top_k": 5, "num_beams": 3, "num_return_sequences": 2}
    (sampling / "generation_config.json").write_text(json.dumps(config))
    written = []
    for place in ("llama", sampling):
        model = load(place, max_new_tokens="4")
        rows = [model._head.ask(query).rows[0] for query in asked("function-name")]
        written.append(model._head._written(rows, 4)[0].tolist())  # type: ignore[attr-defined]
    assert written[0] == written[1]


def test_an_answer_that_cannot_be_read_is_shown(load: Load, tmp_path: Path) -> None:
    predictions = load(taught(tmp_path / "m", ":", " 2.5")).predict(asked("error-detection"))
    assert predictions == [Failed(reason="no readable answer")] * len(SOURCES)
    assert {prediction.given for prediction in predictions if isinstance(prediction, Failed)} == {"' 2.5'"}


def test_the_window_holds_prompt_and_answer(load: Load, tmp_path: Path) -> None:
    words = made.tokenizer(made.GPT)
    place = made.save(tmp_path / "m", made.gpt2("GPT2LMHeadModel", words, window=400), words)
    most = 400 - len(words.encode(built_in()["error-detection"].text(asked("error-detection", SHORT)[0])))
    queries = asked("error-detection", SHORT, LONG)
    fits, long = (load(place, max_new_tokens=str(most))._head.ask(query) for query in queries)
    assert not isinstance(fits, Failed)
    assert long == Failed(reason="input too long")
    assert load(place, max_new_tokens=str(most + 1))._head.ask(queries[0]) == Failed(reason="input too long")


def test_what_is_cut_is_the_code_and_not_the_question(
    load: Load, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = made.tokenizer(made.GPT)
    place = made.save(tmp_path / "m", made.gpt2("GPT2LMHeadModel", words, window=400), words)
    with caplog.at_level(logging.WARNING):
        model = load(place, max_new_tokens="8", truncate="true")
        tokenized = model._head.ask(asked("error-detection", LONG)[0])
        assert not isinstance(tokenized, Failed)
        text = words.decode(tokenized.rows[0])
        assert len(tokenized.rows[0]) <= 392
        assert len(tokenized.rows[0]) > 380, "no more is cut than has to be"
        assert text.startswith("Does this Python function have a bug?")
        assert text.endswith("```\n\nAnswer:")
        assert "    left = left + right\n" * 3 in text
    (message,) = caplog.messages
    assert message.endswith("an input longer than its 400 tokens loses its end")
    assert (model.usage, load(place, truncate="true").usage) == ({"truncated": 1}, {})
    assert model.bill == "inputs longer than its 400 tokens, which lost their end: 1"


def test_a_template_needs_a_place_for_the_code(load: Load, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("Name it.", encoding="utf-8")
    with pytest.raises(UsageError, match="no place for the code"):
        load("llama", template=str(tmp_path / "t.txt"))
    with pytest.raises(ModelError, match="no prompt for the task 'other'"):
        load("llama").predict(asked("other"))


# ── code that goes on with the source ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("    x = 1\n    return x\n\ndef", True),
        ("    x = 1\n    return x\n\n", False),
        ("    x = [\n]\n", False),
        ("    x = 1\n# note\n", False),
        ("    x = 1", False),
        ("\ndef", True),
    ],
)
def test_code_ends_where_a_line_begins_at_the_margin(text: str, ended: bool, load: Load) -> None:
    model = load("llama")
    watch = _DecodingWatch(model._engine, _END_OF["code"])
    words = model._engine.texts.tokenizer
    watch.look(torch.zeros(1, model._engine.texts.words))
    stops = [watch.stop([token])[0] for token in words.encode(text)]
    assert stops[-1] == ended
    assert not any(stops[:-1])


@pytest.mark.parametrize(("task", "tokens"), [("generation", 512), ("next-line", 128)])
def test_the_source_is_continued_as_it_is(task: str, tokens: int, load: Load) -> None:
    head = load("llama")._head
    window = head._engine.texts.window  # type: ignore[attr-defined]
    tokens = min(tokens, window // 2) if task == "generation" else tokens
    tokenized = head.ask(asked(task, SHORT)[0])
    assert not isinstance(tokenized, Failed)
    assert head._engine.texts.tokenizer.decode(tokenized.rows[0]) == SHORT  # type: ignore[attr-defined]
    assert tokenized.grows == tokens
    bounded = load("llama", max_new_tokens="7")._head.ask(asked(task, SHORT)[0])
    assert not isinstance(bounded, Failed)
    assert bounded.grows == 7


def test_the_indentation_of_the_first_line_is_kept(load: Load) -> None:
    """Decoded alone, tokens of this kind lose the blank in front of them."""
    words = Tokenizer(models.BPE(vocab={"▁": 0, "a": 1, "▁▁": 2, "</s>": 3}, merges=[("▁", "▁")]))
    words.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    words.decoder = decoders.Metaspace(prepend_scheme="first")
    head = load("llama")._head
    whole = transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="</s>")
    assert whole.decode([2, 1]) != "  a"
    head._engine.texts.tokenizer = whole  # type: ignore[attr-defined]
    assert head._texts([(0, 1)], torch.tensor([[2, 1, 3]])) == ["  a"]  # type: ignore[attr-defined]
