"""JavaScript's transforms that follow a strategy, one constant each; they are registered in the families."""

from typing import Final

from codeaudit.transforms.javascript.rewriting import JavaScriptRewriting
from codeaudit.transforms.strategies import branches, conditions, layout, logic, loops

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
