"""Random blocks that use every kind of dependence, close together: few registers, few places, all flags."""

from collections.abc import Sequence
from random import Random

_GENERAL = ("rax", "rcx", "rdx", "rbx", "rsi", "r8")
_PARTS = {
    "q": ("rax", "rcx", "rdx", "rbx", "rsi", "r8"),
    "l": ("eax", "ecx", "edx", "ebx", "esi", "r8d"),
    "w": ("ax", "cx", "dx", "bx", "si", "r8w"),
    "b": ("al", "cl", "dl", "bl", "sil", "r8b"),
}
_CONDITIONS = ("e", "ne", "b", "ae", "s", "ns", "o", "no", "p", "np", "l", "ge", "le", "g", "be", "a")
_TEMPLATES = (
    "add{s} {r}, {r}", "sub{s} ${i}, {r}", "adc{s} {r}, {m}", "sbb{s} {r}, {r}", "and{s} ${i}, {m}",
    "xor{s} {r}, {r}", "cmp{s} {m}, {r}", "test{s} {r}, {r}", "inc{s} {r}", "dec{s} {m}", "neg{s} {r}",
    "not{s} {r}", "mov{s} {r}, {r}", "mov{s} {m}, {r}", "mov{s} {r}, {m}", "mov{s} ${i}, {m}",
    "lea{q} {m}, {Q}", "shl{s} ${c}, {r}", "sar{s} %cl, {r}", "shr{s} %cl, {m}", "rol{s} ${c}, {r}",
    "rcr{s} $1, {r}", "ror{s} %cl, {r}", "imul{w} {W}, {W}", "imul{w} ${i}, {W}, {W}", "mulq {Q}", "imull {L}",
    "cltq", "cltd", "cqto", "cwtl", "cmov{x}{w} {W}, {W}", "cmov{x}q {m}, {Q}", "set{x} {B}", "set{x} {m}",
    "bt{w} ${c}, {W}", "bts{w} {W}, {W}", "btcl ${c}, {m}", "bsf{w} {W}, {W}", "bswapq {Q}", "xchg{s} {r}, {r}",
    "xadd{s} {r}, {r}", "cmpxchg{s} {r}, {r}", "movzbl {B}, {L}", "movsbq {m}, {Q}", "movslq {L}, {Q}",
    "pushq {Q}", "popq {Q}", "clc", "stc", "cmc", "lahf", "sahf", "shldq ${c}, {Q}, {Q}", "shrdl %cl, {L}, {L}",
    "stosb %al, %es:(%rdi)", "movb %ah, %bl", "addb %ch, %dh", "movb ${i}, %bh",
    "addps {v}, {v}", "movaps {v}, {v}", "paddd {v}, {v}", "movd {L}, {v}", "movq {v}, {Q}", "pxor {v}, {v}",
    "movups {m}, {v}", "movups {v}, {m}", "ucomisd {v}, {v}", "pshufd ${c}, {v}, {v}", "cvtsi2sdq {Q}, {v}",
    "movsd {m}, {v}", "movss {v}, {v}", "pmovmskb {v}, {L}", "andnl {L}, {L}, {L}", "shlxq {Q}, {Q}, {Q}",
    "mulxq {Q}, {Q}, {Q}", "rorxq ${c}, {Q}, {Q}", "tzcntq {Q}, {Q}", "popcntl {L}, {L}", "adcxq {Q}, {Q}",
    "lock xaddl {L}, {m}", "nop", "nopw {m}", "leaq -8(%rsp), %rsp",
    "lock add{s} {r}, {m}", "lock btsq ${c}, {m}", "lock cmpxchg{s} {r}, {m}", "xchg{s} {r}, {m}", "xadd{s} {r}, {m}",
    "rep movsb (%rsi), %es:(%rdi)", "rep stosl %eax, %es:(%rdi)", "repne scasb %es:(%rdi), %al",
    "repe cmpsb %es:(%rdi), (%rsi)", "lodsw (%rsi), %ax", "movsq (%rsi), %es:(%rdi)", "std", "cld", "cmc",
    "div{s} {r}", "idiv{w} {W}", "divq {m}", "idivb {m}", "imul{s} {r}", "mul{s} {m}", "cmpxchg8b {m}",
    "cmpxchg16b (%rsp)", "bt{w} {W}, {m}", "btcq {Q}, {m}", "btsl {L}, {m}", "leave",
    "movl {m}, {L}", "movl {L}, 4({L})", "movb %ah, 8(%rdi)", "xorb %al, %ah", "rcl{s} ${c}, {r}", "rclb $9, %bl",
    "rcrw $17, %bx", "rcl{s} %cl, {r}", "shld{w} %cl, {W}, {W}", "sbb{s} ${i}, {m}", "sal{s} $0, {r}", "fldl {m}",
    "faddp", "fstpl {m}", "paddd %mm1, %mm2", "movq %mm2, {m}", "emms", "vaddps %ymm1, %ymm2, %ymm0",
    "vfmadd231sd {v}, {v}, {v}", "vmovups {m}, %ymm2", "vmovups %ymm1, {m}", "vzeroupper", "vpxor {v}, {v}, {v}",
    "cvtsd2si {v}, {L}", "comiss {m}, {v}", "pinsrw $1, {L}, {v}", "blendvps %xmm0, {v}, {v}", "addsd {m}, {v}",
    "vpgatherdd %ymm2, (%rsp,%ymm1,4), %ymm0", "maskmovdqu {v}, {v}", "crc32b {B}, {L}", "adoxq {Q}, {Q}",
    "pextq {Q}, {Q}, {Q}", "bextrl {L}, {L}, {L}", "blsrq {Q}, {Q}", "movbeq {m}, {Q}", "movntil {L}, {m}",
    "addq ${c}, %rdi", "leaq 8(%r9), %r9", "incq %rbp", "subq $4, %rdi", "bts{w} {W}, {m}", "btr{w} {W}, {m}",
    "mov{s} ${i}, {m}", "movq {m}, {Q}", "movq {Q}, {m}", "add{s} {r}, {m}", "shl{s} %cl, {m}", "ror{w} %cl, {W}",
)  # fmt: skip


