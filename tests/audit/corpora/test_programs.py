"""Corpora of blocks: programs, assembly text, and tables of text or machine code."""

import csv
import gzip
import io
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import Corpus, LabelColumn
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample
from codeaudit.transforms.x86.blocks import running_program
from codeaudit.transforms.x86.catalogue import transfers
from codeaudit.transforms.x86.reading import read
from tests.support.blocks import FIGURE_A
from tests.support.data import data_set
from tests.transforms.x86.support import own_blocks

INTEL = """
    .intel_syntax noprefix
    .text
first:
    mov rax, [rsp + 64]   # a load
    sub dword ptr [rbp + 56], 1
second:
    mov eax, [rax + 16]
"""

ATT = "movq 64(%rsp), %rax\n# about the next\nsubl $1, 56(%rbp)\n\nnonsense\n\n.L3:\n\tmovl 16(%rax), %eax\n"


def sources(blocks: Corpus, skipped: Counter[str] | None = None) -> list[str]:
    return [sample.source for sample in blocks.read(Counter() if skipped is None else skipped)]


def table(path: Path, *rows: dict[str, object]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


@pytest.mark.slow
def test_the_interpreter_has_blocks_without_any_data() -> None:
    known = own_blocks(50)
    stream = corpus("interpreter").read(Counter())
    blocks = [next(stream) for _ in range(50)]
    assert tuple(block.source for block in blocks) == known
    assert {(block.language, block.label) for block in blocks} == {("x86", None)}
    assert all(isinstance(THROUGHPUT.prepare(block), Sample) for block in blocks)
    assert blocks[0].origin.path == running_program().name
    assert [block.origin.line for block in blocks] == sorted(block.origin.line for block in blocks)


def test_a_program_is_a_corpus_by_its_first_bytes() -> None:
    known = own_blocks(5)
    stream = corpus(str(running_program())).read(Counter())
    assert tuple(next(stream).source for _ in range(5)) == known


def test_what_is_no_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "half").write_bytes(b"\x7fELF\x02\x01")
    with pytest.raises(CorpusError, match="no x86-64 ELF file"):
        list(corpus(str(tmp_path / "half")).read(Counter()))
    (tmp_path / "other.bin").write_bytes(b"MZ")
    with pytest.raises(CorpusError, match=r"no known format.*ELF"):
        corpus(str(tmp_path / "other.bin"))


def test_assembly_is_cut_at_empty_lines_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "blocks.s"
    path.write_text(ATT)
    skipped: Counter[str] = Counter()
    blocks = list(corpus(str(path)).read(skipped))
    assert [(block.origin.line, len(read(block.source).operations)) for block in blocks] == [(1, 2), (8, 1)]
    assert skipped == {"block that cannot be read": 1}


def test_intel_text_is_read_where_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "blocks.s"
    path.write_text(INTEL)
    assert "\n".join(sources(corpus(str(path)))) == FIGURE_A


COMPILED = """
f:
\ttestl\t%esi, %esi
\tjle\t.L4
\tmovq\t%rdi, %rax
\taddq\t%rsi, %rax
\tcall\tg@PLT
\tnegq\t%rax
\tnotrack jmp\t*%rdx
\tincq\t%rax
\trep ret
"""


def test_assembly_is_cut_before_every_transfer_of_control(tmp_path: Path) -> None:
    path = tmp_path / "compiled.s"
    path.write_text(COMPILED)
    skipped: Counter[str] = Counter()
    texts = [" ".join(block.source.split()) for block in corpus(str(path)).read(skipped)]
    whole = "testl %esi, %esi | movq %rdi, %rax addq %rsi, %rax | negq %rax | incq %rax"
    assert texts == whole.split(" | ")
    assert not skipped


def test_every_mnemonic_that_passes_control_elsewhere_is_known() -> None:
    words = "jmp jmpq je jz jnbe jrcxz loop loopz call callq ret retq syscall int3 ud2 iretq xbegin"
    assert set(words.split()) <= transfers()
    assert not {"movq", "addl", "nop", "leave", "pushq", "cmovz", "setz", "lea"} & transfers()


def test_a_listing_of_a_disassembler_is_told(tmp_path: Path) -> None:
    path = tmp_path / "listing.s"
    path.write_text("0000000000004000 <main>:\n    4000:\t55                   \tpush   %rbp\n")
    with pytest.raises(CorpusError, match="listing of a disassembler: name the program itself"):
        list(corpus(str(path)).read(Counter()))


