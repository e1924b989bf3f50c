"""The strategies that C shares with other languages, and its own, as transforms of C."""

from typing import Final

from codeaudit.transforms.c import spellings
from codeaudit.transforms.c.rewriting import CRewriting
from codeaudit.transforms.strategies import (
    assignments,
    branches,
    conditions,
    dead_code,
    declarations,
    layout,
    literals,
    logic,
    loops,
    operands,
    switches,
)

INVERT_IF: Final = CRewriting.of(branches.INVERT_IF)
NEST_ELIF: Final = CRewriting.of(branches.NEST_ELIF)
FLATTEN_ELIF: Final = CRewriting.of(branches.FLATTEN_ELIF)
RETURN_TO_ELSE: Final = CRewriting.of(branches.RETURN_TO_ELSE)
ELSE_TO_RETURN: Final = CRewriting.of(branches.ELSE_TO_RETURN)
INSERT_BRACES: Final = CRewriting.of(branches.INSERT_BRACES)
REMOVE_BRACES: Final = CRewriting.of(branches.REMOVE_BRACES)
IF_INVERTED_WRONG: Final = CRewriting.of(branches.IF_INVERTED_WRONG)
BRANCH_DROPPED: Final = CRewriting.of(branches.BRANCH_DROPPED)

SPLIT_CONDITIONS: Final = CRewriting.of(conditions.SPLIT_CONDITIONS)
MERGE_CONDITIONS: Final = CRewriting.of(conditions.MERGE_CONDITIONS)
TERNARY_TO_IF: Final = CRewriting.of(conditions.TERNARY_TO_IF)
IF_TO_TERNARY: Final = CRewriting.of(conditions.IF_TO_TERNARY)
CONDITION_DROPPED: Final = CRewriting.of(conditions.CONDITION_DROPPED)

SWITCH_TO_IF: Final = CRewriting.of(switches.SWITCH_TO_IF)
IF_TO_SWITCH: Final = CRewriting.of(switches.IF_TO_SWITCH)

WHILE_TO_FOR: Final = CRewriting.of(loops.WHILE_TO_FOR)
WHILE_TO_WHILE_TRUE: Final = CRewriting.of(loops.WHILE_TO_WHILE_TRUE)
DO_TO_WHILE_TRUE: Final = CRewriting.of(loops.DO_TO_WHILE_TRUE)
FOR_TO_WHILE: Final = CRewriting.of(loops.FOR_TO_WHILE)
FOR_OFF_BY_ONE: Final = CRewriting.of(loops.FOR_OFF_BY_ONE)
LOOP_LEFT_EARLY: Final = CRewriting.of(loops.LOOP_LEFT_EARLY)

DE_MORGAN: Final = CRewriting.of(logic.DE_MORGAN)
DOUBLE_NEGATION: Final = CRewriting.of(logic.DOUBLE_NEGATION)
NEGATE_COMPARISONS: Final = CRewriting.of(logic.NEGATE_COMPARISONS)
DE_MORGAN_WRONG: Final = CRewriting.of(logic.DE_MORGAN_WRONG)
NEGATION_DROPPED: Final = CRewriting.of(logic.NEGATION_DROPPED)

FLIP_COMPARISONS: Final = CRewriting.of(operands.FLIP_COMPARISONS)
SWAP_OPERANDS: Final = CRewriting.of(operands.SWAP_OPERANDS)
IDENTITY_ARITHMETIC: Final = CRewriting.of(operands.IDENTITY_ARITHMETIC)
COMPARISON_FLIPPED_WRONG: Final = CRewriting.of(operands.COMPARISON_FLIPPED_WRONG)
OPERANDS_SWAPPED_WRONG: Final = CRewriting.of(operands.OPERANDS_SWAPPED_WRONG)
IDENTITY_ARITHMETIC_WRONG: Final = CRewriting.of(operands.IDENTITY_ARITHMETIC_WRONG)
ARGUMENTS_SWAPPED: Final = CRewriting.of(operands.ARGUMENTS_SWAPPED)

