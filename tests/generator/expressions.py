"""Random expressions of a given type and size."""

from collections.abc import Callable, Iterator

from generator.arguments import ARGUMENTS, LEFT_OUT
from generator.complex_numbers import OF_COMPLEX, Complexes
from generator.shapes import CORE, INT, REAL, Scope, Shape, Variable, matrix, row_vector, vector
from generator.world import World

from ppl.records import dataclass, field, replace
from ppl.stdlib.functions.table import FUNCTIONS
from ppl.stdlib.record import Function
from ppl.stdlib.signatures import Pattern, parse_signature, split_commas
from ppl.types import Type


def of_reals(f: Function) -> Function:
    """With the overloads that have no complex numbers."""
    return replace(f, overloads=tuple(o for o in f.overloads if not OF_COMPLEX.search(o.signature)))


CALLABLE = [
    of_reals(f)
    for f in FUNCTIONS
    if f.name not in LEFT_OUT and "_jacobian" not in f.name and of_reals(f).overloads
]
ELEMENTWISE = [
    f.name for f in CALLABLE if f.overloads[0].signature in ("(T) => T", "(T, T) => T", "(T, T, T) => T")
]
WIDE = [n for n in ELEMENTWISE if ARGUMENTS.get(n) in (("any",), ("any", "any"), ("any", "any", "any"))]

Options = list[tuple[float, Callable[[], str]]]
"""Ways to go on, each with a weight."""
Make = Callable[[Shape], str]


