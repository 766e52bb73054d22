"""A whole random program with data that fit."""

from collections.abc import Sequence
from typing import Any

from generator.choices import Choices
from generator.expressions import Expressions
from generator.parting import decided
from generator.shapes import INT, REAL, Scope, Shape, Variable
from generator.statements import Statements
from generator.world import World

from ppl.records import dataclass, replace


@dataclass(frozen=True)
class Generated:
    text: str
    data: dict[str, Any]


def generated(seed: int, number: int) -> Generated:
    """Program `number` of a run; the same every time.  Every other one is one idiom."""
    c = Choices.seeded(seed, number)
    names = ["N", "M", "K"][: c.between(1, 3)]
    focused = c.chance(0.5)
    world = World(c, {name: c.weighted([(0.15, 0), (0.4, 1), (2, 2), (5, 3), (2, 4)]) for name in names})
    user = functions(world) if c.chance(0.3) else {}
    transformed_data = (
        quantities(world, user, [], "td", c.between(1, 2), free=False)
        if not focused and c.chance(0.35)
        else ([], [])
    )
    known = read_only(transformed_data[1])
    transformed = (
        quantities(world, user, known, "tp", c.between(1, 2)) if not focused and c.chance(0.35) else ([], [])
    )
    known = known + read_only(transformed[1])
    statements, s = Statements(Expressions(world, user=user)), Scope(variables=list(known))
    model = statements.focused(s) if focused else statements.block(s, c.between(1, 2), 3)
    made = (
        quantities(world, user, known, "gq", c.between(1, 2)) if not focused and c.chance(0.35) else ([], [])
    )
    if not world.parameters:
        world.parameter(REAL)
    blocks = {
        "functions": world.functions,
        "data": world.declared,
        "transformed data": transformed_data[0],
        "parameters": world.parameter_lines,
        "transformed parameters": transformed[0],
        "model": model,
        "generated quantities": made[0],
    }
    text = "".join(block(name, lines) for name, lines in blocks.items() if lines or name == "model")
    return Generated(text, world.values)


def block(name: str, lines: Sequence[str]) -> str:
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def read_only(variables: Sequence[Variable]) -> list[Variable]:
    """As a later block sees them."""
    return [replace(v, writable=False) for v in variables]


def quantities(
    world: World, user: Any, known: list[Variable], prefix: str, count: int, free: bool = True
) -> tuple[list[str], list[Variable]]:
    """Declarations of a block with statements between them, and what they declare."""
    statements = Statements(Expressions(world, free=free, user=user), targets=False)
    s = Scope(variables=list(known))
    lines: list[str] = []
    declared: list[Variable] = []
    for _ in range(count):
        s.variables = [*known, *declared]
        if world.choices.chance(0.4):
            lines += world.choices.one([statements.fill, statements.recurrence, statements.scratch])(s, 0)
            declared.append(replace(s.variables[-1], writable=True))
            continue
        t = statements.local_shape(s)
        variable = Variable(world.fresh(prefix), t, writable=True)
        lines.append(f"{t.declared} {variable.name} = {statements.e.make(s, t, 2)};")
        declared.append(variable)
        s.variables = [*known, *declared]
        if world.choices.chance(0.6):
            inner = statements.block(s.inner(), world.choices.between(1, 2), 2)
            lines += ["{", *("  " + line for line in inner), "}"]
    return lines, declared


