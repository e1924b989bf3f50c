"""JavaScript's transforms that follow a strategy, one constant each; they are registered in the families."""

from dataclasses import replace
from typing import Final

from codeaudit.transforms.javascript import spellings
from codeaudit.transforms.javascript.rewriting import JavaScriptRewriting, JavaScriptWords
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
)

DE_MORGAN: Final = JavaScriptRewriting.of(logic.DE_MORGAN)
DOUBLE_NEGATION: Final = JavaScriptRewriting.of(logic.DOUBLE_NEGATION)
NEGATE_COMPARISONS: Final = JavaScriptRewriting.of(logic.NEGATE_COMPARISONS)
DE_MORGAN_WRONG: Final = JavaScriptRewriting.of(logic.DE_MORGAN_WRONG)
NEGATION_DROPPED: Final = JavaScriptRewriting.of(logic.NEGATION_DROPPED)

INVERT_IF: Final = JavaScriptRewriting.of(branches.INVERT_IF)
NEST_ELIF: Final = JavaScriptRewriting.of(branches.NEST_ELIF)
FLATTEN_ELIF: Final = JavaScriptRewriting.of(branches.FLATTEN_ELIF)
INSERT_BRACES: Final = JavaScriptRewriting.of(branches.INSERT_BRACES)
REMOVE_BRACES: Final = JavaScriptRewriting.of(branches.REMOVE_BRACES)
IF_INVERTED_WRONG: Final = JavaScriptRewriting.of(branches.IF_INVERTED_WRONG)

SPLIT_CONDITIONS: Final = JavaScriptRewriting.of(conditions.SPLIT_CONDITIONS)
MERGE_CONDITIONS: Final = JavaScriptRewriting.of(conditions.MERGE_CONDITIONS)
CONDITION_DROPPED: Final = JavaScriptRewriting.of(conditions.CONDITION_DROPPED)

WHILE_TO_FOR: Final = JavaScriptRewriting.of(loops.WHILE_TO_FOR)
WHILE_TO_WHILE_TRUE: Final = JavaScriptRewriting.of(loops.WHILE_TO_WHILE_TRUE)
DO_TO_WHILE_TRUE: Final = JavaScriptRewriting.of(loops.DO_TO_WHILE_TRUE)
FOR_TO_WHILE: Final = JavaScriptRewriting.of(loops.FOR_TO_WHILE)
FOR_OFF_BY_ONE: Final = JavaScriptRewriting.of(loops.FOR_OFF_BY_ONE)
LOOP_LEFT_EARLY: Final = JavaScriptRewriting.of(loops.LOOP_LEFT_EARLY)

INSERT_COMMENTS: Final = JavaScriptRewriting.of(layout.INSERT_COMMENTS)
REMOVE_COMMENTS: Final = JavaScriptRewriting.of(layout.REMOVE_COMMENTS)
INSERT_BLANK_LINES: Final = JavaScriptRewriting.of(layout.INSERT_BLANK_LINES)
REMOVE_BLANK_LINES: Final = JavaScriptRewriting.of(layout.REMOVE_BLANK_LINES)
INDENTATION: Final = JavaScriptRewriting.of(layout.INDENTATION)

SWAP_OPERANDS: Final = JavaScriptRewriting.of(operands.SWAP_OPERANDS)
FLIP_COMPARISONS: Final = JavaScriptRewriting.of(operands.FLIP_COMPARISONS)
BOOL_LITERALS: Final = JavaScriptRewriting.of(operands.BOOL_LITERALS)
OPERANDS_SWAPPED_WRONG: Final = JavaScriptRewriting.of(operands.OPERANDS_SWAPPED_WRONG)
COMPARISON_FLIPPED_WRONG: Final = JavaScriptRewriting.of(operands.COMPARISON_FLIPPED_WRONG)
BOOL_LITERALS_WRONG: Final = JavaScriptRewriting.of(operands.BOOL_LITERALS_WRONG)
ARGUMENTS_SWAPPED: Final = JavaScriptRewriting.of(operands.ARGUMENTS_SWAPPED)

EXPAND_AUGMENTED: Final = JavaScriptRewriting.of(assignments.EXPAND_AUGMENTED)
CONTRACT_AUGMENTED: Final = JavaScriptRewriting.of(assignments.CONTRACT_AUGMENTED)
EXPAND_INCREMENTS: Final = JavaScriptRewriting.of(assignments.EXPAND_INCREMENTS)
CONTRACT_INCREMENTS: Final = JavaScriptRewriting.of(assignments.CONTRACT_INCREMENTS)
AUGMENTED_WRONG: Final = JavaScriptRewriting.of(assignments.AUGMENTED_WRONG)
UPDATE_DROPPED: Final = JavaScriptRewriting.of(assignments.UPDATE_DROPPED)