@dataclass
class Expressions:
    """Makes expressions in a scope; `free` says that parameters may be read."""

    world: World
    free: bool = True
    user: dict[str, tuple[tuple[Shape, ...], Shape]] = field(default_factory=dict)
    """Functions of the program: their arguments and what they return."""

    @property
    def c(self):
        return self.world.choices

    # --- Any type ---

    def make(self, s: Scope, t: Shape, depth: int) -> str:
        if t.base == "int":
            return self.whole(s, t, depth)
        if t.is_complex:
            return Complexes(self).make(s, t, depth)
        if depth <= 0 or self.c.chance(0.1):
            return self.leaf(s, t)
        options: Options = [
            (1.0, lambda: self.leaf(s, t)),
            (1.0, lambda: self.elementwise(s, t, depth)),
            (0.3, lambda: self.ternary(s, t, depth)),
            (0.5, lambda: self.called(s, t, depth)),
        ]
        if t.dims == 0:
            options.append((4.0, lambda: self.arithmetic(s, t, depth)))
            options.append((2.0, lambda: self.special(s, t, depth)))
        return self.c.weighted(options)()

    # --- Leaves ---

    def leaf(self, s: Scope, t: Shape, support: str = "real") -> str:
        found = [
            text for v in s.variables for shape, text in self.reads(s, v) if shape == t and fits(v, support)
        ]
        if found and self.c.chance(0.75):
            return self.c.one(found)()
        if s.closed:
            return self.c.one(found)() if found else self.literal(s, t, support)
        if t == REAL and support == "real" and self.c.chance(0.15):
            return self.literal(s, t, support)
        if self.free and self.c.chance(0.6):
            wider = self.widened(t)
            variable = self.world.parameter(wider, support if wider.base == t.base else "real")
            if variable is not None:
                return self.read_as(s, variable, t)
        wider = self.widened(t)  # rows of a matrix are no simplexes
        wider = wider if wider.base == t.base or support in ELEMENTS else t
        return self.read_as(s, self.world.datum(wider, support), t)

    def of_iteration(self, s: Scope, t: Shape, support: str, size: str) -> str:
        """The entry of a variable that belongs to an iteration of a loop."""
        options = [Shape(t.base, (size, *t.sizes))]
        if t == REAL:
            options += [vector(size), vector(size), matrix(size, self.c.one(list(s.indices)))]
        if t.base == "row_vector" and t.dims == 0:
            options.append(matrix(size, t.sizes[0]))
        wider = self.c.one(options)
        local = [v for v in s.variables if v.shape == wider and fits(v, support)]
        if local and self.c.chance(0.4):
            return self.read_as(s, self.c.one(local), t)
        known = support if wider.base != "matrix" or support in ELEMENTS else "real"
        variable = self.world.parameter(wider, known) if self.free and self.c.chance(0.6) else None
        return self.read_as(s, variable or self.world.datum(wider, known), t)

    def widened(self, t: Shape) -> Shape:
        """A container of it, sometimes."""
        if not self.c.chance(0.35) or len(t.sizes) > 2:
            return t
        size = self.world.size()
        options = [Shape(t.base, (size, *t.sizes))]
        if t == REAL:
            options += [
                Shape("vector", (size,)),
                Shape("row_vector", (size,)),
                Shape("matrix", (size, self.world.size())),
            ]
        if t.base == "row_vector" and t.dims == 0:
            options.append(Shape("matrix", (size, *t.sizes)))
        return self.c.one(options)

    def read_as(self, s: Scope, v: Variable, t: Shape) -> str:
        return self.c.one([text for shape, text in self.reads(s, v) if shape == t])()

    def reads(self, s: Scope, v: Variable) -> Iterator[tuple[Shape, Callable[[], str]]]:
        """What can be had of a variable by indexing it."""
        yield v.shape, lambda: v.name
        sizes, base = v.shape.sizes, v.shape.base
        for n in range(1, len(sizes) + 1):
            yield (
                after(v.shape, n),
                lambda n=n: f"{v.name}[{', '.join(self.index(s, size) for size in sizes[:n])}]",
            )
        if base == "matrix" and v.shape.dims == 0:
            column = lambda: f"{v.name}[{self.c.one(['', ':'])}, {self.index(s, sizes[1])}]"  # noqa: E731
            yield Shape("vector", sizes[:1]), column
        if sizes and not s.closed and self.c.chance(0.3):
            size = self.world.size()
            yield Shape(base, (size, *sizes[1:])), lambda: f"{v.name}[{self.several(s, sizes[0], size)}]"
            if len(sizes) > 1 and self.c.chance(0.5):
                other = self.world.size()
                shape = Shape(base, (size, other, *sizes[2:]))
                yield (
                    shape,
                    lambda: (
                        f"{v.name}[{self.several(s, sizes[0], size)}, {self.several(s, sizes[1], other)}]"
                    ),
                )

    def several(self, s: Scope, size: str, count: str) -> str:
        """`count` indices within 1..size."""
        if self.world.value_of(count) <= self.world.value_of(size) and self.c.chance(0.4):
            return f"1:{count}"
        return self.positions(s, size, count)

    def positions(self, s: Scope, size: str, count: str) -> str:
        """An array of ints within 1..size."""
        shape = Shape("int", (count,))
        local = [v.name for v in s.variables if v.shape == shape and v.support == f"index:{size}"]
        if local and self.c.chance(0.6):
            return self.c.one(local)
        return self.world.datum(shape, f"index:{size}").name

    def index(self, s: Scope, size: str, depth: int = 1) -> str:
        """An int within 1..size."""
        known = s.indices.get(size, [])
        if known and self.c.chance(0.7):
            i = self.c.one(known)
            options: Options = [
                (5.0, lambda: i),
                (0.8, lambda: f"{size} - {i} + 1"),
                (0.4, lambda: f"{i} % {size} + 1"),
            ]
        else:
            options = [
                (1.0, lambda: "1"),
                (1.0, lambda: size),
                (0.0 if s.closed else 0.3, lambda: str(self.c.between(1, max(1, self.world.value_of(size))))),
            ]
        if depth and not s.closed:

            def gathered() -> str:
                inner = self.world.size()
                return f"{self.positions(s, size, inner)}[{self.index(s, inner, depth - 1)}]"

            options.append((1.0, gathered))
        return self.c.weighted(options)()

    def literal(self, s: Scope, t: Shape, support: str = "real") -> str:
        positive = support in ("positive", "nonnegative")
        number = (
            "0.5" if support in ("unit_interval", "open_unit") else self.c.one(["0.5", "1.5", "2", "0.25"])
        )
        if not positive and support == "real" and self.c.chance(0.3):
            number = f"(-{number})"
        return filled(t, number)

    # --- Operators and functions ---

    def arithmetic(self, s: Scope, t: Shape, depth: int) -> str:
        d = depth - 1
        same, real = lambda: self.make(s, t, d), lambda: self.make(s, REAL, d)
        options: Options = [
            (2.0, lambda: f"({same()} + {same()})"),
            (1.5, lambda: f"({same()} - {same()})"),
            (1.0, lambda: f"{real()} * {tight(same())}"),
            (0.4, lambda: f"(-{tight(same())})"),
            (0.6, lambda: f"{tight(same())} / {tight(self.suited(s, REAL, 'positive', d))}"),
        ]
        if any(s.indices.values()) and not s.closed:
            options.append((3.0, lambda: self.of_loops(s, t)))
        if t.base != "real":
            options += [
                (3.0, lambda: f"({same()} + {real()})"),
                (2.0, lambda: f"({real()} - {same()})"),
                (1.0, lambda: f"{tight(same())} .* {tight(same())}"),
                (0.5, lambda: f"{tight(same())} ./ {tight(self.suited(s, t, 'positive', d))}"),
            ]
        return parens(self.c.weighted(options)())

    def of_loops(self, s: Scope, t: Shape) -> str:
        """Scalars of the loops around, in one expression with each other and with a container."""
        looped = [size for size, known in s.indices.items() if known]
        one, other = (self.of_iteration(s, REAL, "real", self.c.one(looped)) for _ in range(2))
        pair = self.c.one(
            [
                f"log_sum_exp({one}, {other})",
                f"({one} + {other})",
                f"({one} * {other})",
                one,
                f"fmax({one}, {other})",
            ]
        )
        if t == REAL:
            return pair
        return f"({self.leaf(s, t)} {self.c.one(['+', '-'])} {pair})"

    def special(self, s: Scope, t: Shape, depth: int) -> str:
        """Functions of one type in particular."""
        size = self.some_size(s)

        def m(shape: Shape) -> str:
            return self.make(s, shape, depth - 1)

        def k(shape: Shape) -> str:
            return tight(m(shape))

        options = {"real": self.reals, "vector": self.vectors, "row_vector": self.row_vectors}
        made = options.get(t.base, self.matrices)(s, t, size, m, k)
        made += self.written_out(t, m)
        if t.base == "real":
            made.append((1.5, lambda: self.from_table(s, depth - 1)))
            known = any(v.shape.is_complex for v in s.variables)
            made.append((3.0 if known else 0.7, lambda: Complexes(self).real(s, depth - 1)))
        return parens(self.c.weighted(made)())

    def reals(self, s: Scope, t: Shape, size: str, m: Make, k: Make) -> Options:
        v, r = vector(size), row_vector(size)
        reductions = ["sum", "mean", "log_sum_exp", "norm2", "dot_self", "max"]
        options: Options = [
            (1.0, lambda: f"{k(r)} * {k(v)}"),
            (1.0, lambda: f"{self.c.one(reductions)}({m(v)})"),
            (0.5, lambda: f"dot_product({m(v)}, {m(self.c.one([v, r]))})"),
            (0.5, lambda: f"sum({m(matrix(size, self.some_size(s)))})"),
            (0.5, lambda: m(INT)),
            (0.5, lambda: f"log_sum_exp({m(REAL)}, {m(REAL)})"),
            (0.4, lambda: f"log_mix({self.suited(s, REAL, 'unit', 0)}, {m(REAL)}, {m(REAL)})"),
            (0.4, lambda: f"{k(v)}[{self.index(s, size)}]"),
            (0.3, lambda: f"sum({m(Shape('real', (size,)))})"),
        ]
        if not s.closed and self.world.value_of(size) > 1:
            options.append((0.4, lambda: f"sum({k(v)}[2:{size}] .* {k(v)}[1:({size} - 1)])"))
        return options

    def vectors(self, s: Scope, t: Shape, size: str, m: Make, k: Make) -> Options:
        (n,) = t.sizes
        return [
            (1.0, lambda: f"{k(row_vector(n))}'"),
            (1.5, lambda: f"{k(matrix(n, size))} * {k(vector(size))}"),
            (0.5, lambda: f"cumulative_sum({m(t)})"),
            (0.5, lambda: f"{self.c.one(['softmax', 'log_softmax', 'reverse', 'sort_asc'])}({m(t)})"),
            (0.7, lambda: f"rep_vector({m(REAL)}, {n})"),
            (0.7, lambda: f"to_vector({m(Shape('real', t.sizes))})"),
            (0.3, lambda: f"to_vector({m(row_vector(n))})"),
            (0.3, lambda: f"append_row({m(REAL)}, {k(t)}[2:])"),
            (0.3, lambda: f"diagonal({m(matrix(n, n))})"),
            (0.3, lambda: f"linspaced_vector({n}, 0, 1)"),
        ]

    def written_out(self, t: Shape, m: Make) -> Options:
        """`[a, b]`, where the size is a number."""
        if t.base not in ("vector", "row_vector") or not t.sizes[0].isdigit():
            return []
        entries = lambda: ", ".join(m(REAL) for _ in range(int(t.sizes[0])))  # noqa: E731
        return [(2.0, lambda: f"[{entries()}]{chr(39) if t.base == 'vector' else ''}")]

    def row_vectors(self, s: Scope, t: Shape, size: str, m: Make, k: Make) -> Options:
        (n,) = t.sizes
        return [
            (1.0, lambda: f"{k(vector(n))}'"),
            (1.0, lambda: f"{k(row_vector(size))} * {k(matrix(size, n))}"),
            (0.5, lambda: f"rep_row_vector({m(REAL)}, {n})"),
            (0.3, lambda: f"columns_dot_self({m(matrix(size, n))})"),
            (0.3, lambda: f"cumulative_sum({m(t)})"),
        ]

    def matrices(self, s: Scope, t: Shape, size: str, m: Make, k: Make) -> Options:
        rows, cols = t.sizes
        return [
            (1.0, lambda: f"{k(matrix(cols, rows))}'"),
            (1.0, lambda: f"{k(vector(rows))} * {k(row_vector(cols))}"),
            (1.0, lambda: f"{k(matrix(rows, size))} * {k(matrix(size, cols))}"),
            (0.4, lambda: f"to_matrix({m(Shape('real', (rows, cols)))})"),
            (0.6, lambda: f"rep_matrix({m(REAL)}, {rows}, {cols})"),
            (0.6, lambda: f"rep_matrix({m(row_vector(cols))}, {rows})"),
            (0.6, lambda: f"diag_pre_multiply({m(vector(rows))}, {m(t)})"),
        ]

    def some_size(self, s: Scope) -> str:
        return self.world.size() if not s.closed else (list(s.indices) or ["2"])[0]

    def elementwise(self, s: Scope, t: Shape, depth: int) -> str:
        name = self.c.one(WIDE if self.c.chance(0.5) else ELEMENTWISE)
        record = next(f for f in CALLABLE if f.name == name)
        words = ARGUMENTS.get(name, ())
        count = len(parse_signature(record.overloads[0].signature).args)
        wide = self.c.between(0, count - 1)
        args = [
            # a scalar goes with a container
            self.suited(
                s,
                t if i == wide or self.c.chance(0.5) else REAL,
                words[i] if i < len(words) else "unit",
                depth - 1,
            )
            for i in range(count)
        ]
        return f"{name}({', '.join(args)})"

    def ternary(self, s: Scope, t: Shape, depth: int) -> str:
        return f"({self.condition(s)} ? {self.make(s, t, depth - 1)} : {self.make(s, t, depth - 1)})"

    def condition(self, s: Scope, depth: int = 1) -> str:
        """On data, or on parameters."""
        whole = lambda: self.whole(s, INT, 0)  # noqa: E731
        signs = ["==", ">", "<", "<=", "!="]
        options: Options = [
            (2.0, lambda: f"{whole()} {self.c.one(signs)} {self.c.one(['1', '2', whole()])}"),
            (1.0, lambda: f"{self.leaf(s, REAL)} {self.c.one(['>', '<'])} {self.leaf(s, REAL)}"),
        ]
        if depth:
            pair = lambda: f"{self.condition(s, 0)} {self.c.one(['&&', '||'])} {self.condition(s, 0)}"  # noqa: E731
            options += [(0.4, lambda: f"({pair()})"), (0.2, lambda: f"!({self.condition(s, 0)})")]
        return self.c.weighted(options)()

    def called(self, s: Scope, t: Shape, depth: int) -> str:
        """A call of a function of the program, where one returns the type."""
        fitting = [n for n, (_, returns) in self.user.items() if matches(returns, t)]
        if not fitting:
            return self.leaf(s, t)
        name = self.c.one(fitting)
        args, returns = self.user[name]
        bound = dict(zip(returns.sizes, t.sizes, strict=True))
        for size in {size for a in args for size in a.sizes}:
            bound.setdefault(size, self.some_size(s))
        return f"{name}({', '.join(self.make(s, sized(a, bound), min(depth - 1, 1)) for a in args)})"

    # --- Ints ---

    def whole(self, s: Scope, t: Shape, depth: int) -> str:
        """An int, or ints."""
        if t.sizes:
            known = [v.name for v in s.variables if v.shape == t]
            if known and (s.closed or self.c.chance(0.5)):
                return self.c.one(known)
            return self.world.datum(t, self.c.one(["count", "binary"])).name
        loops = [i for known in s.indices.values() for i in known] + s.ints
        options: Options = [(1.0, lambda: str(self.c.between(1, 3)))]
        if loops:
            options.append((3.0, lambda: self.c.one(loops)))
        if not s.closed:
            options += [(1.0, self.world.size), (2.0, lambda: self.count(s))]
        if depth > 0:
            inner = lambda: self.whole(s, t, depth - 1)  # noqa: E731
            options += [
                (1.0, lambda: f"({inner()} {self.c.one(['+', '-', '*'])} {inner()})"),
                (0.3, lambda: f"({inner()} {self.c.one(['%/%', '%'])} {self.c.between(2, 3)})"),
            ]
        return self.c.weighted(options)()

    def count(self, s: Scope) -> str:
        """An entry of an array of ints."""
        array = Shape("int", (self.world.size(),))
        return self.read_as(s, self.world.datum(array, self.c.one(["binary", "count"])), INT)

    # --- The standard library ---

    def suited(self, s: Scope, t: Shape, word: str, depth: int) -> str:
        """An expression whose every entry lies where the word says."""
        if word in SQUARES and t.base == "matrix":
            return self.structured(s, t, word, depth)
        if t.dims and word in SHIFTED:  # arrays have no operators
            return filled(t, SHIFTED[word])
        make = lambda: self.make(s, t, depth)  # noqa: E731
        leaf = lambda support: self.leaf(s, t, support)  # noqa: E731
        match word:
            case "any" | "real":
                return make()
            case "data":
                return self.literal(s, t)
            case "positive" | "nonnegative":
                return self.c.weighted(
                    [
                        (2.0, lambda: leaf("positive")),
                        (1.0, lambda: f"log1p_exp({make()})"),
                        (0.5, lambda: f"exp({self.suited(s, t, 'half_unit', depth - 1)})"),
                        (
                            0.0 if t.dims else 0.5,
                            lambda: f"(0.5 + square({self.suited(s, t, 'bounded', depth - 1)}))",
                        ),
                    ]
                )()
            case "unit" | "unit_interval" | "open_unit":
                return self.c.weighted(
                    [
                        (2.0, lambda: leaf("unit_interval")),
                        (1.0, lambda: f"inv_logit({self.suited(s, t, 'bounded', depth - 1)})"),
                    ]
                )()
            case "bounded" | "angle":
                return (
                    self.c.weighted([(1.0, lambda: self.leaf(s, t)), (1.0, lambda: f"tanh({make()})")])()
                    if word == "bounded"
                    else f"(2 * tanh({make()}))"
                )
            case "half_unit":
                return f"(0.5 * tanh({make()}))"
            case "-unit" | "negative":
                return (
                    f"(-{self.suited(s, t, 'unit', depth)})"
                    if word == "-unit"
                    else f"(-0.1 - {self.suited(s, t, 'unit', depth)})"
                )
            case "-0.3 unit":
                return f"(-0.1 - 0.2 * {self.suited(s, t, 'unit', depth)})"
            case "above_one":
                return f"(1.2 + {self.suited(s, t, 'unit', depth)})"
            case "above_five":
                return f"(5.2 + {self.suited(s, t, 'unit', depth)})"
            case "one" | "two" | "five":
                return number_of(t, {"one": "1", "two": "2", "five": "5"}[word])
            case "simplex":
                if t.dims or t.base != "vector":  # softmax takes one vector
                    return leaf("simplex")
                return self.c.weighted(
                    [(1.0, lambda: leaf("simplex")), (1.0, lambda: f"softmax({make()})")]
                )()
            case "ordered":
                return self.c.weighted(
                    [
                        (1.0, lambda: leaf("ordered")),
                        (
                            1.0,
                            lambda: (
                                f"cumulative_sum(log1p_exp({make()}))" if t.dims == 0 else leaf("ordered")
                            ),
                        ),
                    ]
                )()
            case "stochastic":
                row = f"softmax({self.make(s, vector(t.sizes[0]), depth - 1)})'"
                return f"rep_matrix({row}, {t.sizes[0]})"
            case "binary" | "count":
                return self.world.datum(t, word).name if not s.closed else number_of(t, "1")
        raise AssertionError(word)

    def structured(self, s: Scope, t: Shape, word: str, depth: int) -> str:
        """A square matrix: positive definite, a correlation or a Cholesky factor."""
        a, b = t.sizes[-2:]
        keyword = SQUARES[word]
        if (
            t.dims
            or word in ("corr", "chol_corr", "corr_matrix", "cholesky_factor_corr")
            or s.closed
            or self.c.chance(0.5)
        ):
            if s.closed and (t.dims or keyword != "cov_matrix"):
                one = f"identity_matrix({a})"
                return f"rep_array({one}, {', '.join(t.sizes[: t.dims])})" if t.dims else one
            if s.closed:
                return f"add_diag(tcrossprod({self.make(s, t, 0)}), 1)"
            variable = self.world.parameter(t, keyword, 0.8) if self.free and self.c.chance(0.6) else None
            return (variable or self.world.datum(t, keyword)).name
        spread = f"add_diag(tcrossprod({self.suited(s, matrix(a, b), 'bounded', min(depth - 1, 1))}), 1)"
        return spread if keyword == "cov_matrix" else f"cholesky_decompose({spread})"

    def from_table(self, s: Scope, depth: int) -> str:
        """A real made of a call of any function."""
        f = self.c.one(CALLABLE)
        if self.c.chance(0.5):
            f = self.c.one(
                [g for g in CALLABLE if g.overloads[0].signature not in ("(T) => T", "(T, T) => T")]
            )
        overload = self.c.one(f.overloads)
        if len(f.overloads) > 6:
            overload = self.c.one([o for o in f.overloads if deepest(o.signature) <= 1] or f.overloads)
        return self.call(s, f.name, overload.signature, depth)

    def call(self, s: Scope, name: str, signature: str, depth: int) -> str:
        parsed = parse_signature(signature)
        size = self.some_size(s)
        if not s.closed and self.world.value_of(size) < 2:
            return self.leaf(s, REAL)
        stands = self.c.one(
            [
                REAL,
                Shape("vector", (size,)),
                Shape("real", (size,)),
                Shape("row_vector", (size,)),
                Shape("matrix", (size, size)),
            ]
        )
        shapes = [concrete(p, stands, size) for p in parsed.args]
        words = ARGUMENTS.get(f"{name}/{len(shapes)}") or ARGUMENTS.get(name, ())
        if (
            stands.base != "int"
            and any(p.base == "T" for p in parsed.args)
            and not any(p.base == "I" for p in parsed.args)
        ):
            wide = self.c.one([i for i, p in enumerate(parsed.args) if p.base == "T"])
            shapes = [
                REAL if p.base == "T" and i != wide and self.c.chance(0.4) else shape
                for i, (p, shape) in enumerate(zip(parsed.args, shapes, strict=True))
            ]
        args = []
        for i, shape in enumerate(shapes):
            default = (
                "any"
                if shape.base == "matrix" or parsed.args[i].base not in ("T", "real", "reals")
                else "unit"
            )
            word = words[i] if i < len(words) else default
            args.append(self.argument(s, shape, word, size, depth))
        joined = ", ".join(args)
        return self.reduced(f"{name}({joined})", concrete(parsed.result, stands, size))

    def argument(self, s: Scope, shape: Shape, word: str, size: str, depth: int) -> str:
        if shape.base != "int":
            return self.suited(s, shape, word, depth)
        if word == "size":
            return size
        if word in ("one", "two", "five"):
            return number_of(shape, {"one": "1", "two": "2", "five": "5"}[word])
        if shape.sizes:
            return number_of(shape, "2") if s.closed else self.world.datum(shape, f"index:{size}").name
        return self.index(s, size)

    def reduced(self, text: str, t: Shape) -> str:
        """One number of what a call gives."""
        if (t.base == "int" and t.dims == 0) or t == REAL:
            return text
        for _ in range(max(0, t.dims - (1 if CORE[t.base] == 0 else 0))):
            text = f"{text}[1]"
        return (
            self.c.one([f"sum({text})", f"sum({text})", f"log_sum_exp({text})"])
            if t.base != "int"
            else f"sum({text})"
        )


