"""Groups of different sizes: segments of a vector by their starts, their ends or a running position."""

from collections.abc import Callable
from typing import Any

import numpy as np
from generator.reassigned import loop, reader, test, value
from generator.shapes import REAL, Scope, Variable

Lines = list[str]


def grouped(statements: Any) -> tuple[str, str, str]:
    """Names of data: how many groups there are, the size of each, the position where each starts."""
    world = statements.world
    count = world.choices.one(list(world.sizes))
    sizes, starts = world.fresh("size"), world.fresh("start")
    lengths = world.numbers.integers(world.choices.one([0, 1, 1]), 4, world.sizes[count])
    lengths[-1:] = np.maximum(1, lengths[-1:])  # a segment starts within the vector, also one without entries
    world.declared += [f"array[{count}] int<lower={n}> {name};" for n, name in ((0, sizes), (1, starts))]
    world.values |= {sizes: lengths.tolist(), starts: (1 + np.cumsum(lengths) - lengths).tolist()}
    return count, sizes, starts


def entries(statements: Any, s: Scope, sizes: str) -> tuple[str, Lines]:
    """The name of a vector of all groups and what declares it: a parameter, data or a local."""
    world, c = statements.world, statements.c
    name, declared = world.fresh("g"), f"vector[sum({sizes})] "
    where = c.one(["parameter" if statements.e.free else "data", "data", "local"])
    if where == "local":
        return name, [f"{declared}{name} = rep_vector({statements.e.make(s, REAL, 1)}, sum({sizes}));"]
    if where == "data":
        numbers = world.numbers.normal(0.0, 1.0, sum(world.values[sizes]))
        world.values[name] = np.round(numbers, 2).tolist()
    (world.declared if where == "data" else world.parameter_lines).append(f"{declared}{name};")
    return name, []


def ragged(statements: Any, s: Scope, depth: int) -> Lines:
    """A loop over groups around entries, segments or locals of the size of a group."""
    if s.closed:
        return statements.fill(s, depth)
    c, world = statements.c, statements.world
    read, lines = reader(statements, s)
    count, sizes, starts = grouped(statements)
    (x, first), (y, second) = entries(statements, s, sizes), entries(statements, s, sizes)
    inner, n, z = s.inner(), world.fresh("h"), world.fresh("z")
    g = inner.counter()
    inner.indices.setdefault(count, []).append(g)
    size, running = f"{sizes}[{g}]", world.fresh("pos")
    at = c.one([running, f"{starts}[{g}]"])
    parts: list[Callable[[str], str]] = [
        lambda v: f"segment({v}, {at}, {size})",
        lambda v: f"{v}[{at}:({at} + {size} - 1)]",
    ]
    part, other = (c.one(parts)(v) for v in (x, y))
    number, again = value(statements, inner), value(statements, inner)
    within = inner.inner()
    within.variables += [Variable(f"{x}[{at} + {n} - 1]", REAL)] * 2
    of_entry, head = value(statements, within), f"for ({n} in 1:{size})"
    local = f"vector[{size}] {z} = {c.one([part, f'{part} * {number}', f'rep_vector({number}, {size})'])};"
    fill = f"{z}[{n}] {c.one(['=', '+='])} {of_entry};"
    if c.chance(0.5):
        fill = f"if ({test(statements, within)}) {fill}"
    carried = f"{z}[{n}] = 0.5 * {z}[max(1, {n} - 1)] + {of_entry};"
    bodies = [
        [read(f"{c.one(['sum', 'log_sum_exp', 'dot_self'])}(append_row({number}, {part}))")],
        [read(f"dot_product({part}, {other}) * {number}")],
        loop(head, read(f"{of_entry} * {y}[{at} + {n} - 1]")),
        [local, *loop(head, c.one([fill, carried])), read(f"sum({z}) * {number}")],
        [local, *loop(head, fill, c.one([fill, carried])), read(f"dot_product({z}, {other})")],
    ]
    if statements.targets:
        bodies.append([f"{part} ~ normal({c.one([number, other])}, {c.one(['2', f'exp({number})'])});"])
    if second:
        bodies.append([*loop(head, f"{y}[{at} + {n} - 1] = {of_entry};"), read(f"sum({other})")])
    body = c.one(bodies)
    if c.chance(0.3):
        body = [f"if ({test(statements, inner)}) {{", *body, "}"]
    if c.chance(0.2):
        body = [*body, read(again)]
    made = loop(f"for ({g} in 1:{count})", *body, *([f"{running} += {size};"] if at == running else []))
    if at == running:
        made = ["{", *(f"  {line}" for line in (f"int {running} = 1;", *made)), "}"]
    return [*lines, *first, *second, *made]


RAGGED = ((0.8, ragged),)
"""With its weight among the statements."""