EXPAND_AUGMENTED: Final = CRewriting.of(assignments.EXPAND_AUGMENTED)
CONTRACT_AUGMENTED: Final = CRewriting.of(assignments.CONTRACT_AUGMENTED)
EXPAND_INCREMENTS: Final = CRewriting.of(assignments.EXPAND_INCREMENTS)
CONTRACT_INCREMENTS: Final = CRewriting.of(assignments.CONTRACT_INCREMENTS)
AUGMENTED_WRONG: Final = CRewriting.of(assignments.AUGMENTED_WRONG)
UPDATE_DROPPED: Final = CRewriting.of(assignments.UPDATE_DROPPED)

SPLIT_DECLARATIONS: Final = CRewriting.of(declarations.SPLIT_DECLARATIONS)
JOIN_DECLARATIONS: Final = CRewriting.of(declarations.JOIN_DECLARATIONS)
SPLIT_INITIALISERS: Final = CRewriting.of(declarations.SPLIT_INITIALISERS)
JOIN_INITIALISERS: Final = CRewriting.of(declarations.JOIN_INITIALISERS)

UNUSED_LOCALS: Final = CRewriting.of(dead_code.UNUSED_LOCALS)
DEAD_STORES: Final = CRewriting.of(dead_code.DEAD_STORES)
UNREACHABLE_BRANCHES: Final = CRewriting.of(dead_code.UNREACHABLE_BRANCHES)
NO_OP_STATEMENTS: Final = CRewriting.of(dead_code.NO_OP_STATEMENTS)
ELSE_PASS: Final = CRewriting.of(dead_code.ELSE_PASS)
REDUNDANT_JUMPS: Final = CRewriting.of(dead_code.REDUNDANT_JUMPS)
LIVE_ASSIGNMENT: Final = CRewriting.of(dead_code.LIVE_ASSIGNMENT)
REACHABLE_BRANCH: Final = CRewriting.of(dead_code.REACHABLE_BRANCH)

LITERAL_BASES: Final = CRewriting.of(literals.LITERAL_BASES)
CHARACTER_ESCAPES: Final = CRewriting.of(literals.CHARACTER_ESCAPES)
LITERAL_CHANGED: Final = CRewriting.of(literals.LITERAL_CHANGED)
STRING_CHANGED: Final = CRewriting.of(literals.STRING_CHANGED)

INSERT_COMMENTS: Final = CRewriting.of(layout.INSERT_COMMENTS)
REMOVE_COMMENTS: Final = CRewriting.of(layout.REMOVE_COMMENTS)
INSERT_BLANK_LINES: Final = CRewriting.of(layout.INSERT_BLANK_LINES)
REMOVE_BLANK_LINES: Final = CRewriting.of(layout.REMOVE_BLANK_LINES)
SPLIT_LINES: Final = CRewriting.of(layout.SPLIT_LINES)
JOIN_LINES: Final = CRewriting.of(layout.JOIN_LINES)
INDENTATION: Final = CRewriting.of(layout.INDENTATION)
BRACE_LINES: Final = CRewriting.of(layout.BRACE_LINES)
SPACING: Final = CRewriting.of(layout.SPACING)
INSERT_PARENTHESES: Final = CRewriting.of(layout.INSERT_PARENTHESES)
REMOVE_PARENTHESES: Final = CRewriting.of(layout.REMOVE_PARENTHESES)

ARROW_TO_STAR: Final = CRewriting.of(spellings.ARROW_TO_STAR)
STAR_TO_ARROW: Final = CRewriting.of(spellings.STAR_TO_ARROW)
INDEX_TO_POINTER: Final = CRewriting.of(spellings.INDEX_TO_POINTER)
POINTER_TO_INDEX: Final = CRewriting.of(spellings.POINTER_TO_INDEX)
NOT_TO_ZERO: Final = CRewriting.of(spellings.NOT_TO_ZERO)
ZERO_TO_NOT: Final = CRewriting.of(spellings.ZERO_TO_NOT)
SPLIT_STRINGS: Final = CRewriting.of(spellings.SPLIT_STRINGS)
JOIN_STRINGS: Final = CRewriting.of(spellings.JOIN_STRINGS)