SHIFTED = {
    "negative": "-0.7",
    "half_unit": "0.3",
    "angle": "0.8",
    "-0.3 unit": "-0.2",
    "above_one": "1.4",
    "above_five": "5.7",
}
"""Arrays of one number where a sum would be needed to make them fit."""
ELEMENTS = ("real", "positive", "nonnegative", "unit_interval", "open_unit", "angle")
"""Supports of single numbers."""
SQUARES = {
    "cov": "cov_matrix",
    "cov_matrix": "cov_matrix",
    "corr": "corr_matrix",
    "corr_matrix": "corr_matrix",
    "chol_corr": "cholesky_factor_corr",
    "cholesky_factor_corr": "cholesky_factor_corr",
    "cholesky_factor_cov": "cholesky_factor_cov",
}


def fits(v: Variable, support: str) -> bool:
    same = {"nonnegative": "positive", "open_unit": "unit_interval"}
    return support == "real" or v.support == same.get(support, support)


def after(t: Shape, n: int) -> Shape:
    """The type of an entry under n indices."""
    left = len(t.sizes) - n
    base = t.base
    if left < CORE[base]:
        of = "complex_" if t.is_complex else ""
        one = "complex" if t.is_complex else "int" if base == "int" else "real"
        base = f"{of}row_vector" if left == 1 else one
    return Shape(base, t.sizes[n:])


