"""A language model made by hand for tests: the next token depends on the last one alone, as a table says."""

from collections.abc import Mapping
from pathlib import Path

SIDE = 300
"""Width of the network, and the largest number of tokens."""


def save_bigrams(folder: Path, answers: Mapping[str, str]) -> None:
    """Write a chat model that answers with `answers[c]`, where c is the last letter of what it is told.

    The letters are bytes; each answer is one token, after which the reply ends. After a letter without an
    answer comes the next byte, and so on.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<s>", "</s>", "<pad>", *letters, *dict.fromkeys(answers.values())]
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(
        models.BPE(vocab={word: numbers[word] for word in words[: 3 + len(letters)]}, merges=[])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(words[3 + len(letters) :])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    fast.chat_template = "{{ messages[-1]['content'] | trim }}"
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=SIDE,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    network = LlamaForCausalLM(config)
    following = {number: number + 1 for number in range(3, 2 + len(letters))}
    following |= {numbers[letter]: numbers[answer] for letter, answer in answers.items()}
    following |= {numbers[answer]: 1 for answer in answers.values()}
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "norm" not in name:
                weight.zero_()
        network.model.embed_tokens.weight[: len(words), : len(words)] = torch.eye(len(words))
        for last, following_one in following.items():
            network.lm_head.weight[following_one, last] = 1.0
    network.save_pretrained(folder)
    fast.save_pretrained(folder)
