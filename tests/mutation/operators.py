"""Small faults put into a Python file, one at a time.

Left alone, since no number can tell: docstrings, annotations, strings, the bodies of `raise` and `assert`,
and `strict=True` of `zip`, which is an assertion.
"""

import ast
import copy
from collections.abc import Iterator

from ppl.records import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "ceil": "floor",
    "floor": "ceil",
    "argmin": "argmax",
    "argmax": "argmin",
}
# Calls that bound or fold a value: what they are given first is left without them.
UNWRAPPED = {"abs", "min", "max", "minimum", "maximum", "clip", "ceil", "floor", "sqrt"}


@dataclass(frozen=True)
class Mutant:
    """A file with one fault: the line it begins and ends on, its text before and after, and the whole tree.

    `at_import` says that it lies outside every function.
    """

    first: int
    last: int
    before: str
    after: str
    at_import: bool
    tree: ast.Module

    @property
    def change(self) -> str:
        return f"{self.before} -> {self.after}"


def mutants(source: str) -> list[Mutant]:
    """Every fault that the operators know of, in the order of the file."""
    tree = ast.parse(source)
    found = []
    for path in _places(tree, ()):
        node = _at(tree, path)
        for new in _faults(node):
            found.append(_mutant(tree, path, node, new))
    return found


Path = tuple[tuple[str, int | None], ...]


def _places(node: ast.AST, path: Path) -> Iterator[Path]:
    """The ways to every node that may be changed."""
    yield path
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        if name == "decorator_list" and isinstance(node, ast.ClassDef):
            continue
        for k, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not _left_alone(child):
                yield from _places(child, (*path, (name, k)))


def _left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.arg():
            return True
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict"):
            return True
        case ast.Assign(value=ast.Subscript(value=ast.Name(id="Callable" | "dict" | "tuple" | "Annotated"))):
            return True  # the name of a type
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return False


def _at(tree: ast.AST, path: Path) -> ast.AST:
    node = tree
    for name, k in path:
        value = getattr(node, name)
        node = value if k is None else value[k]
    return node


def _faults(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=right) if type(op) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(op)]()], right)
        case ast.Compare(ops=[_, *_] as ops):
            for k, op in enumerate(ops):
                if type(op) in COMPARISONS:
                    yield ast.Compare(
                        node.left, [*ops[:k], COMPARISONS[type(op)](), *ops[k + 1 :]], node.comparators
                    )
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC and not _is_type(node):
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in ARITHMETIC:
            yield ast.AugAssign(target, ARITHMETIC[type(op)](), value)
            yield ast.Pass()
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float() as value):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.If(test=test):
            yield ast.If(_negated(test), node.body, node.orelse)
        case ast.IfExp(test=test):
            yield ast.IfExp(_negated(test), node.body, node.orelse)
        case ast.While(test=test):
            yield ast.While(_negated(test), node.body, node.orelse)
        case ast.comprehension(ifs=[test, *more]):
            yield ast.comprehension(node.target, node.iter, [_negated(test), *more], node.is_async)
        case ast.match_case(guard=ast.expr() as test):
            yield ast.match_case(node.pattern, _negated(test), node.body)
        case ast.Match(cases=cases) if len(cases) > 1:
            for k in range(len(cases) - 1):
                yield ast.Match(node.subject, [*cases[:k], *cases[k + 1 :]])
        case ast.Expr() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Return(value=ast.expr() as value) if not _is_none(value) and not _is_text(value):
            yield ast.Return(ast.Constant(None))
        case ast.Call(func=func, args=args):
            yield from _of_call(node, func, args)


def _of_call(node: ast.Call, func: ast.expr, args: list[ast.expr]) -> Iterator[ast.AST]:
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if name in NAMES:
        new = copy.copy(func)
        if isinstance(new, ast.Attribute):
            new.attr = NAMES[name]
        elif isinstance(new, ast.Name):
            new.id = NAMES[name]
        yield ast.Call(new, args, node.keywords)
    if name in UNWRAPPED and args and not isinstance(args[0], ast.GeneratorExp | ast.Starred):
        yield args[0]
    elif name in UNWRAPPED and isinstance(func, ast.Attribute) and not args and not node.keywords:
        yield func.value


def _negated(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else _not(test)


def _not(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _is_none(node: ast.expr) -> bool:
    """None, or False, which None stands for wherever it is asked."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_type(node: ast.BinOp) -> bool:
    """Whether it is a union of types: a | b of names with capitals."""
    if not isinstance(node.op, ast.BitOr):
        return False
    return any(
        _is_none(side)
        or (isinstance(side, ast.BinOp) and _is_type(side))
        or (getattr(side, "attr", getattr(side, "id", ""))[:1].isupper())
        for side in (node.left, node.right)
    )


def _mutant(tree: ast.Module, path: Path, node: ast.AST, new: ast.AST) -> Mutant:
    changed: ast.AST = new
    for depth in range(len(path) - 1, -1, -1):
        parent = copy.copy(_at(tree, path[:depth]))
        name, k = path[depth]
        if k is None:
            setattr(parent, name, changed)
        else:
            items = list(getattr(parent, name))
            items[k] = changed
            setattr(parent, name, items)
        changed = parent
    assert isinstance(changed, ast.Module)
    line = _line(tree, path)
    last = getattr(node, "end_lineno", None) or line
    if isinstance(node, ast.If | ast.While | ast.Match):
        last = getattr(node, "test", getattr(node, "subject", node)).end_lineno
    return Mutant(line, last, _text(node), _text(new), _at_import(tree, path), changed)


def _at_import(tree: ast.AST, path: Path) -> bool:
    around = (_at(tree, path[:k]) for k in range(len(path)))
    return not any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in around)


def _line(tree: ast.AST, path: Path) -> int:
    """Where the node begins, or else the nearest around it that has a line."""
    lines = [getattr(_at(tree, path[:k]), "lineno", None) for k in range(len(path) + 1)]
    return next((line for line in reversed(lines) if line), 1)


def _text(node: ast.AST) -> str:
    match node:
        case ast.comprehension():
            node = ast.GeneratorExp(ast.Name("_"), [node])
        case ast.match_case():
            node = ast.Match(ast.Name("_"), [node])
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    return " ".join(text.split())[:160]
