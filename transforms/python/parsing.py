"""Parsing Python text, the shape of function nodes, and what a text says apart from its layout. The base of
every module for Python.
"""

import ast
import hashlib
import symtable
import sys
import warnings
from functools import lru_cache
from types import CodeType
from typing import Final, TypeAlias
from unicodedata import normalize

from codeaudit.transforms.errors import TOO_DEEP, ReaderLimitError, SourceError, UnknownSyntaxError
from codeaudit.transforms.python.newer import reader_of
from codeaudit.transforms.python.walking import below

_FIELDS: Final = """
    Add And AnnAssign:target,annotation,value,simple Assert:test,msg
    Assign:targets,value,type_comment AsyncFor:target,iter,body,orelse,type_comment
    AsyncFunctionDef:name,args,body,decorator_list,returns,type_comment,type_params
    AsyncWith:items,body,type_comment Attribute:value,attr,ctx AugAssign:target,op,value Await:value
    BinOp:left,op,right BitAnd BitOr BitXor BoolOp:op,values Break Call:func,args,keywords
    ClassDef:name,bases,keywords,body,decorator_list,type_params Compare:left,ops,comparators
    Constant:value,kind Continue Del Delete:targets Dict:keys,values DictComp:key,value,generators
    Div Eq ExceptHandler:type,name,body Expr:value Expression:body FloorDiv
    For:target,iter,body,orelse,type_comment FormattedValue:value,conversion,format_spec
    FunctionDef:name,args,body,decorator_list,returns,type_comment,type_params
    FunctionType:argtypes,returns GeneratorExp:elt,generators Global:names Gt GtE
    If:test,body,orelse IfExp:test,body,orelse Import:names ImportFrom:module,names,level In
    Interactive:body Invert Is IsNot JoinedStr:values LShift Lambda:args,body List:elts,ctx
    ListComp:elt,generators Load Lt LtE MatMult Match:subject,cases MatchAs:pattern,name
    MatchClass:cls,patterns,kwd_attrs,kwd_patterns MatchMapping:keys,patterns,rest MatchOr:patterns
    MatchSequence:patterns MatchSingleton:value MatchStar:name MatchValue:value Mod
    Module:body,type_ignores Mult Name:id,ctx NamedExpr:target,value Nonlocal:names Not NotEq NotIn
    Or ParamSpec:name,default_value Pass Pow RShift Raise:exc,cause Return:value Set:elts
    SetComp:elt,generators Slice:lower,upper,step Starred:value,ctx Store Sub
    Subscript:value,slice,ctx Try:body,handlers,orelse,finalbody
    TryStar:body,handlers,orelse,finalbody Tuple:elts,ctx TypeAlias:name,type_params,value
    TypeIgnore:lineno,tag TypeVar:name,bound,default_value TypeVarTuple:name,default_value UAdd USub
    UnaryOp:op,operand While:test,body,orelse With:items,body,type_comment Yield:value
    YieldFrom:value alias:name,asname arg:arg,annotation,type_comment
    arguments:posonlyargs,args,vararg,kwonlyargs,kw_defaults,kwarg,defaults
    comprehension:target,iter,ifs,is_async keyword:arg,value match_case:pattern,guard,body
    withitem:context_expr,optional_vars
"""

KNOWN: Final = {
    name: frozenset(fields.split(","))
    for name, _, fields in (part.partition(":") for part in _FIELDS.split())
}
"""The fields of each kind of node of Python 3.11 to 3.13. No module here knows what a newer node means, such
as a t-string, so a text that holds one is refused, never guessed.
"""


def unknown_syntax(tree: ast.AST) -> str | None:
    """The first node or field in a tree that is not known, by name; `None` if all are known."""
    pending = [tree]
    while pending:
        node = pending.pop()
        kind = type(node)
        fields = KNOWN.get(kind.__name__)
        if fields is None or kind is not getattr(ast, kind.__name__, None):
            return kind.__name__
        for name in kind._fields:
            value = getattr(node, name, None)
            # A new field that is not used changes nothing.
            if name not in fields and value:
                return f"{kind.__name__}.{name}"
            if isinstance(value, list):
                pending += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                pending.append(value)
            elif isinstance(value, ast.AST) and type(value).__name__ not in KNOWN:
                return type(value).__name__
        # `[*x for x in xs]`, `{**x for x in xs}`
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and isinstance(
            node.elt, ast.Starred
        ):
            return f"{kind.__name__} with a starred value"
        if isinstance(node, ast.DictComp) and None in (node.key, node.value):
            return "DictComp with a starred value"
    return None


FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
"""A `def` or `async def`."""


_TOO_DEEP: Final = ("too many nested", "too many levels of indentation", "too many statically nested")
"""Beginnings of the parser's messages for a text that is beyond its limits."""
PARSES_KNOWN_SYNTAX: bool = sys.version_info < (3, 14)
"""Whether the parser of this Python makes only nodes that the analysis knows. Then no tree is looked through.
"""