def functions(world: World) -> dict[str, tuple[tuple[Shape, ...], Shape]]:
    """User functions, which the expressions of later blocks call; each may call those before it."""
    found: dict[str, tuple[tuple[Shape, ...], Shape]] = {}
    for _ in range(world.choices.between(1, 2)):
        c, name = world.choices, world.fresh("fun")
        returns = c.one(
            [REAL, REAL, Shape("vector", ("n",)), Shape("real", ("n",)), Shape("row_vector", ("n",))]
        )
        args = [
            c.one([REAL, Shape("vector", ("n",)), Shape("row_vector", ("n",)), Shape("real", ("n",))])
            for _ in range(c.between(1, 2))
        ]
        if not any(a.sizes for a in args):
            args[0] = Shape("vector", ("n",))
        s = Scope([Variable(f"arg{i}", a) for i, a in enumerate(args)], closed=True)
        first = next(i for i, a in enumerate(args) if a.sizes)
        s.indices["n"] = ["1", "n"]
        statements = Statements(Expressions(world, user=dict(found)), targets=False)
        body = [f"int n = size(arg{first});", *statements.block(s, c.between(0, 2), 2)]
        if c.chance(0.25):
            body += early_return(statements, s, returns)
        if c.chance(0.3):
            early = statements.e.make(s.inner(), returns, 1)
            body.append(f"if ({statements.e.condition(s)}) return {early};")
        body.append(f"return {statements.e.make(s, returns, 2)};")
        signature = ", ".join(f"{a.unsized} arg{i}" for i, a in enumerate(args))
        world.functions += [f"{returns.unsized} {name}({signature}) {{", *("  " + b for b in body), "}"]
        found[name] = (tuple(args), returns)
    if world.choices.chance(0.3):
        found |= calling_itself(world, found)
    if world.choices.chance(0.3):
        define_density(world, found)
    if world.choices.chance(0.3):
        define_effect(world, found)
    return found


def early_return(statements: Statements, s: Scope, returns: Shape) -> list[str]:
    """A loop that may end the function."""
    inner = s.inner()
    i = inner.counter()
    inner.indices["n"].append(i)
    test, value = decided(statements, inner), statements.e.make(inner, returns, 1)
    return [f"for ({i} in 1:n) {{ if ({test}) return {value}; }}"]


def calling_itself(world: World, user: Any) -> dict[str, tuple[tuple[Shape, ...], Shape]]:
    """A function of a real, a vector and an int that calls itself with one less, until a number is large."""
    name, c = world.fresh("rec"), world.choices
    args = (REAL, Shape("vector", ("n",)), INT)
    s = Scope([Variable("a", REAL), Variable("v", args[1])], closed=True, indices={"n": ["1", "n"]})
    statements = Statements(Expressions(world, user=user), targets=False)
    next_ = f"{name}(0.5 * a + 0.3 * tanh({statements.e.make(s, REAL, 1)}), v, k - 1)"
    body = [
        "int n = size(v);",
        c.one(["if (k <= 0 || a > 2) return a;", "if (k <= 0) return a;", "if (k <= 0 || k > 9) return a;"]),
        *([f"if ({decided(statements, s)}) return -{next_};"] if c.chance(0.4) else []),
        f"return {next_} + {statements.e.make(s, REAL, 1)};",
    ]
    world.functions += [f"real {name}(real a, vector v, int k) {{", *("  " + b for b in body), "}"]
    return {name: (args, REAL)}


def define_density(world: World, user: Any) -> None:
    """A distribution of the program's own: `y ~ own(mu)`."""
    name = world.fresh("own")
    s = Scope(
        [Variable("y", Shape("vector", ("n",))), Variable("mu", REAL)], closed=True, indices={"n": ["1", "n"]}
    )
    statements = Statements(Expressions(world, user=user), targets=False)
    lines = statements.block(s, world.choices.between(0, 1), 1)
    term = statements.e.make(s, REAL, 2)
    result = world.choices.one(
        [f"normal_lpdf(y | mu, 2) + {term}", f"normal_lupdf(y | {term}, 2)", f"-dot_self(y - mu) + {term}"]
    )
    body = [
        "int n = size(y);",
        *lines,
        f"if ({statements.e.condition(s)}) return {term};",
        f"return {result};",
    ]
    world.functions += [f"real {name}_lpdf(vector y, real mu) {{", *("  " + b for b in body), "}"]
    world.densities.append(name)


def define_effect(world: World, user: Any) -> None:
    """A function that adds to the target."""
    name = f"{world.fresh('effect')}_lp"
    s = Scope(
        [Variable("a", REAL), Variable("v", Shape("vector", ("n",)))], closed=True, indices={"n": ["1", "n"]}
    )
    lines = Statements(Expressions(world, user=user), unnormalised=False).block(s, 1, 1)
    body = ["int n = size(v);", "target += a;", *lines]
    world.functions += [f"void {name}(real a, vector v) {{", *("  " + b for b in body), "}"]
    world.effects.append(name)


__all__ = ["INT", "Generated", "generated"]
