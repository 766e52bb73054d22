"""Random statements, with a bias to what the compiler's passes rewrite."""

import re
from collections.abc import Callable
from functools import partial

from generator.branches_of_nests import NESTS
from generator.called import CALLED
from generator.densities import density_call, distributed
from generator.expressions import Expressions, after
from generator.parting import IDIOMS
from generator.ragged import RAGGED
from generator.reassigned import REASSIGNED
from generator.shapes import INT, REAL, Scope, Shape, Variable, vector

from ppl.records import dataclass, replace

Lines = list[str]
FOCUSED = (*REASSIGNED, *CALLED, *RAGGED, *NESTS)
"""Idioms that are made alone, too."""


@dataclass
class Statements:
    e: Expressions
    targets: bool = True
    """Whether the target may be added to: the model block, a function ending in _lp."""
    unnormalised: bool = True
    """Whether constants may be dropped, which stanc does not allow in a function ending in _lp."""

    @property
    def c(self):
        return self.e.c

    @property
    def world(self):
        return self.e.world

    # --- Blocks ---

    def block(self, s: Scope, count: int, depth: int) -> Lines:
        out: Lines = []
        known = len(s.variables)
        for _ in range(count):
            out += self.statement(s, depth)
        return out + self.uses(s, known, 0.7)

    def focused(self, s: Scope) -> Lines:
        """Loops around a statement or two, or one idiom of `FOCUSED`."""
        known = len(s.variables)
        total = sum(weight for weight, _ in REASSIGNED)
        idiom = self.c.weighted([(total, lambda _, s, depth: self.sweep(s, depth)), *FOCUSED])
        return idiom(self, s, 0) + self.uses(s, known, 1.0)

    def uses(self, s: Scope, known: int, chance: float) -> Lines:
        """Statements that use the variables after the first `known`."""
        new = [v for v in dict.fromkeys(s.variables[known:]) if v.name.isidentifier()]
        return [line for v in new if self.c.chance(chance) for line in self.use(s, v)]

    def use(self, s: Scope, v: Variable) -> Lines:
        """What is never used is never computed."""
        if not self.targets:
            results = [w for w in s.variables if w.writable and w.shape == v.shape and w.name != v.name]
            return [f"{results[0].name} = {v.name};"] if results else []
        t = v.shape
        if t.base == "int":
            return [f"target += {v.name}{'[1]' if t.sizes else ''};"]
        if t == REAL:
            return [f"target += {v.name};"]
        if t.is_complex:
            parts = f"{self.c.one(['get_real', 'get_imag'])}({v.name})"
            return [f"target += {parts if not t.sizes else f'sum({parts})'};"] if t.dims < 2 else []
        if len(t.sizes) == 1 and self.c.chance(0.5):
            return [f"{v.name} ~ {self.c.one(['std_normal()', f'normal({self.e.make(s, REAL, 1)}, 2)'])};"]
        entry = ", ".join(["1"] * (t.dims if t.base != "real" else t.dims - 1))
        return [f"target += sum({v.name}{f'[{entry}]' if entry else ''});"]

    def nested(self, head: str, s: Scope, depth: int, count: int | None = None) -> Lines:
        body = self.block(s, count or self.c.between(1, 2), depth)
        return [f"{head} {{", *("  " + line for line in body), "}"]

    def statement(self, s: Scope, depth: int) -> Lines:
        writable = [v for v in s.variables if v.writable]
        options: list[tuple[float, Callable[[], Lines]]] = [
            (1.0, lambda: self.local(s)),
            (2.0 if writable else 0.0, lambda: self.assign(s, self.c.one(writable))),
        ]
        if self.targets:
            options += [
                (1.5, lambda: [f"target += {self.e.make(s, self.any_shape(s), self.c.between(1, 2))};"]),
                (4.0, lambda: [distributed(self.e, s, self.c.between(2, 3), self.unnormalised)]),
                (0.5, lambda: [f"target += {density_call(self.e, s, 2, self.unnormalised)};"]),
                (0.1, lambda: ["target += 0.25 * target();"]),
                (1.5 if self.world.densities and not s.closed else 0.0, lambda: self.own(s)),
                (1.0 if self.world.effects and not s.closed else 0.0, lambda: self.effect(s)),
            ]
        if depth > 0:
            options += [
                (5.0 if s.loops < 3 else 0.0, lambda: self.loop(s, depth)),
                (0.8, lambda: self.branch(s, depth)),
                (0.2, lambda: self.nested("", s.inner(), depth - 1)),
                (0.15, lambda: self.nested(f'profile("{self.world.fresh("part")}")', s.inner(), depth - 1)),
                (0.25 if s.loops < 2 else 0.0, lambda: self.each(s, depth)),
                (0.25 if s.loops < 2 else 0.0, lambda: self.while_loop(s, depth)),
            ]
            options += [(w if s.loops < 2 else 0.0, self.bind(idiom, s, depth)) for w, idiom in self.idioms]
        return self.c.weighted(options)()

    def bind(self, idiom: Callable[[Scope, int], Lines], s: Scope, depth: int) -> Callable[[], Lines]:
        return lambda: idiom(s, depth)

    def own(self, s: Scope) -> Lines:
        """A statement of a distribution that the program defines."""
        name, y = self.c.one(self.world.densities), self.e.make(s, vector(self.e.some_size(s)), 1)
        mu = self.e.make(s, REAL, 1)
        return [self.c.one([f"{y} ~ {name}({mu});", f"target += {name}_lpdf({y} | {mu});"])]

    def effect(self, s: Scope) -> Lines:
        v = self.e.make(s, vector(self.e.some_size(s)), 1)
        return [f"{self.c.one(self.world.effects)}({self.e.make(s, REAL, 1)}, {v});"]

    def any_shape(self, s: Scope) -> Shape:
        size = self.e.some_size(s)
        return self.c.one(
            [
                REAL,
                REAL,
                REAL,
                Shape("vector", (size,)),
                Shape("row_vector", (size,)),
                Shape("matrix", (size, self.e.some_size(s))),
            ]
        )

    # --- Locals ---

    def local(self, s: Scope, t: Shape | None = None) -> Lines:
        if t is None and self.c.chance(0.12):
            return self.c.one([self.pair, self.positions])(s)
        t = t or self.local_shape(s)
        name = self.world.fresh("l") if self.c.chance(0.8) else self.again(s)
        variable = Variable(name, t, writable=True)
        value = self.e.make(s, t, 2)
        s.variables.append(variable)
        if self.c.chance(0.8):
            return [f"{t.declared} {name} = {value};"]
        return [f"{t.declared} {name};", f"{name} = {value};"]

    def pair(self, s: Scope) -> Lines:
        """A tuple."""
        name, second = self.world.fresh("t"), self.local_shape(s)
        first, other = self.e.make(s, REAL, 1), self.e.make(s, second, 1)
        for number, t in enumerate((REAL, second), 1):
            s.variables.append(Variable(f"{name}.{number}", t, writable=self.c.chance(0.5)))
        return [f"tuple(real, {second.declared}) {name} = ({first}, {other});"]

    def positions(self, s: Scope) -> Lines:
        """Ints within a size, computed."""
        size, count = self.e.some_size(s), self.e.some_size(s)
        name, inner = self.world.fresh("n"), s.inner()
        i = inner.counter()
        inner.indices.setdefault(count, []).append(i)
        value = self.e.index(inner, size)
        s.variables.append(Variable(name, Shape("int", (count,)), f"index:{size}"))
        return [f"array[{count}] int {name};", f"for ({i} in 1:{count}) {name}[{i}] = {value};"]

    def again(self, s: Scope) -> str:
        """A name that a sibling block may have used."""
        taken = {v.name for v in s.variables}
        name = self.c.one(["la", "lb"])
        return self.world.fresh("l") if name in taken else name

    def local_shape(self, s: Scope) -> Shape:
        a, b = self.e.some_size(s), self.e.some_size(s)
        return self.c.weighted(
            [
                (2.0, REAL),
                (3.0, Shape("vector", (a,))),
                (1.0, Shape("row_vector", (a,))),
                (1.5, Shape("matrix", (a, b))),
                (1.5, Shape("real", (a,))),
                (0.5, Shape("real", (a, b))),
                (0.7, Shape("vector", (a, b))),
                (0.3, Shape("matrix", (a, b, self.e.some_size(s)))),
                (0.9, Shape("complex")),
                (0.5, Shape("complex_vector", (a,))),
                (0.3, Shape("complex", (a,))),
                (0.3, Shape("complex_matrix", (a, b))),
            ]
        )

    def assign(self, s: Scope, v: Variable) -> Lines:
        """To the whole, an entry, a row, a column, a range or entries picked by an array of ints."""
        if v.shape.base == "int":
            return [f"{v.name} += {self.c.between(1, 2)};"]
        places = [pair for pair in self.e.reads(s, v) if pair[0].base != "int"]
        t, named = self.c.one(places[1:] if len(places) > 1 and self.c.chance(0.8) else places)
        place = named()
        if self.c.chance(0.35) and t.dims == 0:
            op = self.c.one(["+=", "-=", "+="])
            right = t if self.c.chance(0.7) or t == REAL or t.is_complex else REAL
            return [f"{place} {op} {self.e.make(s, right, 2)};"]
        if self.c.chance(0.1) and t.dims == 0:
            return [f"{place} *= {self.e.suited(s, REAL, 'half_unit', 1)};"]
        return [f"{place} = {self.e.make(s, t, 2)};"]

    # --- Loops and branches ---

    def loop(self, s: Scope, depth: int) -> Lines:
        inner, head = self.loop_head(s)
        return self.nested(head, inner, depth - 1)

    def loop_head(self, s: Scope, size: str | None = None) -> tuple[Scope, str]:
        """The scope of a loop's body, and its head."""
        c, size = self.c, size or self.e.some_size(s)
        inner = s.inner()
        i = inner.counter()
        known = s.indices.get(size, [])
        inner.indices.setdefault(size, []).append(i)
        lower, upper = "1", size
        match c.weighted(
            [
                (6.0, "all"),
                (1.5, "from two"),
                (0.8, "to the last"),
                (0.8, "triangle"),
                (0.8, "ragged"),
                (0.3, "up to"),
                (0.2, "never"),
            ]
        ):
            case "from two":
                lower = "2"
                inner.indices[size].append(f"({i} - 1)")
            case "to the last":
                upper = f"{size} - 1"
                inner.indices[size].append(f"({i} + 1)")
            case "triangle" if known:
                lower, upper = c.one(
                    [(c.one(known), size), ("1", c.one(known)), (f"({c.one(known)} + 1)", size)]
                )
            case "ragged" if known and not s.closed:
                outer = [
                    (n, k)
                    for n, ks in s.indices.items()
                    for k in ks
                    if k.isidentifier() and n in self.world.sizes
                ]
                if outer:
                    n, k = c.one(outer)
                    upper = f"{self.world.datum(Shape('int', (n,)), f'index:{size}').name}[{k}]"
            case "up to" if not s.closed:
                upper = self.world.datum(Shape("int", ()), f"index:{size}").name
            case "never":
                upper = f"{size} - 6"
        around = [(n, k) for n, ks in s.indices.items() for k in ks if k in s.counters]
        if around and c.chance(0.2):
            outer, k = c.one(around)
            inner.indices.setdefault(f"{outer} + {size}", []).append(f"({k} + {i})")
        return inner, f"for ({i} in {lower}:{upper})"

    def each(self, s: Scope, depth: int) -> Lines:
        candidates = [
            v
            for v in (*s.variables, *self.world.data)
            if v.shape.dims > 0 or v.shape.base in ("vector", "matrix")
        ]
        if not candidates or s.closed:
            return self.loop(s, depth)
        v, inner = self.c.one(candidates), s.inner()
        name, inner.loops = self.world.fresh("e"), s.loops + 1
        if v.shape.base in ("vector", "matrix", "row_vector") and v.shape.dims == 0:
            entry = REAL
        else:
            entry = Shape(v.shape.base, v.shape.sizes[1:])
        inner.variables.append(Variable(name, entry, v.support))
        return self.nested(f"for ({name} in {v.name})", inner, depth - 1)

    def while_loop(self, s: Scope, depth: int) -> Lines:
        name, inner = self.world.fresh("w"), s.inner()
        inner.loops = s.loops + 1
        size = self.e.some_size(s)
        inner.indices.setdefault(size, []).append(name)
        jump = (
            [f"  if ({self.e.condition(inner)}) {self.c.one(['break', 'continue'])};"]
            if self.c.chance(0.4)
            else []
        )
        body = self.nested(f"while ({name} < {size})", inner, depth - 1)
        return [f"int {name} = 0;", body[0], f"  {name} += 1;", *jump, *body[1:]]

    def branch(self, s: Scope, depth: int) -> Lines:
        lines = self.nested(f"if ({self.e.condition(s)})", s.inner(), depth - 1, 1)
        if s.loops and self.c.chance(0.15):
            return [lines[0], f"  {self.c.one(['break', 'continue'])};", "}"]
        if self.c.chance(0.5):
            other = self.nested("else", s.inner(), depth - 1, 1)
            lines = [*lines[:-1], f"}} {other[0]}", *other[1:]]
        return lines

    # --- What passes look for ---

    @property
    def idioms(self) -> list[tuple[float, Callable[[Scope, int], Lines]]]:
        return [
            (2.5, self.sweep),
            (0.7, self.fill),
            (0.7, self.recurrence),
            (0.6, self.sum_up),
            (0.5, self.scratch),
            (0.4, self.counter),
            (0.4, self.pairs),
            (0.6, self.segments),
            *((weight, partial(idiom, self)) for weight, idiom in (*IDIOMS, *FOCUSED)),
        ]

    def sweep(self, s: Scope, depth: int) -> Lines:
        """Loops in loops around a density or a term."""
        inner, head = self.loop_head(s)
        heads = [head]
        while inner.loops < 3 and self.c.chance(0.8 if len(heads) == 1 else 0.3):
            inner, head = self.loop_head(inner)
            heads.append(head)
        body = self.block(inner, self.c.between(1, 2), 0)
        for head in reversed(heads):
            body = [f"{head} {{", *("  " + line for line in body), "}"]
        return body

    def fill(self, s: Scope, depth: int) -> Lines:
        """A container filled entry by entry."""
        size = self.e.some_size(s)
        other = self.e.some_size(s)
        t = self.c.one(
            [
                Shape("vector", (size,)),
                Shape("real", (size,)),
                Shape("vector", (size, other)),
                Shape("matrix", (size, other)),
                Shape("row_vector", (size,)),
                *self.c.one([[], [Shape("complex_vector", (size,)), Shape("complex", (size,))]]),
            ]
        )
        variable = Variable(self.world.fresh("f"), t, writable=True)
        inner, _ = self.loop_head(s, size)
        i = next(k for k in reversed(inner.indices[size]) if k.isidentifier())
        inner.indices[size] = [i]
        entry = after(t, 1)
        body = [
            *(self.statement(inner, 0) if self.c.chance(0.2) else []),
            f"{variable.name}[{i}] = {self.e.make(inner, entry, 2)};",
        ]
        s.variables.append(variable)
        return [f"{t.declared} {variable.name};", f"for ({i} in 1:{size}) {{", *("  " + b for b in body), "}"]

    def segments(self, s: Scope, depth: int) -> Lines:
        """Entries from a[i] to b[i] of a vector, none where these cross, read or set."""
        if s.closed:
            return self.fill(s, depth)
        size, count = self.world.size(), self.c.one(list(self.world.sizes))
        source, set_ = (
            Variable(self.world.fresh("g"), vector(size)),
            Variable(self.world.fresh("g"), vector(size)),
        )
        first = [f"vector[{size}] {v.name} = {self.e.make(s, v.shape, 1)};" for v in (source, set_)]
        inner, _ = self.loop_head(s, count)
        i = next(k for k in reversed(inner.indices[count]) if k.isidentifier())
        inner.indices[count] = [i]
        ends = (self.world.datum(Shape("int", (count,)), f"index:{size}", 0.3).name for _ in range(2))
        part = ":".join(f"{end}[{i}]" for end in ends)
        body = [f"{set_.name}[{part}] = {source.name}[{part}] * {self.e.make(inner, REAL, 1)};"]
        if self.targets and self.c.chance(0.6):
            reads = f"target += sum({source.name}[{part}]) * {self.e.make(inner, REAL, 1)};"
            body = self.c.one(
                [[reads], [reads, *body], [*body, re.sub(rf"\b{source.name}\b", set_.name, reads)]]
            )
        if self.c.chance(0.2):
            body = [f"if ({self.e.condition(inner)}) {{", *body, "}"]
        s.variables += [replace(v, writable=True) for v in (source, set_)]
        return [*first, f"for ({i} in 1:{count}) {{", *("  " + b for b in body), "}"]

    def recurrence(self, s: Scope, depth: int) -> Lines:
        """x[t] from x[t - 1]."""
        size = self.e.some_size(s)
        variable = Variable(
            self.world.fresh("r"),
            self.c.one([Shape("vector", (size,)), Shape("real", (size,))]),
            writable=True,
        )
        inner = s.inner()
        t = inner.counter()
        inner.indices.setdefault(size, []).append(t)
        before = Variable(f"{variable.name}[{t} - 1]", REAL)
        inner.variables += [before, before]
        start = f"{variable.name}[1] = {self.e.make(s, REAL, 1)};"
        factor, rest = self.e.suited(inner, REAL, "half_unit", 0), self.e.make(inner, REAL, 2)
        step = f"{variable.name}[{t}] = {factor} * {before.name} + {rest};"
        more = self.statement(inner, 0) if self.c.chance(0.3) else []
        s.variables.append(variable)
        return [
            f"{variable.shape.declared} {variable.name};",
            start,
            f"for ({t} in 2:{size}) {{",
            *("  " + b for b in (step, *more)),
            "}",
        ]

    def sum_up(self, s: Scope, depth: int) -> Lines:
        """An accumulator."""
        t = self.c.one([REAL, REAL, Shape("vector", (self.e.some_size(s),)), Shape("complex")])
        variable = Variable(self.world.fresh("s"), t)
        first = self.e.make(s, t, 0)
        inner, head = self.loop_head(s)
        body = [f"{variable.name} += {self.e.make(inner, t if self.c.chance(0.7) else REAL, 2)};"]
        if self.c.chance(0.3):
            body = [f"if ({self.e.condition(inner)})", f"  {body[0]}"]
        if self.c.chance(0.3):
            inner.variables.append(variable)
            body += self.statement(inner, 0)
        s.variables.append(variable)
        return [f"{t.declared} {variable.name} = {first};", f"{head} {{", *("  " + b for b in body), "}"]

    def scratch(self, s: Scope, depth: int) -> Lines:
        """A local declared outside the loop, filled anew in every iteration and used there."""
        size = self.e.some_size(s)
        v = Variable(self.world.fresh("a"), self.c.one([Shape("vector", (size,)), Shape("real", (size,))]))
        outer, head = self.loop_head(s)
        inner = outer.inner()
        j = inner.counter()
        inner.indices.setdefault(size, []).append(j)
        entry = f"{v.name}[{j}] = {self.e.make(inner, REAL, 2)};"
        outer.variables += [v, v]
        use = [f"target += log_sum_exp({v.name});"] if self.targets else []
        use += self.block(outer, self.c.between(1 - len(use), 1), 0)
        if not self.targets or self.c.chance(0.3):
            s.variables.append(v)
        start = f" = {self.e.make(s, v.shape, 0)}" if self.c.chance(0.3) and v not in s.variables else ""
        body = [f"for ({j} in 1:{size}) {entry}", *use]
        return [f"{v.shape.declared} {v.name}{start};", f"{head} {{", *("  " + b for b in body), "}"]

    def counter(self, s: Scope, depth: int) -> Lines:
        """A position that goes on with the loop."""
        size = self.e.some_size(s)
        name = self.world.fresh("c")
        inner = s.inner()
        i = inner.counter()
        inner.indices.setdefault(size, []).extend([i, name])
        inner.ints.append(name)
        step = f"{name} += 1;"
        if self.c.chance(0.3):
            step = f"if ({self.e.condition(inner)}) {step}"
        body = self.block(inner, self.c.between(1, 2), 0)
        s.ints.append(name)
        return [f"int {name} = 1;", f"for ({i} in 1:{size}) {{", *("  " + b for b in body), f"  {step}", "}"]

    def pairs(self, s: Scope, depth: int) -> Lines:
        """A symmetric matrix, filled by pairs."""
        size = self.e.some_size(s)
        v = Variable(self.world.fresh("m"), Shape("matrix", (size, size)), writable=True)
        inner = s.inner()
        i, j = inner.counter(), inner.counter()
        inner.indices.setdefault(size, []).extend([i, j])
        diagonal = s.inner()
        diagonal.indices.setdefault(size, []).append(i)
        entry, own = self.e.make(inner, REAL, 2), self.e.make(diagonal, REAL, 1)
        s.variables.append(v)
        return [
            f"{v.shape.declared} {v.name};",
            f"for ({i} in 1:{size}) {{",
            f"  {v.name}[{i}, {i}] = {own};",
            f"  for ({j} in ({i} + 1):{size}) {{",
            f"    {v.name}[{i}, {j}] = {entry};",
            f"    {v.name}[{j}, {i}] = {v.name}[{i}, {j}];",
            "  }",
            "}",
        ]


__all__ = ["INT", "Statements"]