RETURN_TO_ELSE: Final = replace(JavaScriptRewriting.of(branches.RETURN_TO_ELSE), same_names=True)
ELSE_TO_RETURN: Final = replace(JavaScriptRewriting.of(branches.ELSE_TO_RETURN), same_names=True)
BRANCH_DROPPED: Final = JavaScriptRewriting.of(branches.BRANCH_DROPPED)

TERNARY_TO_IF: Final = JavaScriptRewriting.of(conditions.TERNARY_TO_IF)
IF_TO_TERNARY: Final = JavaScriptRewriting.of(conditions.IF_TO_TERNARY)

UNUSED_LOCALS: Final = JavaScriptRewriting.of(dead_code.UNUSED_LOCALS)
DEAD_STORES: Final = JavaScriptRewriting.of(dead_code.DEAD_STORES)
UNREACHABLE_BRANCHES: Final = JavaScriptRewriting.of(dead_code.UNREACHABLE_BRANCHES)
NO_OP_STATEMENTS: Final = JavaScriptRewriting.of(dead_code.NO_OP_STATEMENTS)
ELSE_PASS: Final = JavaScriptRewriting.of(dead_code.ELSE_PASS)
REDUNDANT_JUMPS: Final = JavaScriptRewriting.of(dead_code.REDUNDANT_JUMPS)
LIVE_ASSIGNMENT: Final = JavaScriptRewriting.of(dead_code.LIVE_ASSIGNMENT)
REACHABLE_BRANCH: Final = JavaScriptRewriting.of(dead_code.REACHABLE_BRANCH)

SPLIT_DECLARATIONS: Final = JavaScriptRewriting.of(declarations.SPLIT_DECLARATIONS)
JOIN_DECLARATIONS: Final = JavaScriptRewriting.of(declarations.JOIN_DECLARATIONS)
SPLIT_INITIALISERS: Final = JavaScriptRewriting.of(declarations.SPLIT_INITIALISERS)
JOIN_INITIALISERS: Final = JavaScriptRewriting.of(declarations.JOIN_INITIALISERS)

SPLIT_LINES: Final = JavaScriptRewriting.of(layout.SPLIT_LINES)
JOIN_LINES: Final = JavaScriptRewriting.of(layout.JOIN_LINES)
BRACE_LINES: Final = JavaScriptRewriting.of(layout.BRACE_LINES)
SPACING: Final = JavaScriptRewriting.of(layout.SPACING)
INSERT_PARENTHESES: Final = JavaScriptRewriting.of(layout.INSERT_PARENTHESES)

LITERAL_BASES: Final = JavaScriptRewriting.of(literals.LITERAL_BASES)
LITERAL_CHANGED: Final = JavaScriptRewriting.of(literals.LITERAL_CHANGED)
STRING_CHANGED: Final = JavaScriptRewriting.of(literals.STRING_CHANGED)

STRING_QUOTES: Final = JavaScriptRewriting.of(spellings.STRING_QUOTES)
MEMBER_TO_ITEM: Final = JavaScriptRewriting.of(spellings.MEMBER_TO_ITEM)
ITEM_TO_MEMBER: Final = JavaScriptRewriting.of(spellings.ITEM_TO_MEMBER)
EXPAND_SHORTHAND: Final = JavaScriptRewriting.of(spellings.EXPAND_SHORTHAND)
CONTRACT_SHORTHAND: Final = JavaScriptRewriting.of(spellings.CONTRACT_SHORTHAND)
KEY_QUOTES: Final = JavaScriptRewriting.of(spellings.KEY_QUOTES)
UNDEFINED_TO_VOID: Final = JavaScriptRewriting.of(spellings.UNDEFINED_TO_VOID)
RETURN_VOID: Final = JavaScriptRewriting.of(spellings.RETURN_VOID)
NOT_TO_TERNARY: Final = JavaScriptRewriting.of(spellings.NOT_TO_TERNARY)
SWAP_ARMS: Final = JavaScriptRewriting.of(spellings.SWAP_ARMS)
ARROW_TO_BLOCK: Final = JavaScriptRewriting.of(spellings.ARROW_TO_BLOCK)
ARROW_TO_EXPRESSION: Final = JavaScriptRewriting.of(spellings.ARROW_TO_EXPRESSION)
ARROW_PARENTHESES: Final = JavaScriptRewriting.of(spellings.ARROW_PARENTHESES)
CONST_AND_LET: Final = JavaScriptRewriting.of(spellings.CONST_AND_LET)
ARMS_SWAPPED_WRONG: Final = JavaScriptRewriting.of(spellings.ARMS_SWAPPED_WRONG)

PROSE_CASE: Final = JavaScriptWords(name="prose-case")
PROSE_SPACING: Final = JavaScriptWords(name="prose-spacing")
PROSE_TYPOS: Final = JavaScriptWords(name="prose-typos")
PROSE_PARAPHRASE: Final = JavaScriptWords(name="prose-paraphrase")
