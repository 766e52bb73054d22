"""Statements that assign again to a variable: between two reads, in a later iteration, before a loop ends."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from generator.parting import decided
from generator.shapes import INT, REAL, Scope, Shape, Variable, matrix, vector

Lines = list[str]


def reader(statements: Any, s: Scope) -> tuple[Callable[[str], str], Lines]:
    """How to use a real number: add it to the target, or to a variable that is declared first."""
    if statements.targets:
        return lambda text: f"target += {text};", []
    total = Variable(statements.world.fresh("o"), REAL, writable=True)
    s.variables.append(total)
    return lambda text: f"{total.name} += {text};", [f"real {total.name} = 0;"]


def value(statements: Any, s: Scope, depth: int = 1) -> str:
    """A real number, mostly of the loops around, more often than not between -1 and 1."""
    e, c = statements.e, statements.c
    looped = any(s.indices.values()) and not s.closed and c.chance(0.6)
    text = e.of_loops(s, REAL) if looped else e.make(s, REAL, depth)
    return text if c.chance(0.3) else f"tanh({text})"


def parameter(statements: Any, s: Scope) -> str:
    """A real parameter if there may be one, or another real number."""
    e = statements.e
    v = e.world.parameter(REAL) if e.free and not s.closed and e.c.chance(0.8) else None
    return v.name if v else e.make(s, REAL, 1)


def test(statements: Any, s: Scope) -> str:
    """A condition: mostly on parameters, which differ in sign between points."""
    sign = lambda: f"{parameter(statements, s)} {statements.c.one(['> 0', '< 0', '> 0.1'])}"  # noqa: E731
    other = lambda: decided(statements, s)  # noqa: E731
    return statements.c.weighted([(2.0, sign), (1.0, other), (1.0, lambda: statements.e.condition(s))])()


def loop(head: str, *body: str) -> Lines:
    return [f"{head} {{", *("  " + line for line in body), "}"]


def entry_of(statements: Any, s: Scope, v: Variable) -> str:
    indices = [statements.e.index(s, size) for size in v.shape.sizes]
    if len(set(v.shape.sizes)) == 1 and statements.c.chance(0.4):
        indices = indices[:1] * len(indices)  # the diagonal of a matrix
    return f"{v.name}[{', '.join(indices)}]"


def container(statements: Any, s: Scope, letter: str) -> Variable:
    a, b, c = statements.e.some_size(s), statements.e.some_size(s), statements.c
    shapes = [vector(a), vector(a), Shape("real", (a,)), matrix(a, b), matrix(a, a)]
    return Variable(statements.world.fresh(letter), c.one(shapes), writable=True)


def filled_again(statements: Any, s: Scope, v: Variable) -> str:
    """A value of the type of a variable, of its own value or another one."""
    other = statements.e.make(s, v.shape, 1)
    if v.shape.base == "real":
        return other
    return statements.c.one([other, other, f"0.5 * {v.name}", f"{v.name} .* {other}"])


def overlap(statements: Any, s: Scope, depth: int) -> Lines:
    """Entries at `n + i` of two loops; a number that is carried may keep the inner one a loop."""
    e, c = statements.e, statements.c
    size = f"{e.some_size(s)} + {e.some_size(s)}"
    v = Variable(
        statements.world.fresh("a"),
        c.one([vector(size), vector(size), Shape("real", (size,))]),
        writable=True,
    )
    first = e.make(s, v.shape, 1)
    (around, head), carried = statements.loop_head(s, size.split(" + ")[0]), statements.world.fresh("q")
    start = e.make(around, REAL, 1)
    inner, inner_head = statements.loop_head(around, size.split(" + ")[1])
    n, i = inner.counters[-2:]
    inner.indices[size] = [f"{n} + {i}", f"{n} + {i}", n, i]
    inner.variables += [v, v, v]
    set_ = f"{v.name}[{c.one([f'{n} + {i}', f'{n} + {i}', e.index(inner, size)])}]"
    body = [f"{set_} {c.one(['=', '=', '+='])} {value(statements, inner)};"]
    lines: Lines = []
    if c.chance(0.5):
        lines = [f"real {carried} = {start};"]
        inner.variables += [Variable(carried, REAL)] * 2
        step = f"{carried} = 0.5 * {carried} + {value(statements, inner)};"
        body = c.one([[step, *body], [*body, step], [step, f"{set_} = {carried};"]])
    if c.chance(0.3):
        body += statements.statement(inner, 0)
    s.variables.append(v)
    return [f"{v.shape.declared} {v.name} = {first};", *loop(head, *lines, *loop(inner_head, *body))]


def steps(statements: Any, s: Scope, depth: int) -> Lines:
    """Rows of a matrix one after the other, each from any columns of those before."""
    e, c = statements.e, statements.c
    rows, columns = e.some_size(s), e.some_size(s)
    v = Variable(statements.world.fresh("A"), matrix(rows, columns), writable=True)
    first, inner = e.make(s, v.shape, 1), s.inner()
    i, n = inner.counter(), inner.counter()
    inner.indices.setdefault(columns, []).append(n)
    before = f"{v.name}[{c.one([f'{i} - 1', f'{i} - 1', i])}, {e.index(inner, columns)}]"
    inner.variables += [Variable(before, REAL)] * 3
    set_ = f"{v.name}[{i}, {n}] = {value(statements, inner)} + 0.5 * {before};"
    heads = c.shuffled([f"for ({i} in 2:{rows})", f"for ({n} in 1:{columns})"])
    s.variables.append(v)
    return [f"{v.shape.declared} {v.name} = {first};", *loop(heads[0], *loop(heads[1], set_))]


def entry_then_whole(statements: Any, s: Scope, depth: int) -> Lines:
    """An entry is set, then others or the whole, then it is read."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    inner, head = statements.loop_head(s)
    v = container(statements, s, "w")
    first, at, other = e.make(s, v.shape, 1), entry_of(statements, inner, v), entry_of(statements, inner, v)
    start = f"{v.shape.declared} {v.name} = {first};"
    inner.variables.append(v)
    whole = f"{v.name} = {filled_again(statements, inner, v)};"
    number, again = value(statements, inner), value(statements, inner)
    between = c.one(
        [
            [whole],
            [f"if ({test(statements, inner)}) {whole}"],
            [f"for ({world.fresh('h')} in 1:2) {{ {read(at)} {whole} }}"],
            [f"{other} = {number};"],
            [f"if ({test(statements, inner)}) {other} = {number};"],
            ["}", "{", f"{v.shape.declared} {v.name} = {e.make(s, v.shape, 1)};"],
        ]
    )
    body = [f"{at} = {again};", *([read(at)] if c.chance(0.3) else []), *between, read(at)]
    if "}" in between or c.chance(0.8):
        return [*lines, *loop(head, "{", start, *body, "}")]
    s.variables.append(v)
    return [*lines, start, *loop(head, *body)]


