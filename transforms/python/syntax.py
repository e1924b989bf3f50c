"""The syntax that the analysis knows: that of Python 3.11 to 3.13. Anything else is refused, never guessed.

A newer Python parses more: t-strings, for example. What such a node means is known to no module here, so
`parsing.parse` refuses a text that holds one.
"""

import ast
from typing import Final

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
"""The fields of each kind of node."""


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
