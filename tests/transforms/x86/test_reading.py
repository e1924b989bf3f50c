"""Text and machine code are read into the same instructions, or refused with one line."""

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import from_code, from_hex, from_intel, read
from tests.transforms.x86.support import FIGURE_A, own_blocks

LINES = [
    # AT&T text, machine code
    ("movq 64(%rsp), %rax", "488b442440"),
    ("movl %ecx, (%rax,%rdx,4)", "890c90"),
    ("movb %ah, %bl", "88e3"),
    ("movabsq $-6148914691236517205, %r8", "49b8abaaaaaaaaaaaaaa"),
    ("movslq (%rax,%rcx,4), %rcx", "48630c88"),
    ("movzbl 16(%rax), %edx", "0fb65010"),
    ("leaq 32(%rdi), %r10", "4c8d5720"),
    ("leaq (,%rax,8), %rax", "488d04c500000000"),
    ("movq %fs:40, %rax", "64488b042528000000"),
    ("movl (%eax), %eax", "678b00"),
    ("nopw %cs:(%rax,%rax)", "2e660f1f0400"),
    ("xchgw %ax, %ax", "6690"),
    ("nop", "90"),
    ("cltq", "4898"),
    ("cqto", "4899"),
    ("shlq %rax", "48d1e0"),
    ("shlq $1, %rax", "48d1e0"),
    ("sarl %cl, %eax", "d3f8"),
    ("shll $4, %edx", "c1e204"),
    ("sall $4, %edx", "c1e204"),
    ("cmovcq %rsi, %rdi", "480f42fe"),
    ("cmovnl %esi, %edi", "0f4dfe"),
    ("cmovnel %esi, %edi", "0f45fe"),
    ("setnz %al", "0f95c0"),
    ("imulq $8, %rax, %rcx", "486bc808"),
    ("imulq $8, %rcx", "486bc908"),
    ("addl $-3, %eax", "83c0fd"),
    ("addl $4294967293, %eax", "83c0fd"),
    ("testb $1, %al", "a801"),
    ("pushq $16", "6a10"),
    ("popq %r12", "415c"),
    ("cmpxchgq %rbx, (%rdi)", "480fb11f"),
    ("lock cmpxchgq %rbx, (%rdi)", "f0480fb11f"),
    ("rep movsq (%rsi), %es:(%rdi)", "f348a5"),
    ("rep movsq", "f348a5"),
    ("stosq %rax, %es:(%rdi)", "48ab"),
    ("movsd 8(%rsp), %xmm3", "f20f105c2408"),
    ("cvtsi2sd %rcx, %xmm2", "f2480f2ad1"),
    ("cvtsi2sdl 4(%rsp), %xmm1", "f20f2a4c2404"),
    ("cmpeqps %xmm1, %xmm0", "0fc2c100"),
    ("cmpps $0, %xmm1, %xmm0", "0fc2c100"),
    ("blendvps %xmm0, %xmm1, %xmm2", "660f3814d1"),
    ("movq %xmm0, %rax", "66480f7ec0"),
    ("vaddps %xmm1, %xmm2, %xmm3", "c5e858d9"),
    ("vfmadd231ps %ymm5, %ymm0, %ymm9", "c4627db8cd"),
    ("vaddps %zmm1, %zmm2, %zmm3{%k1}{z}", "62f16cc958d9"),
    ("vaddps (%rcx){1to16}, %zmm0, %zmm0", "62f17c585801"),
    ("vaddps {ru-sae}, %zmm1, %zmm0, %zmm0", "62f17c5858c1"),
    ("vgatherdps %xmm1, (%rax,%xmm2,4), %xmm3", "c4e271921c90"),
    ("fxch %st(3)", "d9cb"),
    ("fmul %st(0), %st", "d8c8"),
    ("faddp %st, %st(1)", "dec1"),
    ("fstp %st(0)", "ddd8"),
    ("fnstsw %ax", "dfe0"),
    ("wait", "9b"),
    ("andnl %eax, %ecx, %eax", "c4e270f2c0"),
    ("movl 8(%rip), %eax", "8b0508000000"),
]