def triangle(statements: Any, s: Scope, depth: int) -> Lines:
    """The diagonal and both sides of a matrix, read between the statements that set them."""
    e, c = statements.e, statements.c
    read, lines = reader(statements, s)
    size = e.some_size(s)
    v = Variable(statements.world.fresh("m"), matrix(size, size), writable=True)
    first, around = e.make(s, v.shape, 1), s.inner()
    i = around.counter()
    around.indices.setdefault(size, []).append(i)
    inner = around.inner()
    j = inner.counter()
    inner.indices[size].append(j)
    own, here, there = (f"{v.name}[{at}]" for at in (f"{i}, {i}", f"{i}, {j}", f"{j}, {i}"))
    sets = [f"{here} = {value(statements, inner)};", f"{there} = {c.one([here, value(statements, inner)])};"]
    reads = [read(f"{at} * {value(statements, inner, 0)}") for at in (own, here, there)]
    body = c.shuffled([*sets, *reads])[: c.between(2, 4)]
    inner_head = f"for ({j} in {c.one([i, i, i, f'({i} + 1)', '1'])}:{size})"
    before = [f"{own} = {value(statements, around)};"] if c.chance(0.7) else []
    after = [read(own)] if c.chance(0.5) else []
    s.variables.append(v)
    declared = f"{v.shape.declared} {v.name} = {first};"
    return [*lines, declared, *loop(f"for ({i} in 1:{size})", *before, *loop(inner_head, *body), *after)]