def random_block(rng: Random, *, most: int = 8) -> str:
    """A block of one to `most` instructions."""
    return "\n".join(line(rng) for _ in range(rng.randrange(1, most + 1)))


def theme(rng: Random) -> tuple[str, ...]:
    """A few kinds of instructions: a block of these has more dependences of one kind than a block of all."""
    return tuple(rng.choices(_TEMPLATES, k=6))


def line(rng: Random, templates: Sequence[str] = _TEMPLATES) -> str:
    """One instruction."""
    size, wide = rng.choice("qlwb"), rng.choice("qlw")
    choices = {"{s}": [size], "{w}": [wide], "{q}": ["q"], "{x}": _CONDITIONS}
    choices |= {
        "{r}": _PARTS[size],
        "{W}": _PARTS[wide],
        "{Q}": _PARTS["q"],
        "{L}": _PARTS["l"],
        "{B}": _PARTS["b"],
    }
    choices |= {
        "{v}": ("xmm0", "xmm1", "xmm2", "xmm9"),
        "{i}": ("1", "7", "-3", "100"),
        "{c}": ("1", "2", "5"),
    }
    line = rng.choice(templates)
    while "{" in line:
        place = line.index("{")
        hole = line[place : place + 3]
        if hole == "{m}":
            index = rng.choice(("", "", "", ",%rcx", ",%rdx,4", ",%r8,8"))
            text = f"{rng.choice((0, 1, 4, 8, 16))}(%{rng.choice(('rsp', 'rbp', 'rdi', 'r9'))}{index})"
        else:
            text = rng.choice(choices[hole])
            text = f"%{text}" if hole in ("{r}", "{W}", "{Q}", "{L}", "{B}", "{v}") else text
        line = line[:place] + text + line[place + 3 :]
    return line
