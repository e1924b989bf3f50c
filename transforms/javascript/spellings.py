"""Rules of JavaScript's own: one thing that can be written in two ways."""

import re
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.javascript.analysis.scopes import GIVES_NAME
from codeaudit.transforms.javascript.dialect import BEGINNINGS, TERNARY
from codeaudit.transforms.javascript.parsing import FUNCTIONS
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.strategies.logic import negated
from codeaudit.transforms.syntax.effects import OUTSIDE
from codeaudit.transforms.syntax.flow import following
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import grouped, replace, span

ESCAPED: Final = "string with an escape or a quote"
NO_NAME: Final = "text is no name"
OPTIONAL: Final = "optional chain"
IN_TAG: Final = "name of a tag"
PROTOTYPE: Final = "__proto__ sets the prototype"
AWAITED: Final = "an asynchronous generator waits for its result"
SET_LATER: Final = "variable is set later"
NO_VALUE: Final = "no value"
FOR_TOOLS: Final = "tools find this property by its text"
FIRST: Final = "would be something else in front of a statement"
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_FOR_TOOLS: Final = re.compile(
    r"(?:process\.(?:env|browser)|module\.(?:exports|hot)|define\.amd|import\.meta|require\.\w+|(?:jest|vi)\.\w+)\b"
)
"""The beginnings of chains that tools look for in a text: bundlers replace `process.env.X` with a value, and
runners of tests move `jest.mock(…)` to the top of its file."""
_ITEM: Final = re.compile(r"\[\s*[\"'](\w+)[\"']\s*\]")
_PLACES: Final = frozenset(
    {"return_statement", "binary_expression", "assignment_expression", "variable_declarator", "argument_list",
     "ternary_expression", "array"}
)  # fmt: skip
"""Kinds of nodes in which an operand may be written otherwise."""


# ── strings and properties ───────────────────────────────────────────────────────────────────────────────


@each("string_literal")
def _quotes(code: CodeText, node: Node) -> Site | Refused:
    """`'a'` as `"a"`, and back."""
    text = code.text(node)
    if any(sign in text[1:-1] for sign in "\\'\"\n"):
        return Refused(ESCAPED)
    other = "'" if text[0] == '"' else '"'
    return code.site(node, "other quotes", replace(node, f"{other}{text[1:-1]}{other}"))


@each("field_access")
def _to_item(code: CodeText, node: Node) -> Site | Refused | None:
    """`a.b` as `a["b"]`."""
    name, target = node.part("property"), node.part("object")
    if name.kind != "property_identifier" or _names_unit(code, node):
        return None
    if node.first("optional_chain") is not None or node.has("?."):
        return Refused(OPTIONAL)
    above = next((ancestor for ancestor in node.ancestors() if ancestor.kind != "field_access"), None)
    if above is None or above.kind.startswith("jsx_"):
        return Refused(IN_TAG)
    if _is_for_tools(code, node):
        return Refused(FOR_TOOLS)
    if code.commented(target.end, node.end):
        return Refused(COMMENT)
    return code.site(node, "property by a text", Patch(target.end, node.end, (f'["{code.text(name)}"]',)))


def _is_for_tools(code: CodeText, node: Node) -> bool:
    """Whether a tool may look for a property, in the spelling that it has."""
    root = node
    while root.kind in ("field_access", "array_access"):
        root = root.part("object")
    binding = code.binding(root)
    text = "".join(_ITEM.sub(r".\1", code.text(node)).split())
    return (binding is None or binding.view in OUTSIDE) and _FOR_TOOLS.match(text) is not None


def _names_unit(code: CodeText, node: Node) -> bool:
    """Whether it gives the unit its name: `exports.f = function () { … }`."""
    above = node.parent
    return above is not None and above.parent is code.unit and node.field == "left"


@each("array_access")
def _to_member(code: CodeText, node: Node) -> Site | Refused | None:
    """`a["b"]` as `a.b`."""
    target, index = node.part("object"), node.part("index")
    if index.kind != "string_literal":
        return None
    if node.first("optional_chain") is not None or node.has("?."):
        return Refused(OPTIONAL)
    text = code.text(index)[1:-1]
    if not _NAME.fullmatch(text) or target.kind == "number":
        return Refused(NO_NAME)
    if _is_for_tools(code, node):
        return Refused(FOR_TOOLS)
    if code.commented(target.end, node.end):
        return Refused(COMMENT)
    return code.site(node, "property by its name", Patch(target.end, node.end, (f".{text}",)))