def tight(text: str) -> str:
    """Safe beside any operator and before an index."""
    return text if text.isidentifier() or is_enclosed(text) else f"({text})"


def parens(text: str) -> str:
    return text if is_enclosed(text) else f"({text})"


def is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses encloses the text, a function's name before it or not."""
    head, bracket, _ = text.partition("(")
    if not bracket or not text.endswith(")") or not (head == "" or head.isidentifier()):
        return False
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c == ")" and i < len(text) - 1:
            return False
    return True


def number_of(t: Shape, number: str) -> str:
    return f"rep_array({number}, {', '.join(t.sizes)})" if t.sizes else number


def filled(t: Shape, number: str) -> str:
    """The number everywhere in a container."""
    inner = number
    if t.base != "real":
        inner = f"rep_{t.base}({number}, {', '.join(t.sizes[t.dims :])})"
    return f"rep_array({inner}, {', '.join(t.sizes[: t.dims])})" if t.dims else inner


def deepest(signature: str) -> int:
    return max(
        (
            p.count(",") + 1 if "array" in p else 0
            for p in split_commas(signature.split("=>")[0].strip("() "))
        ),
        default=0,
    )


def concrete(p: Pattern, stands: Shape, size: str) -> Shape:
    match p.base:
        case "T":
            return stands
        case "I":
            return Shape("int", (size,) * len(stands.sizes))
        case "E":
            return Shape("real", (size,) * max(1, abs(p.dims)))
        case "reals" | "vectors":
            return Shape("vector", (size,))
        case "ints":
            return Shape("int", (size,))
    base = base_of(p.base)
    return Shape(base, (size,) * (p.dims + CORE[base]))  # type: ignore[arg-type]


def base_of(t: Type | str) -> str:
    return str(t)


def matches(returns: Shape, t: Shape) -> bool:
    return returns.base == t.base and len(returns.sizes) == len(t.sizes)


def sized(t: Shape, bound: dict[str, str]) -> Shape:
    return Shape(t.base, tuple(bound.get(size, size) for size in t.sizes))