@pytest.mark.thinned(19)
@pytest.mark.parametrize(("text", "code"), LINES)
def test_a_line_is_encoded_as_an_assembler_would(text: str, code: str) -> None:
    assert read(text).code.hex() == code


@pytest.mark.thinned(18)
@pytest.mark.parametrize("code", sorted({code for _, code in LINES}))
def test_machine_code_is_written_as_text_that_reads_back(code: str) -> None:
    block = from_hex(code)
    assert block.code.hex() == code
    assert read(block.source).code.hex() == code


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("mov ecx, dword ptr [rax+rdx*4-8]", "movl -8(%rax,%rdx,4), %ecx"),
        ("mov ecx, [rsp + 40h]", "movl 64(%rsp), %ecx"),
        ("mov rax, qword ptr fs:[0x28]", "movq %fs:40, %rax"),
        ("lea rax, [2*rcx]", "leaq (,%rcx,2), %rax"),
        ("lock xadd dword ptr [rdx], eax", "lock xaddl %eax, (%rdx)"),
        ("movzx eax, byte ptr [rdi]", "movzbl (%rdi), %eax"),
        ("movsxd rcx, dword ptr [rax]", "movslq (%rax), %rcx"),
        ("imul rdx, 118", "imulq $118, %rdx, %rdx"),
        ("push 487", "pushq $487"),
        ("shl eax, 1", "shll $1, %eax"),
        ("movsd xmm0, qword ptr [rax]", "movsd (%rax), %xmm0"),
        ("vaddps xmm3, xmm2, xmmword ptr [rax]", "vaddps (%rax), %xmm2, %xmm3"),
        ("vaddps zmm3{k1}{z}, zmm2, zmm1", "vaddps %zmm1, %zmm2, %zmm3{%k1}{z}"),
        ("rep stosq", "rep stosq %rax, (%rdi)"),
        ("mov rax, -1", "movq $-1, %rax"),
        ("cdqe", "cltq"),
        ("pushf", "pushfq"),
        ("popf", "popfq"),
        ("pushfw", "pushfw"),
        ("vaddps zmm2{k1},zmm1,zmm0{rn-sae}", "vaddps {rn-sae}, %zmm0, %zmm1, %zmm2{%k1}"),
        ("vcmpps k1, zmm1, zmm2{sae}, 1", "vcmpltps {sae}, %zmm2, %zmm1, %k1"),
        ("vaddps zmm2, zmm1, zmm0, {rd-sae}", "vaddps {rd-sae}, %zmm0, %zmm1, %zmm2"),
        ("fld tbyte ptr [rax]", "fldt (%rax)"),
        ("fstp qword ptr 8[rsp]", "fstpl 8(%rsp)"),
        ("fiadd word ptr [rax]", "fiadds (%rax)"),
        ("mov eax, dword ptr -20[rbp+rcx*4]", "movl -20(%rbp,%rcx,4), %eax"),
        ("rep stos qword ptr es:[rdi], rax", "rep stosq %rax, (%rdi)"),
        ("rep movs dword ptr [rdi], dword ptr [rsi]", "rep movsl (%rsi), (%rdi)"),
        ("repnz scas al, byte ptr es:[rdi]", "repne scasb (%rdi), %al"),
    ],
)
def test_intel_text_becomes_att_text(text: str, source: str) -> None:
    assert from_intel(text).source == source


def test_att_intel_and_machine_code_are_one_block() -> None:
    intel = "mov rax, [rsp+64]\nsub dword ptr [rbp+56], 1\nmov eax, [rax+16]"
    block = read(FIGURE_A)
    assert from_intel(intel).source == FIGURE_A
    assert from_hex("48 8b 44 24 40 83 6d 38 01 8b 40 10").source == FIGURE_A
    assert block.code == from_intel(intel).code


def test_blank_lines_and_comments_are_let_be() -> None:
    source = "\n  addl $256, %eax  # imm = 0x100\n# nothing\n\tsubl %eax, %ebx\n"
    block = read(source)
    assert [operation.text for operation in block.operations] == ["addl $256, %eax", "subl %eax, %ebx"]
    assert block.source == source