@each("shorthand_property_identifier")
def _spelt(code: CodeText, node: Node) -> Site | Refused:
    """`{ a }` as `{ a: a }`."""
    name = code.text(node)
    if name == "__proto__":
        return Refused(PROTOTYPE)
    return code.site(node, "property with its value", replace(node, f"{name}: {name}"))


@each("pair")
def _short(code: CodeText, node: Node) -> Site | Refused | None:
    """`{ a: a }` as `{ a }`."""
    key, value = node.part("key"), node.part("value")
    if key.kind != "property_identifier" or value.kind != "identifier" or code.text(key) != code.text(value):
        return None
    if code.text(key) == "__proto__":
        return Refused(PROTOTYPE)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    return code.site(node, "property without a value of its own", replace(node, span(value)))


@each("pair")
def _quoted(code: CodeText, node: Node) -> Site | Refused | None:
    """`{ a: 1 }` as `{ "a": 1 }`, and back."""
    key = node.part("key")
    if key.kind not in ("property_identifier", "string_literal"):
        return None
    is_name = key.kind == "property_identifier"
    text = code.text(key) if is_name else code.text(key)[1:-1]
    if text == "__proto__":
        return Refused(PROTOTYPE)
    if is_name:
        return code.site(node, "key in quotes", replace(key, f'"{text}"'))
    if not _NAME.fullmatch(text):
        return Refused(NO_NAME)
    return code.site(node, "key without quotes", replace(key, text))


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────


@each("undefined")
def _void(code: CodeText, node: Node) -> Site | None:
    """`undefined` as `void 0`."""
    if node.parent is None or node.parent.kind not in _PLACES or node.field in ("left", "name"):
        return None
    if any(binding.name == "undefined" for binding in code.scopes.bindings):
        return None
    return code.site(
        node, "undefined as an operation", code.precedence.replace(node, ("void 0",), code.precedence.unary)
    )


@each("return_statement")
def _return_void(code: CodeText, node: Node) -> Site | Refused | None:
    """`return;` as `return void 0;`."""
    if node.children:
        return None
    function = next((ancestor for ancestor in node.ancestors() if ancestor.kind in FUNCTIONS), None)
    if function is None or (function.has("async") and function.has("*")):
        return Refused(AWAITED)
    at = node.start + len("return")
    return code.site(node, "result spelt out", Patch(at, at, (" void 0",)))


@each("unary_expression")
def _not(code: CodeText, node: Node) -> Site | Refused | None:
    """`!a` as `a ? false : true`."""
    if node.operator != "!":
        return None
    if code.text(node.children[0]).startswith(BEGINNINGS):
        return Refused(FIRST)
    parts = (*code.operand(node.children[0], TERNARY + 1), " ? false : true")
    return code.site(node, "! as ?:", code.precedence.replace(node, parts, TERNARY))


@each("ternary_expression")
def _arms(code: CodeText, node: Node) -> Site | Refused:
    """`c ? a : b` as `!c ? b : a`."""
    condition, first, second = (node.part(field) for field in ("condition", "consequence", "alternative"))
    if code.comments_outside(node, condition, first, second):
        return Refused(COMMENT)
    inner = condition.unparenthesized
    if inner.kind == "unary_expression" and inner.operator == "!" and not _is_operand(node):
        return Refused(FIRST)
    return code.site(
        node, "arms exchanged",
        replace(condition, *grouped(*negated(code, inner), TERNARY + 1)),
        replace(first, *code.operand(second, TERNARY)),
        replace(second, *code.operand(first, TERNARY)),
    )  # fmt: skip


def _is_operand(node: Node) -> bool:
    """Whether nothing is read otherwise because it comes to stand first in an expression."""
    return node.parent is not None and node.parent.kind in _PLACES


# ── arrows ───────────────────────────────────────────────────────────────────────────────────────────────


@each("lambda_expression")
def _to_block(code: CodeText, node: Node) -> Site | None:
    """`a => b` as `a => { return b; }`."""
    body = node.part("body")
    if body.kind == "block":
        return None
    return code.site(node, "body in a block", replace(body, "{ return ", span(body), "; }"))


