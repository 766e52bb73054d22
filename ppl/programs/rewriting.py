"""Syntax trees made and remade: pieces of program from their text, substitution, copies."""

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from ppl.kernel.language import ast
from ppl.kernel.language.parser import parse
from ppl.kernel.language.printer import expression
from ppl.kernel.language.walk import PARTS, assigned_variables, statements, walk
from ppl.source import SourceText, Span

Stmts = tuple[ast.Statement, ...]
AnyTree = TypeVar("AnyTree")
Part = ast.Expr | str | Stmts
"""A replacement for a word of a template: an expression, another name, or statements for `word();`."""


@cache
def parsed(text: str) -> Stmts:
    return parse(SourceText(f"model {{ {text} }}")).model


def code(text: str, span: Span, **parts: Part) -> Stmts:
    """The statements of a template, its words replaced by `parts`; their place is `span`.

    Example:
        >>> from ppl.kernel.language.printer import lines_of
        >>> span = Span(SourceText(""), 1, 1, 1, 1)
        >>> for s in code("for (v in 1:n) body();", span, v="k", body=code("target += 1;", span)):
        ...     print(*lines_of(s))
        for (k in 1 : n) {   target += 1; }
    """
    return filled(parsed(text), span, parts)


def expr(text: str, span: Span, **parts: Part) -> ast.Expr:
    """The same for an expression."""
    (s,) = parsed(f"target += {text};")
    assert isinstance(s, ast.TargetIncrement)
    return filled(s.value, span, parts)


def integer(value: int, span: Span) -> ast.Expr:
    if value < 0:
        return ast.Unary(span, "-", ast.IntLiteral(span, -value))
    return ast.IntLiteral(span, value)


def variable(name: str, span: Span) -> ast.Variable:
    return ast.Variable(span, name)


def indexed(name: str, indices: tuple[ast.Expr | ast.Index, ...], span: Span) -> ast.Expr:
    """`name[indices]`, or the variable itself without indices."""
    base = variable(name, span)
    several = (ast.SingleIndex, ast.RangeIndex)
    at = tuple(i if isinstance(i, several) else ast.SingleIndex(span, i) for i in indices)
    return ast.Indexed(span, base, at) if at else base


def loops(heads: list[tuple[str, ast.Expr, ast.Expr]], body: Stmts, span: Span) -> Stmts:
    """The statements within a loop for each (variable, lower, upper), the first one outermost."""
    for name, lower, upper in reversed(heads):
        body = code("for (v in a:b) body();", span, v=name, a=lower, b=upper, body=body)
    return body


def one(body: Stmts, span: Span) -> ast.Statement:
    """Statements where one has to stand."""
    return body[0] if len(body) == 1 and not isinstance(body[0], ast.Declaration) else ast.Block(span, body)


def with_blocks(s: ast.Statement, change: Callable[[Stmts], Stmts]) -> ast.Statement:
    """The statement with `change` applied to the bodies of a loop, of branches."""
    parts = {name: getattr(s, name, None) for name in ("body", "then", "otherwise")}
    blocks = {name: one(change(inner(part)), s.span) for name, part in parts.items() if part is not None}
    return replace(s, **blocks)  # type: ignore[arg-type]


def inner(s: ast.Statement) -> Stmts:
    return s.statements if isinstance(s, ast.Block) else (s,)


def filled(node: AnyTree, span: Span, parts: Mapping[str, Part]) -> AnyTree:
    """A copy of a template's tree with its words replaced."""

    def word(n: ast.Node) -> Any:
        match n:
            case ast.CallStatement(call=ast.Call(name=name, args=())) if isinstance(parts.get(name), tuple):
                return parts[name]
            case ast.Variable(name=name) if name in parts:
                part = parts[name]
                return variable(part, span) if isinstance(part, str) else part
            case _:
                return None

    def renamed(n: ast.Node) -> ast.Node:
        changes: dict[str, Any] = {"span": span}
        if hasattr(n, "name_span"):
            changes["name_span"] = span
        for key in ("variable", "name"):
            part = parts.get(getattr(n, key, ""))
            if isinstance(part, str):
                changes[key] = part
        return replace(n, **changes)

    return rewrite(node, word, renamed)


def rewrite(node: AnyTree, f: Callable[[Any], Any], finish: Callable[[Any], Any] | None = None) -> AnyTree:
    """The tree with `f` of every node, from the top, where not None; a statement may become several."""
    if isinstance(node, tuple):
        out: list[Any] = []
        for item in node:
            part = rewrite(item, f, finish)
            several = isinstance(part, tuple) and not isinstance(item, tuple)
            out += part if several else [part]
        return tuple(out)  # type: ignore[return-value]
    if not isinstance(node, ast.Node):
        return node
    if (new := f(node)) is not None:
        return new
    changes = {}
    for name in reversed(PARTS[type(node)]):
        value = getattr(node, name)
        if isinstance(value, ast.Node | tuple):
            part = rewrite(value, f, finish)
            if isinstance(part, tuple) and isinstance(value, ast.Node):
                part = one(part, value.span)
            if part is not value and not same(part, value):
                changes[name] = part
    out_node = replace(node, **changes) if changes else node
    return finish(out_node) if finish else out_node


def bottom_up(node: AnyTree, finish: Callable[[Any], Any]) -> AnyTree:
    """The tree with `finish` of every node, from the leaves up."""
    return rewrite(node, lambda n: None, finish)


def same(a: Any, b: Any) -> bool:
    """Whether two tuples hold the very same items."""
    if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)):
        return False
    return all(x is y or same(x, y) for x, y in zip(a, b, strict=True))


def copied(node: AnyTree) -> AnyTree:
    """The tree of nodes of its own: the checker hangs what it learns on each."""
    return bottom_up(node, replace)


def substituted(node: AnyTree, values: Mapping[str, ast.Expr]) -> AnyTree:
    """The tree with variables replaced by expressions."""
    return rewrite(node, lambda n: values.get(n.name) if isinstance(n, ast.Variable) else None)


def names_in(node: Any) -> set[str]:
    """The variables and functions that are mentioned."""
    return {n.name for n in walk(node) if isinstance(n, ast.Variable | ast.Call)}


def mentions(node: Any, names: Set[str]) -> bool:
    return any(isinstance(n, ast.Variable) and n.name in names for n in walk(node))


def text_of(e: ast.Expr) -> str:
    return expression(e)


def written(s: ast.Statement) -> set[str]:
    """The names that a statement declares or assigns to, those inside it too."""
    symbols = set()
    for n in statements(s):
        if isinstance(n, ast.Declaration):
            symbols.add(n.name)
        elif isinstance(n, ast.Assignment):
            symbols |= assigned(n.target)
    return symbols


def assigned(target: ast.Expr) -> set[str]:
    return {v.name for v in assigned_variables(target)}


def bound_in(s: Any) -> set[str]:
    """The loop variables and locals that live inside a statement."""
    loops = {n.variable for n in statements(s) if isinstance(n, ast.For | ast.ForEach)}
    return loops | {n.name for n in statements(s) if isinstance(n, ast.Declaration)}
