"""Nested loops over one range with branches between them, which read parts of locals of the outer loop."""

from typing import Any

from generator.reassigned import loop, reader, test, value
from generator.shapes import REAL, Scope, Shape, Variable, matrix, vector

Lines = list[str]
REDUCTIONS = ("sum({})", "sum({})", "prod({})", "log_sum_exp({})", "max(append_row({}, 0.5))", "dot_self({})")


def part(statements: Any, s: Scope, v: Variable) -> str:
    """Some entries of a vector, or of a row, a column or an element of the variable."""
    e, c = statements.e, statements.c
    size = v.shape.sizes[0]
    a, b, at = (e.index(s, size) for _ in range(3))
    picked = c.one([f"{a}:{b}", f"{a}:{b}", f"1:{a}", f"{a}:{size}", f"{{{a}, {b}}}"])
    if v.shape == vector(size):
        return f"{v.name}[{picked}]"
    column = f"{v.name}[{picked}, {at}]" if v.shape.base == "matrix" else f"{v.name}[{at}][{picked}]"
    return c.one([column, column, f"to_vector({v.name}[{at}, {picked}])"])


def branch(statements: Any, s: Scope, size: str) -> str:
    """A condition, more often than not on the entry of a parameter that the innermost loop counts."""
    e, c = statements.e, statements.c
    v = e.world.parameter(vector(size)) if e.free and not s.closed and c.chance(0.7) else None
    if v is None:
        return test(statements, s)
    return f"{v.name}[{s.counters[-1]}] {c.one(['>', '<'])} {value(statements, s)}"


def branches_of_nest(statements: Any, s: Scope, depth: int) -> Lines:
    """Two loops over one range, or three; each branch may be decided by parameters of any of them."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    size, outer = e.some_size(s), s.inner()
    shapes = [vector(size), vector(size), matrix(size, size), Shape("vector", (size, size))]
    v = Variable(world.fresh("u"), c.one(shapes))
    number, n = world.fresh("r"), world.fresh("n")

    def counted(scope: Scope) -> tuple[Scope, str]:
        inside = scope.inner()
        i = inside.counter()
        inside.indices.setdefault(size, []).extend([i, i])
        return inside, f"for ({i} in 1:{size})"

    outer, head = counted(outer)
    index = c.one([e.index(outer, size), f"({branch(statements, outer, size)}) ? {e.index(outer, size)} : 1"])
    local = [
        f"{v.shape.declared} {v.name} = {e.make(outer, v.shape, 1)};",
        f"real {number} = {value(statements, outer)};",
        f"int {n} = {index};",
    ]
    outer.indices[size].append(n)
    inner, inner_head = counted(outer)
    inner.variables += [v, Variable(number, REAL)]
    term = c.one(REDUCTIONS).format(part(statements, inner, v))
    term = f"{term} * {c.one([number, value(statements, inner)])}"
    if c.chance(0.3):
        term = f"(({branch(statements, inner, size)}) ? {term} : {value(statements, inner)})"
    body = [read(term)]
    if c.chance(0.7):
        body = loop(f"if ({branch(statements, inner, size)})", *body)
    elif c.chance(0.5):
        w = world.fresh("w")
        body = [
            f"int {w} = 0;",
            *loop(f"while ({w} < 2 && ({branch(statements, inner, size)}))", f"{w} += 1;", *body),
        ]
    body = loop(inner_head, *body)
    if c.chance(0.2):
        body = loop(f"for ({world.fresh('h')} in 1:{size})", *body)
    if c.chance(0.4):
        body = loop(f"if ({branch(statements, outer, size)})", *body)
    return [*lines, *loop(head, *local, *body)]


NESTS = ((0.8, branches_of_nest),)
"""With its weight among the statements."""
