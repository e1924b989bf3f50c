"""The language Go for codeaudit: `rename` with its strategies, and rewritings that curly languages share."""

from codeaudit.audit.languages import LanguageAudit
from codeaudit.transforms.assumptions import Assumption, ledger
from codeaudit.transforms.language import Language, TransformFamily, changes, keeps

_LEDGER = ledger(
    (
        Assumption(
            id="text-unread",
            assumed="No program asks for its own text: its lines, or the names of its variables.",
            example="`log.Lshortfile` prints another line",
        ),
        Assumption(
            id="predeclared-meant",
            assumed="No other file of the package declares a predeclared name such as `len` or `int`.",
            shown="The file declares one outside of functions.",
            refused="No transform that rests on this edits the file.",
            example="`len(a) < n` becomes `n > len(a)`, and the package has a function `len` that changes n",
        ),
    )
)
_TEXT, _ALL = ("text-unread",), ("text-unread", "predeclared-meant")
_CLAMP = """\
func clamp(value, low, high int) (int, bool) {
	limit := 255
	if value < low || value == limit {
		return low * (high + 1), true
	} else if high < value {
		return high, false
	} else {
		message := "within" + " limits"
		println(message, limit)
	}
	return value, !(low < value && value < high)
}
"""

GO = Language(
    name="go", title="Go", units="functions", fence="go", endings=(".go",), example=_CLAMP,
    standard=("rename", "invert-if", "flip-comparisons"),
    controls=("if-inverted-wrong", "comparison-flipped-wrong"),
    ledger=_LEDGER,
    shown_in=f"{__name__}.reading:shown_in",
    function_context=f"{__name__}.reading:function_context",
    parse=f"{__name__}.reading:read",
    files=f"{__name__}.reading:FILES",
    families=(
        TransformFamily.of(
            __name__, "identifiers", "Names of Go's variables.",
            keeps("scopes:RENAME", "local variables get other names", _CLAMP),
            keeps("scopes:RENAME_RANDOM", "locals get names without meaning", _CLAMP),
            keeps("scopes:RENAME_SHUFFLE", "local variables swap their names", _CLAMP),
            keeps("scopes:RENAME_MISLEADING", "locals get misleading names", _CLAMP),
            keeps("scopes:RENAME_CANONICAL", "local variables become v0, v1, …", _CLAMP),
            keeps("scopes:RENAME_PARAMETERS", "locals, parameters and results get other names", _CLAMP,
                  interface=True),
            rests_on=_TEXT,
        ),
        TransformFamily.of(
            __name__, "control-flow", "Branches of Go in another arrangement.",
            keeps("rules:INVERT_IF", "if c {a} else {b} as if !c {b} else {a}", _CLAMP, "if-inverted-wrong"),
            keeps("rules:NEST_ELIF", "else if as else { if }", _CLAMP),
            keeps("rules:FLATTEN_ELIF", "else { if } as else if", _CLAMP),
            changes("rules:IF_INVERTED_WRONG", "a condition is negated", _CLAMP),
            rests_on=_ALL,
        ),
        TransformFamily.of(
            __name__, "expressions", "Operators and conditions of Go written otherwise.",
            keeps("rules:DE_MORGAN", "!(a && b) as !a || !b", _CLAMP, "de-morgan-wrong",
                  undoes=("double-negation", "negate-comparisons")),
            keeps("rules:DOUBLE_NEGATION", "a condition as !! of it", _CLAMP, "negation-dropped"),
            keeps("rules:NEGATE_COMPARISONS", "a == b as !(a != b)", _CLAMP, "comparison-flipped-wrong"),
            keeps("rules:FLIP_COMPARISONS", "a < b as b > a", _CLAMP, "comparison-flipped-wrong",
                  undoes=("swap-operands",)),
            keeps("rules:SWAP_OPERANDS", "operands in the other order, where they commute", _CLAMP),
            changes("rules:DE_MORGAN_WRONG", "one && becomes ||, or one || &&", _CLAMP),
            changes("rules:NEGATION_DROPPED", "one ! is dropped", _CLAMP),
            changes("rules:COMPARISON_FLIPPED_WRONG", "one comparison gets another sign", _CLAMP),
            rests_on=_ALL,
        ),
        TransformFamily.of(
            __name__, "layout", "Comments, lines, blanks, parentheses and literals of Go.",
            keeps("rules:INSERT_COMMENTS", "comments that say nothing of the code", _CLAMP),
            keeps("rules:INSERT_BLANK_LINES", "blank lines between statements", _CLAMP),
            keeps("rules:REMOVE_BLANK_LINES", "blank lines go", _CLAMP),
            keeps("rules:SPLIT_LINES", "arguments on a line each", _CLAMP),
            keeps("rules:JOIN_LINES", "arguments on one line", _CLAMP),
            keeps("rules:INDENTATION", "blocks indented by another step", _CLAMP),
            keeps("rules:SPACING", "blanks around operators", _CLAMP),
            keeps("rules:INSERT_PARENTHESES", "parentheses that change nothing", _CLAMP),
            keeps("rules:REMOVE_PARENTHESES", "parentheses that change nothing go", _CLAMP),
            keeps("rules:LITERAL_BASES", "numbers in another base", _CLAMP, "literal-changed"),
            keeps("rules:SPLIT_STRINGS", "one string as a sum of two", _CLAMP, "string-changed"),
            keeps("rules:JOIN_STRINGS", "strings in a row as one", _CLAMP, "string-changed"),
            changes("rules:LITERAL_CHANGED", "a number is one larger", _CLAMP),
            changes("rules:STRING_CHANGED", "a string is longer", _CLAMP),
            rests_on=_TEXT,
        ),
    ),
)  # fmt: skip
GO_AUDIT = LanguageAudit(reader=f"{__name__}.reading:functions", unit_name=f"{__name__}.reading:name_of")