def bound(statements: Any, s: Scope, depth: int) -> Lines:
    """A loop from or to an int that its body sets."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    size, name = e.some_size(s), world.fresh("b")
    inner, start = s.inner(), e.index(s, size)
    i = inner.counter()
    inner.indices.setdefault(size, []).extend([i, name])
    inner.ints.append(name)
    head = f"for ({i} in {c.one([f'1:{name}', f'1:{name}', f'{name}:{size}'])})"
    step = f"{name} = {e.index(inner, size)};"
    if c.chance(0.3):
        step = f"if ({test(statements, inner)}) {step}"
    body = statements.block(inner, c.between(1, 2), 0)
    body = c.one([[*body, step], [step, *body], [*body[:1], step, *body[1:]]])
    s.indices.setdefault(size, []).append(name)
    s.ints.append(name)
    return [*lines, f"int {name} = {start};", *loop(head, *body), read(f"{name} * {e.make(s, REAL, 0)}")]


def copies(statements: Any, s: Scope, depth: int) -> Lines:
    """Ints that copy others and change, within an iteration or from one to the next, as a state goes on."""
    e, c, world = statements.e, statements.c, statements.world
    size, one, other = e.some_size(s), world.fresh("b"), world.fresh("b")
    state = Variable(world.fresh("a"), REAL, writable=True)
    start = [f"int {one} = {e.index(s, size)};", f"real {state.name} = {parameter(statements, s)};"]
    inner, head = statements.loop_head(s)
    known = inner.indices.setdefault(size, [])
    outside = c.chance(0.5)
    first = f"{one} = {e.index(inner, size)};"
    known += [one, one]
    inner.ints.append(one)
    copy = f"int {other} = {c.one([one, one, f'{size} - {one} + 1'])};"
    body = [copy if outside else f"int {first}", *([] if outside else [copy])]
    known += [other, other]
    for name in c.shuffled([one, other, one])[: c.between(1, 3)]:
        step = f"{name} = {e.index(inner, size)};"
        body += [f"if ({test(statements, inner)}) {step}" if c.chance(0.3) else step]
        carried = f"{c.one([one, other])} * {value(statements, inner)}"
        move = f"{state.name} = 0.5 * {state.name} + {carried};"
        body += [move] if c.chance(0.6) else statements.block(inner, 1, 0)
    s.variables.append(state)
    if outside:
        s.indices.setdefault(size, []).append(one)
    return [*start[not outside :], *loop(head, *body)]


def term_then_set(statements: Any, s: Scope, depth: int) -> Lines:
    """A variable, or an entry, is a term, plainly or by a function, and is set again afterwards."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    v = container(statements, s, "w") if c.chance(0.4) else Variable(world.fresh("a"), REAL, writable=True)
    first = e.make(s, v.shape, 1) if v.shape.sizes else parameter(statements, s)
    lines += [f"{v.shape.declared} {v.name} = {first};"]
    at = entry_of(statements, s, v) if v.shape.sizes else v.name
    s.variables.append(v)
    for _ in range(c.between(1, 3)):
        lines += [read(as_a_term(statements, s, at)) for _ in range(c.between(1, 2))]
        whole = c.chance(0.3)
        new = (
            filled_again(statements, s, v) if whole else c.one([value(statements, s), f"0.5 * {at}", "0.25"])
        )
        step = f"{v.name if whole else at} {c.one(['=', '=', '+='])} {new};"
        if v.shape.base == "real" and v.shape.sizes and whole:
            step = step.replace(" += ", " = ")
        lines += [f"if ({test(statements, s)}) {step}" if c.chance(0.7) else step]
    return [*lines, read(f"{at} * {e.make(s, REAL, 0)}")]