def test_a_lock_on_a_line_of_its_own_belongs_to_the_next_line() -> None:
    assert read("lock\n\txaddl %eax, (%rdx)").code == read("lock xaddl %eax, (%rdx)").code
    assert len(read("lock\nxaddl %eax, (%rdx)").operations) == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no instruction"),
        ("# nothing", "no instruction"),
        ("nop\nmovq %rax, %ebx", "line 2: no instruction 'movq' with these operands"),
        ("movk %rax, %rbx", "line 1: unknown mnemonic 'movk'"),
        ("sub $1, 56(%rbp)", "line 1: 'sub' leaves the size of its operand open; write the suffix"),
        ("movq %foo, %rax", "line 1: no instruction 'movq' with these operands"),
        ("movq $x, %rax", "line 1: 'x' is no number"),
        ("movl %ecx, 020(%rax)", "line 1: '020' is no number"),
        ("movq 8(%rax, %rbx", "line 1: operand '8(%rax, %rbx' cannot be read"),
        ("movq (%rax,%rsp), %rbx", "line 1: no instruction 'movq' with these operands"),
        ("movb %ah, %r8b", "line 1: no instruction 'movb' with these operands"),
        ("movb %ah, %sil", "line 1: no instruction 'movb' with these operands"),
        ("shll %edx, %eax", "line 1: no instruction 'shll' with these operands"),
        ("movq (%eax,%rbx), %rax", "line 1: no instruction 'movq' with these operands"),
        ("addl $4294967296, %eax", "line 1: no instruction 'addl' with these operands"),
        ("movq 2147483648(%rax), %rax", "line 1: no instruction 'movq' with these operands"),
        ("leaq (%rax,%rbx,3), %rax", "line 1: no instruction 'leaq' with these operands"),
        (".text", "line 1: '.text' is no instruction"),
        ("main:", "line 1: 'main:' is no instruction"),
        ("jne 8", "line 1: unknown mnemonic 'jne'"),
        ("callq *%rax", "line 1: a jump or call has no place in a basic block"),
        ("addr32 movl (%eax), %ebx", "line 1: prefix 'addr32' is not read"),
        ("nop\nlock", "line 2: 'lock' stands before no instruction"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(source: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(source)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "nop\nmov [rax], 1",
            "line 2: 'mov' leaves the size of its operand open; write `dword ptr` or the like",
        ),
        ("mov rax, [rbx-rcx]", "line 1: address [rbx-rcx] cannot be read"),
        ("mov rax, [rbx+rcx+rdx]", "line 1: address [rbx+rcx+rdx] cannot be read"),
        ("mov rax, foo bar", "line 1: operand 'foo bar' cannot be read"),
        ("mov rax, [rbx+020]", "line 1: address [rbx+020] cannot be read"),
        ("mov rax, table[rbx]", "line 1: 'table' is no number"),
        ("mov eax, 010", "line 1: operand '010' cannot be read"),
        ("movs byte ptr [rdi], dword ptr [rsi]", "line 1: no instruction 'movs' with these operands"),
        ("mov dword ptr [rax], rbx", "line 1: no instruction 'mov' with these operands"),
    ],
)
def test_intel_text_that_cannot_be_read_is_one_clear_line(source: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        from_intel(source)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["4", "zz", "", "48 8"])
def test_no_machine_code(text: str) -> None:
    with pytest.raises(SourceError, match="pairs of hexadecimal digits"):
        from_hex(text)


def test_machine_code_that_is_cut_off() -> None:
    with pytest.raises(SourceError, match="byte 3 begins no instruction"):
        from_hex("4889c3 488b")


def test_a_branch_has_no_text() -> None:
    with pytest.raises(SourceError):
        from_hex("ebfe")


def test_blocks_of_a_program_read_back() -> None:
    for source in own_blocks(300):
        block = read(source)
        again = from_code(block.code)
        assert isinstance(compare(block, again), Equivalent)
        assert again.source == source
