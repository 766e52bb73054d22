"""The rules of a text -> AST.

The naming law: a rule `for_each` builds the class `ForEach`, its children are the fields in their order; a
field `name_span` is where the name among them stands. Only rules that differ in shape from their node have a
method here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from ppl.errors import Fix, ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.lalr import Token
from ppl.kernel.language.walk import STATEMENTS, nested_too_deep
from ppl.source import Span

LARGEST_LITERAL = 2**31 - 1
"""The largest int that a program may write: Stan's have 32 bits."""
PARTS = frozenset({"arguments", "definition", "dims", "arglist"})
"""Rules that are part of a node: the tuple of their children."""
BLOCKS = frozenset(f.name for f in fields(ast.Program))
"""Rules of blocks: the tuple of their statements, less the word that begins the block."""
LISTS = frozenset({"block", "print", "profile", "array_literal", "row_vector_literal", "tuple_literal"})
"""Rules with a node that has as its last field the tuple of all further children."""
# Calls that the grammar would take for a function of that name, what is written today, and the same as a fix.
REMOVED = {
    "increment_log_prob": ("Write `target += value;`.", "target += {}"),
    "get_lp": ("Write `target()`.", "target()"),
}


@dataclass(frozen=True, slots=True)
class ParseTree:
    """A rule with its unbuilt children."""

    rule: str
    start: int
    end: int
    children: Sequence[Any]

    def words(self) -> Iterator[str]:
        stack: list[Any] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, ParseTree):
                stack += item.children
            elif isinstance(item, Token):
                yield str(item)


class Builder:
    """Builds one program; `place(start, end)` gives the Span between two offsets of its text."""

    def __init__(self, place: Callable[[int, int], Span]):
        self.place = place
        self.errors: list[ModelError] = []
        self.lost: set[str] = set()

    def build(self, tree: ParseTree) -> Any:
        """The node (or, for a rule that is part of a node, the value) of a tree.

        A statement that is refused becomes a Skip: its error goes to `errors` and its words to `lost`.
        """
        children: list[Any] = []
        try:
            # A loop, since a comprehension would halve the depth that can be built.
            for child in tree.children:
                children.append(self.build(child) if isinstance(child, ParseTree) else child)
            return self.built(tree.rule, tree.start, tree.end, children)
        except (ModelError, RecursionError) as error:
            if getattr(ast, class_name(tree.rule), None) not in STATEMENTS:
                raise
            span = self.place(tree.start, tree.end)
            self.errors.append(error if isinstance(error, ModelError) else nested_too_deep(span))
            self.lost.update(tree.words())
            return ast.Skip(span)

    def built(self, rule: str, start: int, end: int, children: list[Any]) -> Any:
        """The node of a rule, given those of its children; raises ModelError if it is refused."""
        if rule in PARTS:
            return tuple(children)
        if rule in BLOCKS:
            return flat(child for child in children if not isinstance(child, Token))
        span, method = self.place(start, end), METHODS.get(rule)
        if method is not None:
            return method(self, span, *children)
        kind, own = node_of(rule)
        if rule in LISTS:
            children = [*children[: len(own) - 1], flat(children[len(own) - 1 :])]
        values = dict(zip(own, map(plain, children), strict=False))
        if "name_span" in kind.__annotations__:
            values["name_span"] = self.span(next(child for child in children if isinstance(child, Token)))
        return kind(span, **values)

    def span(self, token: Token) -> Span:
        """Where a word stands."""
        return self.place(token.start, token.end)

    # --- Functions -------------------------------------------------------------------------------

    def _function_def(self, span: Span, *parts: Any) -> ast.FunctionDef:
        annotations, (returns, name, args, *bodies) = leading_annotations(parts)
        body = bodies[0] if bodies else None
        return ast.FunctionDef(span, returns, str(name), self.span(name), args, body, annotations)

    def _argument(self, span: Span, data: Token | None, type: ast.UnsizedType, name: Token) -> ast.Argument:
        return ast.Argument(span, type, str(name), self.span(name), data is not None)

    def _unsized_type(self, span: Span, *parts: Any) -> ast.UnsizedType:
        dims, keyword, *items = parts if len(parts) > 1 else (None, *parts)
        return ast.UnsizedType(span, str(keyword), dims or 0, tuple(items))

    def _unsized_dims(self, _: Span, *commas: Token) -> int:
        return len(commas) + 1

    # --- Declarations ----------------------------------------------------------------------------

    def _declaration(self, span: Span, *parts: Any) -> Any:
        """One statement, as many declarations as it has names."""
        annotations, (type, *definitions) = leading_annotations(parts)
        return [
            ast.Declaration(span, type, str(n), self.span(n), value[0] if value else None, annotations)
            for n, *value in definitions
        ]

    def _annotation(self, span: Span, text: Token) -> ast.Annotation:
        return ast.Annotation(span, str(text[1:]))

    def _sized_type(self, span: Span, dims: Any, keyword: Token, *rest: Any) -> ast.SizedType:
        bounds = next((part for part in rest if isinstance(part, ast.Bounds)), None)
        sizes = tuple(part for part in rest if part is not None and part is not bounds)
        return ast.SizedType(span, str(keyword), bounds, sizes, dims or ())

    def _sized_tuple(self, span: Span, dims: Any, _: Token, *items: Any) -> ast.SizedTuple:
        return ast.SizedTuple(span, items, dims or ())

    def _bounds(self, span: Span, *parts: Any) -> ast.Bounds:
        return ast.Bounds(span, tuple(zip(map(str, parts[::2]), parts[1::2], strict=True)))

    # --- Statements ------------------------------------------------------------------------------

    def _assignment(self, span: Span, target: ast.Expr, op: Token, value: ast.Expr) -> ast.Assignment:
        if not is_assignable(target, span):
            text = (
                f"The left side of `{op}` is not a variable; expected a name, with or without indices, and "
                "no parentheses around it."
            )
            hint = "Write `name = value;` or `name[index] = value;`; to compare, use `==`."
            raise ModelError(text, target.span, hint, "PPL139")
        return ast.Assignment(span, target, str(op), value)

    def _call_statement(self, span: Span, call: ast.Expr) -> ast.CallStatement:
        if isinstance(call, ast.Call):
            return ast.CallStatement(span, call)
        if isinstance(call, ast.Binary) and call.op == "<" and is_negated(call.right):
            minus = call.right.span  # the grammar took `t <- x` for `t < -x`
            arrow = Span(minus.source, minus.line, minus.column - 1, minus.line, minus.column + 1)
            fix = Fix(arrow, "=") if arrow.text == "<-" else None
            raise ModelError("`<-` no longer assigns.", call.span, "Write `name = value;`.", "PPL137", fix)
        text = "An expression is not a statement; expected `=`, `~` or a call."
        raise ModelError(text, call.span, None, "PPL140")

    def _target_increment(self, span: Span, _: Token, value: ast.Expr) -> ast.TargetIncrement:
        return ast.TargetIncrement(span, value)

    def _reject(self, span: Span, word: Token, *args: Any) -> ast.Reject:
        return ast.Reject(span, args, fatal=word == "fatal_error")

    # --- Expressions -----------------------------------------------------------------------------

    def _int_literal(self, span: Span, digits: Token) -> ast.IntLiteral:
        number = digits.replace("_", "")
        if len(number.lstrip("0")) > 10 or int(number) > LARGEST_LITERAL:
            text = f"The integer is larger than {LARGEST_LITERAL}, the largest int."
            hint = "Write a real number: add a decimal point."
            raise ModelError(text, self.span(digits), hint, "PPL111")
        return ast.IntLiteral(span, int(number))

    def _binary(self, span: Span, left: ast.Expr, op: Token, right: ast.Expr) -> ast.Binary:
        return ast.Binary(span, str(op), left, right)

    def _call(self, span: Span, name: Token, *parts: Any) -> ast.Call:
        if name in REMOVED:
            raise self.removed(span, name, parts)
        *first, args = [part for part in parts if not isinstance(part, Token)] or [()]
        return ast.Call(span, str(name), (*first, *args), bar=bool(first))

    def removed(self, span: Span, name: Token, parts: Any) -> ModelError:
        hint, template = REMOVED[name]
        args = parts[0] if len(parts) == 1 else ()
        fits = len(args) == template.count("{}")
        fix = Fix(span, template.format(*(e.span.text for e in args))) if fits else None
        return ModelError(f"`{name}` was removed from the language.", self.span(name), hint, "PPL138", fix)

    def _indexed(self, span: Span, base: ast.Expr, *indices: ast.Index | None) -> ast.Indexed:
        """An empty index, as in `x[, 2]`, has no text of its own: it is placed at the whole expression."""
        return ast.Indexed(span, base, tuple(i or ast.RangeIndex(span, None, None) for i in indices))

    def _projection(self, span: Span, base: ast.Expr, item: Token) -> ast.Projection:
        if isinstance(base, ast.RealLiteral | ast.IntLiteral):
            raise ModelError("A number has one decimal point (.) only.", span, None, "PPL106")
        return ast.Projection(span, base, int(item[1:]))


