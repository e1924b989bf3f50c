"""Blocks as terms: views, referents, and what a renaming may not change."""

from random import Random

import pytest

from codeaudit.audit.papers.renamer.tasks import END
from codeaudit.audit.papers.renamer.tasks import block_terms as terms
from codeaudit.audit.papers.renamer.tasks import block_words as words
from codeaudit.audit.papers.renamer.tasks import has_implied as implied
from codeaudit.audit.papers.renamer.terms import (
    TOO_LONG,
    UNKNOWN,
    Reading,
    Term,
    TermInput,
    TermReader,
    partition,
    renamed,
    spelled,
    steps,
    tokenizer_of,
)
from codeaudit.transforms.x86.legality import choices
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import renamed as rewritten
from tests.support.blocks import BLOCKS, FIGURE_A, FIGURE_B, FIGURE_C, renamings
from tests.transforms.x86.support import own_blocks

READINGS: tuple[Reading, ...] = ("views", "names", "first use")


def test_figure_1_as_the_paper_reads_it() -> None:
    block = terms(FIGURE_A)
    assert spelled(block, "views") == (
        [
            "<cls>",
            "movq mr",
            "[",
            "D",
            "gp64",
            "]",
            "gp64",
            ";",
            "subl im",
            "IMM",
            "[",
            "D",
            "gp64",
            "]",
            ";",
            "movl mr",
            "[",
            "D",
            "gp64",
            "]",
            "gp32",
            ";",
        ]
    )
    bases = [term.referent for term in block if term.kind]
    assert bases == ["rsp", "rax", "rbp", "rax", "rax"]
    numbers = partition(block)
    by_base = {number for term, number in zip(block, numbers, strict=True) if term.referent == "rax"}
    assert len(by_base) == 1, "%rax and %eax are coreferential"
    ends = {number for term, number in zip(block, numbers, strict=True) if term.view == ";"}
    assert len(ends) == 1, "a word is coreferential with itself"
    assert len({numbers[place] for place, term in enumerate(block) if term.kind}) == 3


def test_a_renaming_is_not_seen_and_a_broken_view_or_referent_is() -> None:
    first, second, third = (terms(figure) for figure in (FIGURE_A, FIGURE_B, FIGURE_C))
    for reading in ("views", "first use"):
        assert spelled(first, reading) == spelled(second, reading) != spelled(third, reading)
    assert partition(first) == partition(second) != partition(third)
    assert spelled(first, "names") != spelled(second, "names")


@pytest.mark.parametrize("source", BLOCKS)
def test_every_legal_renaming_reads_alike(source: str) -> None:
    first = terms(source)
    texts = set(renamings(source, 100))
    assert texts - {source}
    for text in texts:
        other = terms(text)
        assert spelled(other, "views") == spelled(first, "views")
        assert spelled(other, "first use") == spelled(first, "first use")
        assert partition(other) == partition(first)


@pytest.mark.slow
def test_real_blocks_read_alike_under_a_renaming() -> None:
    moved = 0
    for source in own_blocks(600):
        for text in renamings(source, 1):
            first, other = terms(source), terms(text)
            assert spelled(other, "views") == spelled(first, "views"), (source, text)
            assert partition(other) == partition(first), (source, text)
            moved += spelled(other, "names") != spelled(first, "names")
    assert moved > 400


def test_terms_are_renamed_as_the_text_is() -> None:
    """Augmentation draws a renaming and puts it into the terms; the text would read the same."""
    for source in BLOCKS:
        block = read(source)
        for seed in range(20):
            drawn = choices(block).draw(Random(seed))
            text = rewritten(block, drawn)
            assert text is not None
            assert tuple(renamed(terms(source), drawn)) == terms(text)


def test_a_term_knows_its_opcode_its_place_and_its_step() -> None:
    block = terms("addq 8(%rax,%rcx,4), %rdx\npushq %rbx")
    contexts = [(term.view, term.context) for term in block if term.kind]
    assert contexts == [
        ("gp64", ("addq mr", "@2")),
        ("gp64", ("addq mr", "@2x")),
        ("gp64", ("addq mr", "@1")),
        ("implied gp", ("pushq r",)),
        ("gp64", ("pushq r", "@1")),
    ]
    numbers = steps(block, END.view)
    assert len(numbers) == len(block)
    assert [numbers[place] for place, term in enumerate(block) if term.kind] == [1, 1, 1, 2, 2]
    assert numbers[0] == 0
    assert steps(block, "") == list(range(len(block)))


def test_no_renaming_changes_where_a_term_stands() -> None:
    block = terms(FIGURE_A)
    other = renamed(block, {"rax": "r9", "rbp": "rbx"})
    assert [term.context for term in other] == [term.context for term in block]
    assert other != block  # type: ignore[comparison-overlap]


def test_an_implied_register_is_coreferential_with_the_named_one() -> None:
    block = terms("pushq %rax\nmovq (%rsp), %rcx")
    views = {
        (term.view, number)
        for term, number in zip(block, partition(block), strict=True)
        if term.referent == "rsp"
    }
    assert {view for view, _ in views} == {"implied gp", "gp64"}
    assert len({number for _, number in views}) == 1
    assert implied("pushq %rax")
    assert not implied("addq %rax, %rcx")


def test_one_instruction_in_several_spellings_reads_alike() -> None:
    assert terms("mov %rax, %rbx") == terms("movq  %rax,%rbx  # copy") == terms("movq %RAX, %rbx")
    assert terms("lock\naddl %eax, (%rbx)") == terms("lock addl %eax, (%rbx)")


def test_first_use_numbers_each_class_apart() -> None:
    assert spelled(terms("movd %r9d, %xmm7\npaddd %xmm7, %xmm1"), "first use") == [
        "<cls>", "movd rr", "gp32 #0", "vec128 #0", ";", "paddd rr", "vec128 #0", "vec128 #1", ";",
    ]  # fmt: skip


@pytest.mark.parametrize("reading", READINGS)
def test_every_register_is_a_word_whether_or_not_a_corpus_has_it(reading: Reading) -> None:
    known = set(words(reading))
    for source in (*BLOCKS, "vpaddd %zmm31, %zmm17, %zmm0 {%k3} {z}", "movb %dil, %r15b"):
        named = [
            word
            for term, word in zip(terms(source), spelled(terms(source), reading), strict=True)
            if term.kind
        ]
        assert set(named) <= known


def test_what_is_not_known_is_the_unknown_word_and_what_is_too_long_fails() -> None:
    tokenizer = tokenizer_of(["movq", ";"])
    encoded = TermReader(tokenizer, "views", window=4).read((Term("movq"), Term("strange"), Term(";")))
    assert isinstance(encoded, TermInput)
    assert encoded.ids.tolist() == [
        tokenizer.token_to_id("movq"), tokenizer.token_to_id(UNKNOWN), tokenizer.token_to_id(";"),
    ]  # fmt: skip
    assert TermReader(tokenizer, "views", window=2).read((Term("a"), Term("b"), Term("c"))) == TOO_LONG


def test_a_vocabulary_is_the_same_for_the_same_words() -> None:
    assert tokenizer_of(["b", "a", "a"]).get_vocab() == {"<pad>": 0, "<unk>": 1, "<cls>": 2, "a": 3, "b": 4}
