"""Statements that points go through in different ways: parameters decide branches, loops and indices."""

from dataclasses import replace
from typing import Any

from generator.shapes import REAL, Scope, Shape, Variable, vector

Lines = list[str]


def decided(statements: Any, s: Scope) -> str:
    """A condition on real numbers, which are parameters more often than not."""
    e, c = statements.e, statements.c
    sides = [e.make(s, REAL, c.between(0, 1)) for _ in range(2)]
    one = f"{sides[0]} {c.one(['>', '<', '>='])} {sides[1]}"
    return f"({one} {c.one(['&&', '||'])} {e.condition(s, 0)})" if c.chance(0.2) else one


def position(statements: Any, s: Scope, depth: int) -> Lines:
    """The position of the first entry that is large, or one of two; an index from there on."""
    e, c = statements.e, statements.c
    size = e.some_size(s)
    name, inner = statements.world.fresh("n"), s.inner()
    if c.chance(0.3):
        start = f"{decided(statements, s)} ? {e.index(s, size)} : {e.index(s, size)}"
        lines = [f"int {name} = {start};"]
    else:
        i = inner.counter()
        inner.indices.setdefault(size, []).append(i)
        stop = c.one(["", " break;", " break;"])
        lines = [
            f"int {name} = {e.index(s, size)};",
            f"for ({i} in 1:{size}) if ({decided(statements, inner)}) {{ {name} = {i};{stop} }}",
        ]
    s.indices.setdefault(size, []).extend([name, name])
    s.ints.append(name)
    return lines


def positions(statements: Any, s: Scope, depth: int) -> Lines:
    """An array of ints, each decided by itself."""
    e = statements.e
    size, count = e.some_size(s), e.some_size(s)
    name, inner = statements.world.fresh("n"), s.inner()
    i = inner.counter()
    inner.indices.setdefault(count, []).append(i)
    options = [f"{name}[{i}] = {e.index(inner, size)};" for _ in range(2)]
    s.variables.append(Variable(name, Shape("int", (count,)), f"index:{size}"))
    return [
        f"array[{count}] int {name};",
        f"for ({i} in 1:{count}) {{",
        f"  if ({decided(statements, inner)}) {options[0]} else {options[1]}",
        "}",
    ]


def search(statements: Any, s: Scope, depth: int) -> Lines:
    """Bisection: where a number would stand among those of a vector."""
    e = statements.e
    size = e.some_size(s)
    low, high, middle = (statements.world.fresh(letter) for letter in ("lo", "hi", "mid"))
    ordered, looked_for = statements.world.fresh("g"), e.make(s, REAL, 1)
    value = e.make(s, vector(size), 1)
    s.variables.append(Variable(ordered, vector(size)))
    s.indices.setdefault(size, []).extend([low, low])
    return [
        f"vector[{size}] {ordered} = sort_asc({value});",
        f"int {low} = 1;",
        f"int {high} = {size} + 1;",
        f"while ({high} - {low} > 1) {{",
        f"  int {middle} = ({low} + {high}) %/% 2;",
        f"  if ({ordered}[{middle}] <= {looked_for}) {low} = {middle}; else {high} = {middle};",
        "}",
    ]


def climb(statements: Any, s: Scope, depth: int) -> Lines:
    """A number that grows in steps until it is large, or they are many."""
    e, c = statements.e, statements.c
    size = e.some_size(s)
    at, step = statements.world.fresh("r"), statements.world.fresh("w")
    first = e.make(s, REAL, 1)
    inner = replace(s.inner(), loops=s.loops + 1)
    inner.variables.append(Variable(at, REAL))
    inner.indices.setdefault(size, []).append(step)
    inner.ints.append(step)
    jumps = [f"  if ({decided(statements, inner)}) {c.one(['break', 'continue'])};"] if c.chance(0.5) else []
    grown = f"  {at} += 0.3 + log1p_exp({e.make(inner, REAL, 1)});"
    more = ["  " + line for line in statements.statement(inner.inner(), 0)] if c.chance(0.4) else []
    body = c.one([[*jumps, grown, *more], [grown, *jumps, *more], [*more, *jumps, grown]])
    outside = s.inner()
    outside.variables.append(Variable(at, REAL))
    condition = c.one([f"{at} < {e.make(s, REAL, 0)}", f"{at} < 1.5", decided(statements, outside)])
    s.variables += [Variable(at, REAL), Variable(at, REAL)]
    s.ints.append(step)
    return [
        f"real {at} = {first};",
        f"int {step} = 0;",
        f"while ({step} < {size} && {condition}) {{",
        f"  {step} += 1;",
        *body,
        "}",
    ]


def filled(statements: Any, s: Scope, depth: int) -> Lines:
    """A container whose entries are set on one side of a branch or the other."""
    e, c = statements.e, statements.c
    size, other = e.some_size(s), e.some_size(s)
    t = c.one(
        [
            Shape("vector", (size,)),
            Shape("real", (size,)),
            Shape("vector", (size, other)),
            Shape("matrix", (size, other)),
            Shape("matrix", (size, other, other)),
        ]
    )
    variable = Variable(statements.world.fresh("f"), t, writable=True)
    inner = s.inner()
    i = inner.counter()
    inner.indices.setdefault(size, []).append(i)
    entry = next(shape for shape, _ in e.reads(inner, variable) if len(shape.sizes) == len(t.sizes) - 1)
    sides = [f"{variable.name}[{i}] = {e.make(inner, entry, 2)};" for _ in range(2)]
    s.variables.append(variable)
    return [
        f"{t.declared} {variable.name};",
        f"for ({i} in 1:{size}) {{",
        f"  if ({decided(statements, inner)}) {sides[0]}",
        f"  else {sides[1]}",
        "}",
    ]


def either(statements: Any, s: Scope, depth: int) -> Lines:
    """Two sides with statements of their own, after locals that both may change."""
    count = statements.c.between(1, 2)
    lines = statements.local(s, REAL) if statements.c.chance(0.5) else []
    then = statements.nested(f"if ({decided(statements, s)})", s.inner(), max(0, depth - 1), count)
    otherwise = statements.nested("else", s.inner(), max(0, depth - 1), count)
    return [*lines, *then[:-1], f"}} {otherwise[0]}", *otherwise[1:]]


IDIOMS = ((0.6, position), (0.3, positions), (0.3, search), (0.6, climb), (0.5, filled), (1.0, either))
"""Each with its weight among the statements."""
