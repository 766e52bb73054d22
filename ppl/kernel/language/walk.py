"""Every node below a node, in the order of the text, and the deepest of them."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar, get_args

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.source import Span

Item = TypeVar("Item")

PARTS: Mapping[type, Sequence[str]] = {
    kind: [f.name for f in reversed(fields(kind)) if f.type not in (Span, str, int, bool)]
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.Node)
}
"""The fields of each kind of node that may hold nodes, the last one first."""

EXPRESSIONS, STATEMENTS = frozenset(get_args(ast.Expr)), frozenset(get_args(ast.Statement))
NESTING = frozenset(
    {ast.Program, ast.FunctionDef, ast.For, ast.ForEach, ast.While, ast.If, ast.Block, ast.Profile}
)
"""The nodes that hold statements."""


def walk(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Node]:
    """The node, or each of several, and all that they are made of."""
    return nodes_in(root, PARTS, PARTS)


def statements(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Statement]:
    """Every statement and declaration, those of functions and inside other statements too."""
    return nodes_in(root, STATEMENTS, NESTING)


def nodes_in(
    root: ast.Node | Iterable[ast.Node], kinds: Container[type], opened: Container[type]
) -> Iterator[Any]:
    """The nodes of some kinds in the order of the text; those that are `opened` are looked into."""
    stack: list[Any] = [root] if isinstance(root, ast.Node) else list(root)[::-1]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind in kinds:
            yield item
        if kind in opened:
            for name in PARTS[kind]:
                stack.append(getattr(item, name))
        elif isinstance(item, tuple | list):
            stack.extend(reversed(item))


def parts(node: ast.Node, kinds: Container[type] = EXPRESSIONS) -> tuple[Any, ...]:
    """The nodes of some kinds directly inside a node: of an expression its operands, without indices."""
    inside: list[Any] = []
    for name in reversed(PARTS[type(node)]):
        value = getattr(node, name)
        inside += value if isinstance(value, tuple) else (value,)
    return tuple([part for part in inside if type(part) in kinds])


def children(s: ast.Statement) -> tuple[ast.Statement, ...]:
    """The statements directly inside a statement."""
    return parts(s, STATEMENTS)


def heads(s: ast.Statement) -> tuple[ast.Expr, ...]:
    """The expressions that control whether, how often and with which values the statements inside run."""
    return parts(s) if type(s) in NESTING else ()


def single_targets(e: ast.Expr) -> Iterator[ast.Expr]:
    """The left side of an assignment, or the parts of a tuple there."""
    if isinstance(e, ast.TupleLiteral):
        for item in e.items:
            yield from single_targets(item)
    else:
        yield e


def base(target: ast.Node) -> ast.Node:
    """The variable that entries are taken of."""
    while isinstance(target, ast.Indexed | ast.Projection):
        target = target.base
    return target


def assigned_variables(target: ast.Expr) -> Iterator[ast.Variable]:
    """The variables that an assignment changes, wholly or in part."""
    return (v for e in single_targets(target) if isinstance(v := base(e), ast.Variable))


def closure(
    names: Iterable[str], items: Sequence[Item], more: Callable[[Item, set[str]], Iterable[str]]
) -> set[str]:
    """The names, and all that the items lead to: `more` of an item, given those that have been found."""
    reached, count = set(names), -1
    while len(reached) > count:
        count = len(reached)
        for item in items:
            reached.update(more(item, reached))
    return reached


def variables(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Variable]:
    return (node for node in walk(root) if isinstance(node, ast.Variable))


def definitions(body: Iterable[ast.Statement]) -> Iterator[tuple[ast.Node, ast.Expr]]:
    """The target and the value of assignments and of declarations with a value."""
    for node in statements(body):
        match node:
            case ast.Assignment(target=target, value=value):
                yield target, value
            case ast.Declaration(value=value) if value is not None:
                yield node, value


def too_deep(program: ast.Program) -> ModelError:
    """The error for the simple statement or declaration that holds the deepest node."""
    depth, span = -1, program.span
    stack: list[tuple[Any, int, Span]] = [(program, 0, program.span)]
    while stack:
        item, level, statement = stack.pop()
        if isinstance(item, tuple):
            stack.extend((each, level, statement) for each in item)
        elif isinstance(item, ast.Node):
            statement = item.span if type(item) in STATEMENTS else statement
            if level > depth:
                depth, span = level, statement
            stack.extend((getattr(item, f.name), level + 1, statement) for f in fields(item))
    return nested_too_deep(span)


def nested_too_deep(span: Span) -> ModelError:
    text = "The program is nested too deeply here, or a sum or product has too many terms."
    hint = "Split it: assign parts of it to variables of their own, or write a loop."
    return ModelError(text, span, hint, "PPL190")
