"""Java's transforms that follow a strategy, one constant each; they are registered in the families."""

from typing import Final

from codeaudit.transforms.java.rewriting import Rewriting
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
)  # fmt: skip

DE_MORGAN: Final = Rewriting.of(logic.DE_MORGAN)
DOUBLE_NEGATION: Final = Rewriting.of(logic.DOUBLE_NEGATION)
NEGATE_COMPARISONS: Final = Rewriting.of(logic.NEGATE_COMPARISONS)
DE_MORGAN_WRONG: Final = Rewriting.of(logic.DE_MORGAN_WRONG)
NEGATION_DROPPED: Final = Rewriting.of(logic.NEGATION_DROPPED)

SWAP_OPERANDS: Final = Rewriting.of(operands.SWAP_OPERANDS)
FLIP_COMPARISONS: Final = Rewriting.of(operands.FLIP_COMPARISONS)
BOOL_LITERALS: Final = Rewriting.of(operands.BOOL_LITERALS)
IDENTITY_ARITHMETIC: Final = Rewriting.of(operands.IDENTITY_ARITHMETIC)
OPERANDS_SWAPPED_WRONG: Final = Rewriting.of(operands.OPERANDS_SWAPPED_WRONG)
COMPARISON_FLIPPED_WRONG: Final = Rewriting.of(operands.COMPARISON_FLIPPED_WRONG)
BOOL_LITERALS_WRONG: Final = Rewriting.of(operands.BOOL_LITERALS_WRONG)
IDENTITY_ARITHMETIC_WRONG: Final = Rewriting.of(operands.IDENTITY_ARITHMETIC_WRONG)
ARGUMENTS_SWAPPED: Final = Rewriting.of(operands.ARGUMENTS_SWAPPED)

EXPAND_AUGMENTED: Final = Rewriting.of(assignments.EXPAND_AUGMENTED)
CONTRACT_AUGMENTED: Final = Rewriting.of(assignments.CONTRACT_AUGMENTED)
EXPAND_INCREMENTS: Final = Rewriting.of(assignments.EXPAND_INCREMENTS)
CONTRACT_INCREMENTS: Final = Rewriting.of(assignments.CONTRACT_INCREMENTS)
AUGMENTED_WRONG: Final = Rewriting.of(assignments.AUGMENTED_WRONG)
UPDATE_DROPPED: Final = Rewriting.of(assignments.UPDATE_DROPPED)

INVERT_IF: Final = Rewriting.of(branches.INVERT_IF)
NEST_ELIF: Final = Rewriting.of(branches.NEST_ELIF)
FLATTEN_ELIF: Final = Rewriting.of(branches.FLATTEN_ELIF)
RETURN_TO_ELSE: Final = Rewriting.of(branches.RETURN_TO_ELSE)
ELSE_TO_RETURN: Final = Rewriting.of(branches.ELSE_TO_RETURN)
INSERT_BRACES: Final = Rewriting.of(branches.INSERT_BRACES)
REMOVE_BRACES: Final = Rewriting.of(branches.REMOVE_BRACES)
IF_INVERTED_WRONG: Final = Rewriting.of(branches.IF_INVERTED_WRONG)
BRANCH_DROPPED: Final = Rewriting.of(branches.BRANCH_DROPPED)

TERNARY_TO_IF: Final = Rewriting.of(conditions.TERNARY_TO_IF)
IF_TO_TERNARY: Final = Rewriting.of(conditions.IF_TO_TERNARY)
SPLIT_CONDITIONS: Final = Rewriting.of(conditions.SPLIT_CONDITIONS)
MERGE_CONDITIONS: Final = Rewriting.of(conditions.MERGE_CONDITIONS)
CONDITION_DROPPED: Final = Rewriting.of(conditions.CONDITION_DROPPED)

WHILE_TO_FOR: Final = Rewriting.of(loops.WHILE_TO_FOR)
WHILE_TO_WHILE_TRUE: Final = Rewriting.of(loops.WHILE_TO_WHILE_TRUE)
DO_TO_WHILE_TRUE: Final = Rewriting.of(loops.DO_TO_WHILE_TRUE)
FOR_TO_WHILE: Final = Rewriting.of(loops.FOR_TO_WHILE)
FOR_OFF_BY_ONE: Final = Rewriting.of(loops.FOR_OFF_BY_ONE)
LOOP_LEFT_EARLY: Final = Rewriting.of(loops.LOOP_LEFT_EARLY)

IF_TO_SWITCH: Final = Rewriting.of(switches.IF_TO_SWITCH)
SWITCH_TO_IF: Final = Rewriting.of(switches.SWITCH_TO_IF)

UNUSED_LOCALS: Final = Rewriting.of(dead_code.UNUSED_LOCALS)
DEAD_STORES: Final = Rewriting.of(dead_code.DEAD_STORES)
UNREACHABLE_BRANCHES: Final = Rewriting.of(dead_code.UNREACHABLE_BRANCHES)
NO_OP_STATEMENTS: Final = Rewriting.of(dead_code.NO_OP_STATEMENTS)
ELSE_PASS: Final = Rewriting.of(dead_code.ELSE_PASS)
REDUNDANT_JUMPS: Final = Rewriting.of(dead_code.REDUNDANT_JUMPS)
LIVE_ASSIGNMENT: Final = Rewriting.of(dead_code.LIVE_ASSIGNMENT)
REACHABLE_BRANCH: Final = Rewriting.of(dead_code.REACHABLE_BRANCH)

SPLIT_DECLARATIONS: Final = Rewriting.of(declarations.SPLIT_DECLARATIONS)
JOIN_DECLARATIONS: Final = Rewriting.of(declarations.JOIN_DECLARATIONS)
SPLIT_INITIALISERS: Final = Rewriting.of(declarations.SPLIT_INITIALISERS)
JOIN_INITIALISERS: Final = Rewriting.of(declarations.JOIN_INITIALISERS)

INSERT_COMMENTS: Final = Rewriting.of(layout.INSERT_COMMENTS)
REMOVE_COMMENTS: Final = Rewriting.of(layout.REMOVE_COMMENTS)
INSERT_BLANK_LINES: Final = Rewriting.of(layout.INSERT_BLANK_LINES)
REMOVE_BLANK_LINES: Final = Rewriting.of(layout.REMOVE_BLANK_LINES)
SPLIT_LINES: Final = Rewriting.of(layout.SPLIT_LINES)
JOIN_LINES: Final = Rewriting.of(layout.JOIN_LINES)
INDENTATION: Final = Rewriting.of(layout.INDENTATION)
BRACE_LINES: Final = Rewriting.of(layout.BRACE_LINES)
SPACING: Final = Rewriting.of(layout.SPACING)
INSERT_PARENTHESES: Final = Rewriting.of(layout.INSERT_PARENTHESES)
REMOVE_PARENTHESES: Final = Rewriting.of(layout.REMOVE_PARENTHESES)

LITERAL_BASES: Final = Rewriting.of(literals.LITERAL_BASES)
CHARACTER_ESCAPES: Final = Rewriting.of(literals.CHARACTER_ESCAPES)
SPLIT_STRINGS: Final = Rewriting.of(literals.SPLIT_STRINGS)
JOIN_STRINGS: Final = Rewriting.of(literals.JOIN_STRINGS)
LITERAL_CHANGED: Final = Rewriting.of(literals.LITERAL_CHANGED)
STRING_CHANGED: Final = Rewriting.of(literals.STRING_CHANGED)
