"""The normal form of logical lines: a statement, header or clause as `ast.unparse` writes it, without its
body.

Used for the lines of `program.PythonProgram`, so that layout and comments do not matter to whoever compares
lines.
"""

import ast

from codeaudit.transforms.python.parsing import FunctionNode


def header(node: ast.AST) -> str:
    """The text of a simple statement, or of the header of a compound one.

    Decorators stand before their definition on the same line.
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            return f"{_decorators(node)}{word} {node.name}({ast.unparse(node.args)}){result}:"
        case ast.ClassDef(name=name, bases=bases, keywords=keywords):
            parts = [ast.unparse(part) for part in (*bases, *keywords)]
            return f"{_decorators(node)}class {name}({', '.join(parts)}):"
        case ast.If(test=test):
            return f"if {ast.unparse(test)}:"
        case ast.While(test=test):
            return f"while {ast.unparse(test)}:"
        case ast.For() | ast.AsyncFor():
            word = "async for" if isinstance(node, ast.AsyncFor) else "for"
            return f"{word} {_bare(node.target)} in {ast.unparse(node.iter)}:"
        case ast.With() | ast.AsyncWith():
            word = "async with" if isinstance(node, ast.AsyncWith) else "with"
            return f"{word} {', '.join(ast.unparse(item) for item in node.items)}:"
        case ast.Try() | ast.TryStar():
            return "try:"
        case ast.Match(subject=subject):
            return f"match {ast.unparse(subject)}:"
        case _:
            return ast.unparse(node)


def clause(node: ast.AST, name: str) -> str:
    """The text of a clause of a compound statement; `name` is the word of a clause without a node (`else`,
    `finally`).
    """
    match node:
        case ast.ExceptHandler():
            kind = f" {ast.unparse(node.type)}" if node.type else ""
            return f"except{kind}{f' as {node.name}' if node.name else ''}:"
        case ast.match_case():
            guard = f" if {ast.unparse(node.guard)}" if node.guard else ""
            return f"case {ast.unparse(node.pattern)}{guard}:"
        case _:
            return f"{name}:"


def _decorators(node: FunctionNode | ast.ClassDef) -> str:
    return "".join(f"@{ast.unparse(decorator)} " for decorator in node.decorator_list)


def _bare(target: ast.expr) -> str:
    text = ast.unparse(target)
    return text[1:-1] if isinstance(target, ast.Tuple) and text.startswith("(") else text