@each("lambda_expression")
def _to_expression(code: CodeText, node: Node) -> Site | Refused | None:
    """`a => { return b; }` as `a => b`."""
    body = node.part("body")
    if body.kind != "block" or [child.kind for child in body.children] != ["return_statement"]:
        return None
    values = body.children[0].children
    if len(values) != 1:
        return Refused(NO_VALUE)
    if code.comments_outside(body, values[0]):
        return Refused(COMMENT)
    return code.site(node, "body without a block", replace(body, "(", span(values[0]), ")"))


@each("lambda_expression")
def _parentheses(code: CodeText, node: Node) -> Site | Refused | None:
    """`a => b` as `(a) => b`, and back."""
    alone = node.child("parameter")
    if alone is not None:
        return code.site(node, "parameter in parentheses", replace(alone, "(", span(alone), ")"))
    listed = node.part("parameters")
    if [child.kind for child in listed.children] != ["identifier"] or listed.has(","):
        return None
    if code.commented(listed.start, listed.end):
        return Refused(COMMENT)
    return code.site(node, "parameter alone", replace(listed, span(listed.children[0])))


# ── declarations ─────────────────────────────────────────────────────────────────────────────────────────


def _never_set(code: CodeText, node: Node) -> bool:
    """Whether the variables of a declaration are not assigned but where they are declared."""
    return all(
        binding.doubt in (None, GIVES_NAME)
        and all(use.use in ("declare", "read") for use in binding.occurrences)
        for binding in code.scopes.bindings
        if node.start <= binding.start < node.end and binding.view == "local"
    )


@each("local_variable_declaration")
def _keyword(code: CodeText, node: Node) -> Site | Refused | None:
    """`const a = 1;` as `let a = 1;`, and back."""
    word = node.operator
    if word not in ("let", "const") or following(node) is None:
        return None
    if not _never_set(code, node):
        return Refused(SET_LATER)
    if not all(declarator.child("value") for declarator in node.all("declarator")):
        return Refused(NO_VALUE)
    other = "let" if word == "const" else "const"
    return code.site(node, f"{word} as {other}", Patch(node.start, node.start + len(word), (other,)))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("ternary_expression")
def _arms_wrong(code: CodeText, node: Node) -> Site | Refused | None:
    """`c ? a : b` as `c ? b : a`."""
    first, second = node.part("consequence"), node.part("alternative")
    if code.text(first) == code.text(second):
        return None
    return code.site(
        node, "arms exchanged, condition kept",
        replace(first, *code.operand(second, TERNARY)), replace(second, *code.operand(first, TERNARY)),
    )  # fmt: skip


STRING_QUOTES: Final = CodeStrategy(name="string-quotes", find=_quotes, nothing="no string")
MEMBER_TO_ITEM: Final = CodeStrategy(name="member-to-item", find=_to_item, nothing="no property")
ITEM_TO_MEMBER: Final = CodeStrategy(name="item-to-member", find=_to_member, nothing="no property by a text")
EXPAND_SHORTHAND: Final = CodeStrategy(name="expand-shorthand", find=_spelt, nothing="no short property")
CONTRACT_SHORTHAND: Final = CodeStrategy(
    name="contract-shorthand", find=_short, nothing="no property of its own name"
)
KEY_QUOTES: Final = CodeStrategy(name="key-quotes", find=_quoted, nothing="no key")
UNDEFINED_TO_VOID: Final = CodeStrategy(name="undefined-to-void", find=_void, nothing="no undefined")
RETURN_VOID: Final = CodeStrategy(name="return-void", find=_return_void, nothing="no return without a value")
NOT_TO_TERNARY: Final = CodeStrategy(name="not-to-ternary", find=_not, nothing="no !")
SWAP_ARMS: Final = CodeStrategy(name="swap-arms", find=_arms, nothing="no ?:")
ARROW_TO_BLOCK: Final = CodeStrategy(
    name="arrow-to-block", find=_to_block, nothing="no arrow without a block"
)
ARROW_TO_EXPRESSION: Final = CodeStrategy(
    name="arrow-to-expression", find=_to_expression, nothing="no arrow that only returns"
)
ARROW_PARENTHESES: Final = CodeStrategy(
    name="arrow-parentheses", find=_parentheses, nothing="no arrow of one name"
)
CONST_AND_LET: Final = CodeStrategy(name="const-and-let", find=_keyword, nothing="no declaration in a block")
ARMS_SWAPPED_WRONG: Final = CodeStrategy(
    name="arms-swapped-wrong", find=_arms_wrong, nothing="no ?:", kind="control"
)
