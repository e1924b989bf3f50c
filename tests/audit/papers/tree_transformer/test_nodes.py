"""Functions as trees of nodes: Python's, Java's, their values and their paths."""

import pytest

from codeaudit.audit.papers.tree_transformer.nodes import (
    EMPTY,
    FUNCTION,
    PIECES,
    SPECIALS,
    TOO_LONG,
    NodeReader,
    Tree,
    read,
    spelled,
)
from codeaudit.audit.records import UNPARSABLE
from codeaudit.transforms.errors import SourceError

PAIR = "def MASK(a, b=1):\n    if a:\n        return MASK(b)\n    return a.size\n"


def tree(source: str, language: str = "python") -> Tree:
    parsed = read(source, language)
    assert isinstance(parsed, Tree)
    return parsed


def shown(parsed: Tree) -> list[tuple[str, str, int]]:
    return list(zip(parsed.types, parsed.values, parsed.parents, strict=True))


def test_a_python_function_node_by_node() -> None:
    assert shown(tree(PAIR)) == [
        ("FunctionDef", FUNCTION, -1),
        ("arguments", EMPTY, 0),
        ("arg", "a", 1),
        ("arg", "b", 1),
        ("defaults", EMPTY, 1),
        ("Constantint", "1", 4),
        ("body", EMPTY, 0),
        ("If", EMPTY, 6),
        ("NameLoad", "a", 7),
        ("body", EMPTY, 7),
        ("Return", EMPTY, 9),
        ("Call", EMPTY, 10),
        ("NameLoad", FUNCTION, 11),
        ("NameLoad", "b", 11),
        ("Return", EMPTY, 6),
        ("AttributeLoad", "size", 14),
        ("NameLoad", "a", 15),
    ]


def test_paths_tell_which_child_of_how_many() -> None:
    parsed = tree(PAIR)
    assert parsed.path(0) == ((1, 1),)
    assert parsed.path(5) == ((1, 1), (1, 2), (3, 3), (1, 1))
    assert parsed.path(13) == ((1, 1), (2, 2), (1, 2), (2, 2), (1, 1), (1, 1), (2, 2))


def test_of_a_prefix_only_the_children_seen_so_far_count() -> None:
    parsed = tree(PAIR)
    assert parsed.path(13, "prefix") == ((1, 1), (2, 2), (1, 1), (2, 2), (1, 1), (1, 1), (2, 2))
    shorter = tree(PAIR.replace("    return a.size\n", ""))
    for node in range(len(shorter) - 1):
        assert parsed.path(node, "prefix") == shorter.path(node, "prefix")
    assert parsed.path(7) != shorter.path(7)


def test_every_path_is_another_and_tells_the_tree() -> None:
    parsed = tree(PAIR)
    paths = [parsed.path(node) for node in range(len(parsed))]
    assert len(set(paths)) == len(paths)
    for node, parent in enumerate(parsed.parents):
        assert paths[node][:-1] == (paths[parent] if parent >= 0 else ())
        assert parsed.counts[node] == sum(other == parent for other in parsed.parents)


def test_docstrings_and_comments_are_no_nodes() -> None:
    documented = PAIR.replace("    if a:\n", '    """Gives the size."""\n    # or not\n    if a:\n', 1)
    assert tree(documented) == tree(PAIR)
    inner = "def f():\n    class A:\n        '''Words.'''\n    def g():\n        '''Words.'''\n    'text'\n"
    assert tree(inner).values.count("text") == 1
    assert "Words." not in tree(inner).values


def test_layout_changes_no_tree() -> None:
    assert tree("def MASK(a,b = 1) :\n  if (a) : return MASK( b, )\n  return (a\n   .size)\n") == tree(PAIR)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x[1:]", "x[:1]"),
        ("a < b > c", "a > b < c"),
        ("a + b", "a - b"),
        ("{**a}", "{a: b}"),
        ("lambda a, /: 0", "lambda a: 0"),
        ("lambda *a: 0", "lambda **a: 0"),
        ("'1'", "1"),
        ("1", "1.0"),
        ("f'{a!r}'", "f'{a}'"),
        ("[a for a in b]", "[a async for a in b]"),
        ("not a", "-a"),
    ],
)
def test_different_programs_are_different_trees(one: str, other: str) -> None:
    first, second = (tree(f"async def f(a, b, c, x):\n    return {text}\n") for text in (one, other))
    assert first != second


