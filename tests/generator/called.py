"""Loops that call functions of the program: with loops of their own, of containers, with early returns."""

from dataclasses import replace
from typing import Any

from generator.parting import decided
from generator.reassigned import loop, reader, test, value
from generator.shapes import REAL, Scope, Shape, Variable, matrix, vector

Lines = list[str]


def inside(statements: Any, t: Shape) -> tuple[Any, Scope, str]:
    """Statements, and the scope and counter of a loop over `v`, in a function of `v` and a real."""
    s = Scope([Variable("v", t), Variable("v", t), Variable("a", REAL)], closed=True)
    s.indices = {size: ["1", size] for size in t.sizes}
    i = s.counter()
    s.indices["n"].append(i)
    return replace(statements, e=replace(statements.e, user={}), targets=False), s, i


def sized(t: Shape) -> Lines:
    return ["int n = rows(v);", "int m = cols(v);"] if t.base == "matrix" else ["int n = size(v);"]


def real_of(statements: Any, t: Shape) -> str:
    """The name of a function that adds up, and may stop or return early."""
    own, s, i = inside(statements, t)
    name, c = own.world.fresh("total"), own.c
    s.variables.append(Variable("b", REAL))
    early = f"if ({decided(own, s)}) {c.one(['return b;', 'return b - a;', 'break;', 'continue;'])}"
    added = [f"b {c.one(['+=', '+=', '='])} {value(own, s)};" for _ in range(2)]
    body = c.one([added[:1], [early, added[0]], [added[0], early], [added[0], early, added[1]]])
    around = loop(f"for ({i} in 1:n)", *body)
    lines = [*sized(t), f"real b = {c.one(['0', 'a'])};", *around, "return b;"]
    own.world.functions += loop(f"real {name}({t.unsized} v, real a)", *lines)
    return name


def container_of(statements: Any, t: Shape, other: str) -> str:
    """The name of a function that changes a copy, may call another one in its loop, and may return early."""
    own, s, i = inside(statements, t)
    name, c = own.world.fresh("next"), own.c
    entry = Shape("row_vector", t.sizes[1:]) if t.base == "matrix" else REAL
    s.variables += [Variable(f"u[{i}]", entry)] * 2
    set_ = [
        f"u[{i}] = {c.one(['tanh({})', 'tanh({})', '{}']).format(own.e.make(s, entry, 1))};" for _ in "abc"
    ]
    early = c.one(["return u;", "return v;", "break;", "continue;"])
    shifted = c.one([f"u[max(1, {i} - 1)]", f"v[n - {i} + 1]", f"u[n - {i} + 1]"])
    steps = [
        set_[0],
        f"if ({decided(own, s)}) {early}",
        f"if ({decided(own, s)}) {set_[1]} else {set_[2]}",
        f"u[{i}] = 0.5 * {shifted};",
        f"u[{i}] = tanh({c.one(['u', 'v'])}[{i}]) * {other}({c.one(['u', 'v'])}, a);",
    ]
    around = loop(f"for ({i} in {c.one(['1', '1', '2'])}:n)", *c.shuffled(steps)[: c.between(1, 4)])
    lines = [*sized(t), f"{t.declared} u = v;", *around, "return u;"]
    own.world.functions += loop(f"{t.unsized} {name}({t.unsized} v, real a)", *lines)
    return name


def pair_of(statements: Any, t: Shape, other: str, next_: str) -> str:
    """The name of a function that returns a container and a real."""
    own, s, _ = inside(statements, t)
    name = own.world.fresh("both")
    early = f"if (a > 0.5) return (v, {other}(v, a));"
    result = f"return ({next_}(v, a), {value(own, replace(s, indices={}))});"
    returned = f"tuple({t.unsized}, real)"
    own.world.functions += loop(f"{returned} {name}({t.unsized} v, real a)", *sized(t), early, result)
    return name


def while_called(statements: Any, s: Scope, depth: int) -> Lines:
    """A container that a function of the program changes, a few times or while another one is small."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    a, b = e.some_size(s), e.some_size(s)
    t = c.one([vector(a), vector(a), Shape("real", (a,)), matrix(a, b)])
    in_function = replace(t, sizes=("n", "m")[: len(t.sizes)])
    total = real_of(statements, in_function)
    next_ = container_of(statements, in_function, total)
    x, k, r = Variable(world.fresh("x"), t, writable=True), world.fresh("k"), world.fresh("r")
    inner, head = statements.loop_head(s)
    start, first = e.make(inner, t, 1), value(statements, inner)
    inner.variables.append(x)
    inner.ints.append(k)
    step = [f"{x.name} = {next_}({x.name}, {c.one([r, value(statements, inner)])});"]
    if c.chance(0.3):
        both = pair_of(statements, in_function, total, next_)
        step = [f"({x.name}, {r}) = {both}({x.name}, {c.one([r, value(statements, inner)])});"]
    step += [f"if ({test(statements, inner)}) {c.one(['break', 'continue'])};"] if c.chance(0.3) else []
    going = c.one(["", f" && {total}({x.name}, {r}) < 1", f" && {r} < 0.9", f" && sum({x.name}) < 1.5"])
    repeated = loop(f"while ({k} < 3{going})", f"{k} += 1;", *step)
    declared = [f"{t.declared} {x.name} = {start};", f"real {r} = {first};", f"int {k} = 0;"]
    reads = c.one([[read(f"sum({x.name})")], [read(f"{total}({x.name}, {r})"), read(r)]])
    return [*lines, *loop(head, *declared, *repeated, *reads)]


CALLED = ((0.8, while_called),)
"""With its weight among the statements."""