METHODS: Mapping[str, Callable[..., Any]] = {
    name[1:]: method for name, method in vars(Builder).items() if name[0] == "_" != name[1]
}
"""The methods of rules that differ in shape from their node."""


def leading_annotations(parts: Sequence[Any]) -> tuple[tuple[ast.Annotation, ...], Sequence[Any]]:
    """The annotations that parts begin with, and the others."""
    count = sum(isinstance(part, ast.Annotation) for part in parts)
    return tuple(parts[:count]), parts[count:]


def class_name(rule: str) -> str:
    """The class that a rule builds: `for_each` -> `ForEach`."""
    return "".join(word.capitalize() for word in rule.split("_"))


@cache
def node_of(rule: str) -> tuple[Any, tuple[str, ...]]:
    """The class that a rule builds, and its fields that the children of the rule fill."""
    kind = getattr(ast, class_name(rule))
    return kind, tuple(f.name for f in fields(kind) if f.name not in ("span", "name_span"))


def plain(child: Any) -> Any:
    """A token as its text, a string without its quotes; any other child as it is."""
    if not isinstance(child, Token):
        return child
    return child[1:-1] if child[0] == '"' else str(child)


def flat(items: Any) -> tuple[ast.Statement, ...]:
    """The statements of a block in order; a declaration statement comes as the list of its declarations."""
    return tuple(node for item in items for node in (item if isinstance(item, list) else [item]))


def is_assignable(target: ast.Expr, whole: Span) -> bool:
    """Whether it names what is assigned to; `whole` starts before it where it stands in parentheses."""
    if (target.span.line, target.span.column) != (whole.line, whole.column):
        return False
    match target:
        case ast.Variable():
            return True
        case ast.Indexed(base=base) | ast.Projection(base=base):
            return is_assignable(base, target.span)
        case ast.TupleLiteral(items=items):
            return all(is_assignable(item, item.span) for item in items)
        case _:
            return False


def is_negated(expr: ast.Expr) -> bool:
    """Whether an expression starts with a minus sign, as what follows `t <` in `t <-2 * x` does."""
    match expr:
        case ast.Unary(op="-"):
            return True
        case ast.Binary(left=left):
            return is_negated(left)
        case _:
            return False