def test_statements_in_different_bodies_are_told_apart() -> None:
    parts = ("if a:\n        b()\n    else:\n        c()", "if a:\n        b()\n        c()")
    first, second = (tree(f"def f(a, b, c):\n    {text}\n") for text in parts)
    assert first.parents != second.parents
    assert "orelse" in first.types
    assert "orelse" not in second.types


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_c_function_node_by_node(language: str) -> None:
    parsed = read("int MASK(char *a) { return *a < 1 ? -1 : MASK(a + 1); }", language)
    assert isinstance(parsed, Tree)
    named = [(kind, value) for kind, value in zip(parsed.types, parsed.values, strict=True) if value != EMPTY]
    assert named == [
        ("primitive_type", "int"), ("identifier", FUNCTION), ("primitive_type", "char"), ("identifier", "a"),
        ("identifier", "a"), ("decimal_integer_literal", "1"), ("decimal_integer_literal", "-1"),
        ("identifier", FUNCTION), ("identifier", "a"), ("decimal_integer_literal", "1"),
    ]  # fmt: skip
    assert "binary_expression <" in parsed.types


def test_a_java_method_node_by_node() -> None:
    parsed = tree('static int MASK(int a) { return a < 1 ? -a : this.MASK(a) + s("two words"); }', "java")
    nodes = shown(parsed)
    assert nodes[:9] == [
        ("method_declaration", EMPTY, -1),
        ("modifiers", EMPTY, 0),
        ("static", EMPTY, 1),
        ("integral_type", "int", 0),
        ("identifier", FUNCTION, 0),
        ("formal_parameters", EMPTY, 0),
        ("formal_parameter", EMPTY, 5),
        ("integral_type", "int", 6),
        ("identifier", "a", 6),
    ]
    assert {"binary_expression <", "unary_expression -", "binary_expression +", "this"} <= set(parsed.types)
    assert parsed.values.count(FUNCTION) == 2
    assert "two words" in parsed.values
    assert (
        tree('static  int\nMASK(int a) { return a<1 ? -a // less\n : this.MASK(a)+s("two words"); }', "java")
        == parsed
    )


def test_long_functions_and_other_texts_are_no_trees() -> None:
    long = f"def f(a):\n    return [{', '.join('a' for _ in range(300))}]\n"
    assert read(long, "python") == TOO_LONG
    assert isinstance(read(long, "python", limit=None), Tree)
    size = len(tree(PAIR))
    assert isinstance(read(PAIR, "python", limit=size), Tree)
    assert read(PAIR, "python", limit=size - 1) == TOO_LONG
    assert read("def f(:\n", "python") == UNPARSABLE
    assert read("int f( {", "java") == UNPARSABLE
    with pytest.raises(SourceError):
        read(PAIR, "cobol")


def test_a_very_deep_function_is_read_or_refused() -> None:
    deep = "def f(a):\n    return " + "-" * 600 + "a\n"
    assert read(deep, "python") in (TOO_LONG, UNPARSABLE)


def test_values_are_whole_or_in_pieces() -> None:
    assert spelled("readText_v2", "whole") == ["readText_v2"]
    assert spelled("readText_v2", "subtokens") == ["read", "text", "v"]
    assert spelled("a_b_c_d_e_f_g", "subtokens") == ["a", "b", "c", "d", "e"][:PIECES]
    assert spelled("_", "subtokens") == ["_"]
    assert spelled("12", "subtokens") == ["12"]
    assert spelled("123456", "subtokens") == ["<num>"]
    assert spelled("no such File, sorry to say", "subtokens") == ["<str>", "no", "such", "file", "sorry"]
    for special in (EMPTY, FUNCTION):
        assert spelled(special, "subtokens") == [special]


def test_no_source_can_spell_what_stands_for_something_else() -> None:
    for special in SPECIALS:
        parsed = tree(f"def f():\n    return {special!r}\n")
        assert parsed.values[-1] == "<unk>"
    assert tree("def f():\n    return ''\n").values[-1] == "''"


def test_ids_are_those_of_the_lists_and_what_is_not_there_is_unknown() -> None:
    reader = NodeReader(["FunctionDef", "arg"], [*SPECIALS, "a", "size"], spelling="subtokens")
    encoded = reader.encode(tree(PAIR))
    assert reader.sizes == (4, len(SPECIALS) + 2)
    assert encoded.types.tolist()[:4] == [2, 1, 3, 3]
    assert encoded.values.shape == (17, PIECES)
    assert encoded.values[[0, 1, 2, 3, 15], 0].tolist() == [
        SPECIALS.index(FUNCTION),
        SPECIALS.index(EMPTY),
        len(SPECIALS),
        1,
        len(SPECIALS) + 1,
    ]
    assert reader.read("def f(:", "python") == UNPARSABLE