def test_a_table_of_machine_code_is_a_corpus(tmp_path: Path) -> None:
    skipped: Counter[str] = Counter()
    place = table(tmp_path / "t.csv.gz", {"hex": "4889d8", "frequency": 1}, {"hex": "zz", "frequency": 1})
    (block,) = corpus(place).read(skipped)
    assert (block.source, block.language, block.label) == ("movq %rbx, %rax", "x86", None)
    assert skipped == {"machine code that cannot be read": 1}


def test_the_text_counts_where_a_table_has_both(tmp_path: Path) -> None:
    place = table(tmp_path / "t.csv", {"hex": "90", "asm": "movq %rbx, %rax"})
    assert sources(corpus(place)) == ["movq %rbx, %rax"]


def test_labels_come_from_the_column_that_is_named(tmp_path: Path) -> None:
    rows = [
        {"asm": "incq %rax", "label": "7", "throughput_hsw": "168"},
        {"asm": "incq %rbx", "label": "7", "throughput_hsw": ""},
    ]
    place = table(tmp_path / "t.csv", *rows)  # type: ignore[arg-type]
    named = corpus(place, LabelColumn(name="throughput_hsw", divisor=100)).read(Counter())
    assert [sample.label for sample in named] == [1.68, None]
    prepared = [THROUGHPUT.prepare(sample) for sample in corpus(place).read(Counter())]
    assert [sample.label for sample in prepared if isinstance(sample, Sample)] == [7.0, 7.0]


def test_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    place = table(tmp_path / "t.csv", {"asm": "incq %rax", "throughput_hsw": "168"})
    with pytest.raises(CorpusError, match="did you mean 'throughput_hsw'"):
        list(corpus(place, LabelColumn(name="throughput_hws")).read(Counter()))
    with pytest.raises(CorpusError, match="is no table, so it has no column 'x'"):
        corpus("stdlib", LabelColumn(name="x"))


BHIVE = "4883c2014883fa40,0.00001339\n\n4889d8, 168\n00ffzz,7\n90\n"
"""As in `benchmark/sources`, with a row that is none and one without a number."""


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_of_machine_code_needs_no_header(tmp_path: Path, ending: str, mark: str) -> None:
    path = tmp_path / f"t{ending}"
    data = (mark + BHIVE).encode()
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    skipped: Counter[str] = Counter()
    blocks = list(corpus(str(path)).read(skipped))
    assert [(block.source, block.language, block.label, block.origin.line) for block in blocks] == [
        ("addq $1, %rdx\ncmpq $64, %rdx", "x86", None, 1),
        ("movq %rbx, %rax", "x86", None, 2),
        ("nop", "x86", None, 4),
    ]
    assert skipped == {"machine code that cannot be read": 1}
    labelled = corpus(str(path), LabelColumn(name="2", divisor=100)).read(Counter())
    assert [block.label for block in labelled] == [pytest.approx(1.339e-7), 1.68, None]


def test_a_column_by_number_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(BHIVE)
    for name in ("3", "frequency"):
        with pytest.raises(CorpusError, match=rf"table 't.csv' has no column '{name}'; known: 2, hex"):
            list(corpus(str(path), LabelColumn(name=name)).read(Counter()))
    path.write_text("hex,frequency\n4889d8,168\n")
    with pytest.raises(CorpusError, match=r"table 't.csv' has no column '2'; known: frequency, hex"):
        list(corpus(str(path), LabelColumn(name="2")).read(Counter()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("foo,bar\n1,2\n", "has no column of code: .* it has foo, bar"),
        ("488,1\n", "has no column of code: .*; without a header"),
        ("movq %rax;1\n", "its cells are separated by ';'"),
        ("x = 1\n", "has no column of code: .*; without a header"),
    ],
)
def test_a_table_that_is_neither_is_one_error(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(CorpusError, match=said):
        list(corpus(str(path)).read(Counter()))


def test_blocks_of_bhive_without_a_header(tmp_path: Path) -> None:
    """The same rows with a header and without give the same blocks."""
    csv.field_size_limit(1 << 20)
    with gzip.open(data_set("bhive_blocks.csv.gz"), "rt", encoding="utf-8") as file:
        rows = list(islice(csv.DictReader(file), 300))
    (tmp_path / "bare.csv").write_text("".join(f"{row['hex']},{row['throughput_hsw']}\n" for row in rows))
    known = table(
        tmp_path / "t.csv",
        *({"hex": row["hex"], "throughput_hsw": row["throughput_hsw"]} for row in rows),
    )
    bare = corpus(str(tmp_path / "bare.csv"), LabelColumn(name="2", divisor=100)).read(Counter())
    named = corpus(known, LabelColumn(name="throughput_hsw", divisor=100)).read(Counter())
    pairs = [(block.id, block.label) for block in bare]
    assert pairs == [(block.id, block.label) for block in named]
    assert len(pairs) > 290