def as_a_term(statements: Any, s: Scope, text: str) -> str:
    """The number, in ways that may copy it or not."""
    c, world = statements.c, statements.world
    form = c.one(["{}", "{}", "+{}", "-{}", "same", "either", f"({test(statements, s)} ? {{}} : 0.5)"])
    if form not in ("same", "either") or s.closed:
        return text if "{}" not in form else form.format(text)
    name = world.fresh(form)
    early = "if (y > 1.5) return 2; " if form == "either" else ""
    world.functions.append(f"real {name}(real y) {{ {early}return y; }}")
    return f"{name}({text})"


def under_a_branch(statements: Any, s: Scope, depth: int) -> Lines:
    """Entries set where a number is positive, at indices that may repeat."""
    e, c, world = statements.e, statements.c, statements.world
    v, q = container(statements, s, "w"), world.fresh("q")
    first = e.make(s, v.shape, 1)
    inner, head = statements.loop_head(s)
    number = f"{parameter(statements, inner)} {c.one(['+', '-', '*'])} {value(statements, inner)}"
    inner.variables.append(Variable(q, REAL))
    places = [entry_of(statements, inner, v) for _ in range(2)]
    s.variables.append(v)
    chosen = [f"{places[0]} {c.one(['=', '=', '+='])} {c.one([f'log({q})', f'sqrt({q})', q])};"]
    if c.chance(0.4):
        chosen += [f"{c.one(places)} = {c.one([f'{q} ^ 2', value(statements, inner)])};"]
    body = [f"if ({q} > 0) {{ {' '.join(chosen)} }}"]
    if c.chance(0.4):
        body[0] += f" else {places[1]} = {c.one(['0.5', f'exp({q})', value(statements, inner)])};"
    if c.chance(0.3):
        inner.variables.append(v)
        body += statements.statement(inner, 0)
    return [f"{v.shape.declared} {v.name} = {first};", *loop(head, f"real {q} = {number};", *body)]


def twice(statements: Any, s: Scope, depth: int) -> Lines:
    """A recurrence that reads a local and sets it again, in loops and branches, by equal expressions."""
    e, c, world = statements.e, statements.c, statements.world
    state, local = Variable(world.fresh("a"), REAL, writable=True), world.fresh("b")
    first = e.make(s, REAL, 1)
    inner, head = statements.loop_head(s)
    start = f"real {local} = {e.make(inner, REAL, 1)};"
    equal = f"sin({local} + {e.make(inner, REAL, 0)})"

    def step() -> Lines:
        change = f"{local} {c.one(['=', '+=', '*='])} {value(statements, inner)};"
        move = f"{state.name} = tanh({state.name} * {e.make(inner, REAL, 0)} + {c.one([equal, local])});"
        both = c.one([[move], [change, move], [move, change], [change]])
        heads = ["", "", f"for ({inner.inner().counter()} in 1:2)", f"if ({test(statements, inner)})"]
        chosen = c.one(heads)
        return loop(chosen, *both) if chosen else both

    body = [line for _ in range(c.between(2, 4)) for line in step()]
    s.variables.append(state)
    return [f"real {state.name} = {first};", *loop(head, start, *body)]