def parse(source: str) -> ast.Module:
    """The syntax tree of a text. It is the caller's own copy, because some callers change it.

    Warnings of the parser (`"\\d"`, `x is 1`) are suppressed: they concern the author of the text.

    Raises:
        SourceError: the text is not Python.
        ReaderLimitError: another Python reads it, or it is nested too deeply to be read.
        UnknownSyntaxError: it holds syntax that the analysis does not know.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        if (error.msg or "").startswith(_TOO_DEEP):
            raise ReaderLimitError(TOO_DEEP) from error
        if (reader := reader_of(source, error)) is not None:
            raise ReaderLimitError(reader) from error
        raise SourceError(f"not valid Python: line {error.lineno}: {error.msg}") from error
    except ValueError as error:
        raise SourceError(f"not valid Python: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise ReaderLimitError(TOO_DEEP) from error
    if not PARSES_KNOWN_SYNTAX and (newer := unknown_syntax(tree)) is not None:
        raise UnknownSyntaxError(f"syntax that is newer than the analysis: {newer}")
    return tree


@lru_cache(maxsize=4)
def shared_tree(source: str) -> ast.Module:
    """The syntax tree of a text for all its readers. None of them changes it, except that `resolve` puts
    right positions into f-strings.
    """
    return parse(source)


@lru_cache(maxsize=2)
def file_tree(source: str) -> ast.Module:
    """The shared tree of a file's text. Trees of files would push those of functions out."""
    return parse(source)


@lru_cache(maxsize=2)
def drawn_tree(source: str) -> ast.Module:
    """The shared tree of a sample that is drawn. Such trees would push those of engines out."""
    return parse(source)


def normalised(source: str) -> str:
    """A text with its letters as the parser reads them in names: of two spellings, the plain one."""
    return source if source.isascii() else normalize("NFKC", source)


@lru_cache(maxsize=2)
def table_of(source: str) -> symtable.SymbolTable | None:
    """The interpreter's table of the names of a text, which costs half of a syntax tree; `None` if the text
    does not compile.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return symtable.symtable(source, "<text>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def compiled(source: str | bytes | ast.Module) -> CodeType | None:
    """The code of a text or tree, assertions included; `None` if it does not compile.

    A text that parses may still not compile: `return` outside of a function, a stray `nonlocal`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Without `dont_inherit`, the text would get the `__future__` flags of this module.
            return compile(source, "<unit>", "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parameter_nodes(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in the order of the text, `*args` and `**kwargs` included."""
    nodes = [
        *arguments.posonlyargs,
        *arguments.args,
        arguments.vararg,
        *arguments.kwonlyargs,
        arguments.kwarg,
    ]
    return [node for node in nodes if node is not None]


def parameter_names(arguments: ast.arguments) -> list[str]:
    """The names of all parameters in the order of the text."""
    return [node.arg for node in parameter_nodes(arguments)]


def last_name(node: ast.expr) -> str | None:
    """`c` for `c`, `a.c` and `a.b.c`; `None` for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a name with attributes; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, from 1; decorators belong to it."""
    decorators: list[ast.expr] | None = getattr(node, "decorator_list", None)
    if not decorators:
        return node.lineno
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


DOCUMENTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def statements(source: str) -> int | None:
    """The number of statements inside of the functions of a text, docstrings aside; `None` where it does not
    parse."""
    try:
        tree = parse(source)
    except SourceError:
        return None
    inside = [node for top in tree.body for node in below(top)[1:]]
    documented = sum(
        isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None for node in (*inside, *tree.body)
    )
    return sum(isinstance(node, ast.stmt) for node in inside) - documented


def content(source: str) -> str:
    """A hash of the syntax tree without docstrings; the text itself where it does not parse."""
    written: list[str] = []
    try:
        _write(drawn_tree(source), written)
    except (SourceError, RecursionError):
        return source
    return hashlib.sha256("\n".join(written).encode("utf-8", "surrogatepass")).hexdigest()


def _write(node: ast.AST, written: list[str]) -> None:
    """Add lines that tell the tree of a node: its class, then each field, with the length of lists.

    `ast.dump` takes several times as long, and a corpus asks for each sample.
    """
    written.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            if name == "body" and isinstance(node, DOCUMENTED) and ast.get_docstring(node):
                value = value[1:]
            written.append(str(len(value)))
            for child in value:
                if isinstance(child, ast.AST):
                    _write(child, written)
                else:
                    written.append(repr(child))
        elif isinstance(value, ast.expr_context):
            # Where an expression stands says what is done with it.
            continue
        elif isinstance(value, ast.AST):
            _write(value, written)
        else:
            written.append(repr(value))