def resized(statements: Any, s: Scope, depth: int) -> Lines:
    """Containers of a size that is set again: before a loop over it, or from one iteration to the next."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    size, m, y = e.some_size(s), world.fresh("b"), world.fresh("y")
    start = f"int {m} = {c.one([size, e.index(s, size)])};"
    inner, head = statements.loop_head(s)
    k = inner.inner().counter()
    filled = f"vector[{m}] {y} = rep_vector({e.make(s, REAL, 1)}, {m});"
    smaller = f"{m} = {c.one(['1', f'min({m}, {e.index(s, size)})'])};"
    entries = f"for ({k} in 1:{m}) {y}[{k}] = {value(statements, inner)} * {k};"
    use = read(f"{y}[{c.one(['1', m])}] * {c.one([f'size({y})', f'sum({y})'])}")
    if c.chance(0.5):
        return [*lines, start, filled, smaller, *loop(head, entries, use)]
    s.indices.setdefault(size, []).append(m)
    again = f"{m} = {e.index(inner, size)};"
    return [
        *lines,
        start,
        *loop(head, *c.one([[filled, entries, use, again], [again, filled, entries, use]])),
    ]


def iterated(statements: Any, s: Scope, depth: int) -> Lines:
    """Each iteration repeats a call of the program's own function of what it changes, as Newton's method."""
    c, world = statements.c, statements.world
    read, lines = reader(statements, s)
    name, x, k = world.fresh("moved"), world.fresh("x"), world.fresh("k")
    body = c.one(
        [
            ["return tanh(y) + 0.5 * z;"],
            ["real u = tanh(y);", "return u + 0.5 * z;"],
            ["if (y > z) return 0.5 * y;", "return tanh(z);"],
        ]
    )
    world.functions += loop(f"real {name}(real y, real z)", *body)
    inner, head = statements.loop_head(s)
    start, other = value(statements, inner), value(statements, inner)
    inner.ints.append(k)
    condition = c.one(["", "", f" && {name}({x}, {other}) < {c.one(['1', '0.7'])}", f" && {x} < 0.9"])
    step = c.one([f"{x} = {name}({x}, {other});", f"{x} += 0.3 * {name}({x}, {k}) - 0.1;"])
    repeated = loop(f"while ({k} < 3{condition})", *c.shuffled([f"{k} += 1;", step]))
    return [*lines, *loop(head, f"real {x} = {start};", f"int {k} = 0;", *repeated, read(x))]


def nested_local(statements: Any, s: Scope, depth: int) -> Lines:
    """A container of the inner one of two loops, set again by a branch on data and one on parameters."""
    e, c = statements.e, statements.c
    read, lines = reader(statements, s)
    (around, head), v = statements.loop_head(s), container(statements, s, "w")
    inner, inner_head = statements.loop_head(around)
    start = f"{v.shape.declared} {v.name} = {e.make(inner, v.shape, 1)};"
    inner.variables.append(v)

    def set_() -> str:
        whole = f"{v.name} = {filled_again(statements, inner, v)};"
        return c.one(
            [whole, f"{entry_of(statements, inner, v)} {c.one(['=', '+='])} {value(statements, inner)};"]
        )

    given = f"{e.whole(inner, INT, 1)} > {c.one(['1', e.whole(inner, INT, 0)])}"
    other = [f" else {set_()}" if c.chance(0.4) else "" for _ in range(2)]
    branches = [f"if ({test(statements, inner)}) {set_()}{other[0]}", f"if ({given}) {set_()}{other[1]}"]
    jump = [f"if ({test(statements, inner)}) {c.one(['break', 'continue'])};"] if c.chance(0.3) else []
    reads = [read(entry_of(statements, inner, v)), read(f"sum({v.name})")]
    body = [start, *c.shuffled([*branches, *jump, reads[0]]), reads[1]]
    return [*lines, *loop(head, *loop(inner_head, *body))]


def carried_row(statements: Any, s: Scope, depth: int) -> Lines:
    """A recurrence of vectors, with a branch: rows or columns of a matrix, entries of an array, a local."""
    e, c, world = statements.e, statements.c, statements.world
    rows, size, i = e.some_size(s), e.some_size(s), s.inner().counter()
    t, at = c.one(
        [
            (matrix(rows, size), "{}[{}]"),
            (matrix(size, rows), "{}[:, {}]"),
            (Shape("vector", (rows, size)), "{}[{}]"),
            (vector(size), "{}"),
        ]
    )
    v, entry = (
        Variable(world.fresh("A"), t, writable=True),
        Shape("row_vector" if t.base == "matrix" and at == "{}[{}]" else "vector", (size,)),
    )
    first, inner = e.make(s, t, 1), s.inner()
    inner.counter()
    inner.indices.setdefault(rows, []).append(i)
    here, before = at.format(v.name, i), at.format(v.name, f"{i} - 1")
    inner.variables += [Variable(before, entry)] * 3
    new = [f"{here} = 0.5 * {before} + tanh({e.make(inner, entry, 1)});" for _ in range(2)]
    other = c.one(["", f" else {new[1]}", f" else {here} = {before};"])
    body = c.one(
        [
            [f"if ({test(statements, inner)}) {new[0]}{other}"],
            [new[0], f"if ({test(statements, inner)}) {new[1]}"],
        ]
    )
    if c.chance(0.4):
        body += statements.statement(inner, 0)
    s.variables.append(v)
    return [f"{t.declared} {v.name} = {first};", *loop(f"for ({i} in 2:{rows})", *body)]


def stopped(statements: Any, s: Scope, depth: int) -> Lines:
    """A loop that goes on or ends on parameters after some entries are set, mostly within another loop."""
    e, c = statements.e, statements.c
    read, lines = reader(statements, s)
    (around, head), v, total = (
        statements.loop_head(s),
        container(statements, s, "w"),
        statements.world.fresh("s"),
    )
    outside = c.chance(0.2)
    first = e.make(s if outside else around, v.shape, 1)
    start = [f"{v.shape.declared} {v.name} = {first};", f"real {total} = 0;"]
    inner, inner_head = statements.loop_head(around)
    inner.variables += [v, Variable(total, REAL)]
    sets = [f"{entry_of(statements, inner, v)} = {value(statements, inner)};" for _ in range(2)]
    jumps = [f"if ({test(statements, inner)}) {c.one(['break', 'continue'])};" for _ in range(2)]
    added = f"{total} += {entry_of(statements, inner, v)};"
    body = [sets[0], jumps[0], *c.shuffled([sets[1], added, *jumps[1:]])[: c.between(1, 3)]]
    made = [*loop(inner_head, *body), read(f"sum({v.name})"), read(total)]
    s.variables += [v] if outside else []
    return [*lines, *start, *loop(head, *made)] if outside else [*lines, *loop(head, *start, *made)]


def states(statements: Any, s: Scope, depth: int) -> Lines:
    """Loops that carry a number of parameters, one of data and an int, with sums of these."""
    e, c, world = statements.e, statements.c, statements.world
    read, lines = reader(statements, s)
    size = e.some_size(s)
    r, of_data, total, n, k = (world.fresh(letter) for letter in ("r", "s", "a", "n", "k"))
    start, (outer, head) = value(statements, s), statements.loop_head(s)
    inner, inner_head = statements.loop_head(outer)
    inner.indices.setdefault(size, []).append(n)
    first = e.index(inner, size)
    inner.indices[size].append(k)
    number = replace(statements, e=replace(e, free=False))
    added = c.one([of_data, of_data, f"{of_data} * {n}", f"{n} * {k}", f"{k} * {value(number, inner)}"])
    steps = [
        f"{r} = 0.5 * {r} + {value(statements, inner)};",
        f"{total} += {added};",
        f"{of_data} = 0.3 * {of_data} + {value(number, inner)};",
        f"{n} = {e.index(inner, size)};",
    ]
    if c.chance(0.4):
        at = c.between(0, 3)
        steps[at] = f"if ({c.one([test(statements, inner), f'{of_data} > 0.2', f'{n} > 1'])}) {steps[at]}"
    body = [f"int {k} = {first};", *c.shuffled(steps)]
    declared = [f"real {r} = {start};", f"real {of_data} = 0.25;", f"real {total} = 0;", f"int {n} = 1;"]
    around = loop(head, *loop(inner_head, *body))
    return [*lines, "{", *(f"  {line}" for line in (*declared, *around, read(f"{r} * {n} + {total}"))), "}"]


REASSIGNED = (
    *((0.5, overlap), (0.4, steps), (0.6, entry_then_whole), (0.4, triangle), (0.4, bound), (0.4, copies)),
    *((0.5, term_then_set), (0.5, under_a_branch), (0.5, twice), (0.4, resized)),
    *((0.4, iterated), (0.6, nested_local), (0.6, carried_row), (0.6, stopped), (0.6, states)),
)
"""Each with its weight among the statements."""
