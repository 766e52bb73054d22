"""Random statements of a distribution, `y ~ normal(mu, sigma)`, and calls of a density or a cdf."""

from collections.abc import Sequence

from generator.expressions import Expressions
from generator.shapes import INT, REAL, Scope, Shape

from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.library import parse_variate
from ppl.stdlib.record import Distribution
from ppl.stdlib.signatures import parse_pattern
from ppl.stdlib.supports import SUPPORTS

JOINT = [
    d
    for d in DISTRIBUTIONS
    if d.signatures and d.name not in ("gaussian_dlm_obs", "wiener", "hypergeometric")
]
COMMON = [
    d
    for d in JOINT
    if d.name
    in (
        "normal",
        "poisson_log",
        "bernoulli_logit",
        "binomial",
        "student_t",
        "categorical_logit",
        "neg_binomial_2_log",
        "std_normal",
        "poisson",
        "binomial_logit",
        "gamma",
        "multi_normal",
        "categorical",
    )
]
TRUNCATED = [
    d for d in JOINT if d.cdf is not None and d.lcdf is not None and d.signatures[0].startswith("reals")
]
MATRICES = ("cov_matrix", "corr_matrix", "cholesky_factor_cov", "cholesky_factor_corr")


def distributed(e: Expressions, s: Scope, depth: int, unnormalised: bool = True) -> str:
    """A statement that adds a log density to the target."""
    c = e.c
    if c.chance(0.12):
        return truncated(e, s, depth)
    d = c.one(COMMON if c.chance(0.6) else JOINT)
    args = arguments(e, s, d, depth)
    if c.chance(0.6):
        return f"{args[0]} ~ {d.name}({', '.join(args[1:])});"
    return f"target += {density(e, d, args, unnormalised)};"


def density(e: Expressions, d: Distribution, args: Sequence[str], unnormalised: bool = True) -> str:
    mass = "pmf" if d.discrete else "pdf"
    suffix = e.c.one([f"l{mass}", f"l{mass}", f"lu{mass}" if unnormalised else f"l{mass}"])
    if e.c.chance(0.1) and d.lcdf is not None and not suffix.startswith("lu"):
        suffix = e.c.one(["lcdf", "lccdf" if d.lccdf is not None else "lcdf"])
    return f"{d.name}_{suffix}({args[0]} | {', '.join(args[1:])})"


def density_call(e: Expressions, s: Scope, depth: int, unnormalised: bool = True) -> str:
    """A log density as an expression."""
    d = e.c.one(COMMON if e.c.chance(0.6) else JOINT)
    return density(e, d, arguments(e, s, d, depth), unnormalised)


def truncated(e: Expressions, s: Scope, depth: int) -> str:
    d = e.c.one(TRUNCATED)
    support = d.args[0][1]
    args = [e.suited(s, REAL, word, depth - 1) for _, word in d.args]
    args[0] = {"unit_interval": "0.6", "angle": "0.6"}.get(support, "1.5")
    bounds = {"unit_interval": "0.1, 0.9", "angle": "-1, 1"}.get(support, "0.3, 2.5")
    lower, upper = bounds.split(", ")
    cut = e.c.one([f"{lower}, {upper}", f"{lower},", f", {upper}"])
    return f"{args[0]} ~ {d.name}({', '.join(args[1:])}) T[{cut}];"


def arguments(e: Expressions, s: Scope, d: Distribution, depth: int) -> list[str]:
    """The variate and the parameters, of sizes that go together."""
    c = e.c
    patterns = [parse_pattern(text) for text in parse_variate(c.one(d.signatures))]
    size = e.some_size(s)
    second = e.some_size(s)
    one = all(str(p.base) in ("reals", "ints") for p in patterns) and c.chance(0.35)
    rows = c.one(["vector", "row_vector"])
    many = c.chance(0.3)
    out = []
    for i, (p, (_, support)) in enumerate(zip(patterns, d.args, strict=False)):
        match p.base:
            case "reals":
                t = (
                    REAL
                    if one or (i > 0 and c.chance(0.5))
                    else c.one(
                        [
                            Shape("vector", (size,)),
                            Shape("vector", (size,)),
                            Shape("real", (size,)),
                            Shape("row_vector", (size,)),
                        ]
                    )
                )
            case "ints":
                t = INT if one or (i > 0 and c.chance(0.4)) else Shape("int", (size,))
            case "vectors":
                t = Shape(rows, (second, size) if many and (i == 0 or c.chance(0.3)) else (size,))  # type: ignore[arg-type]
            case base:
                name = str(base)
                t = Shape(name, (size,) * (p.dims + {"matrix": 2, "vector": 1, "row_vector": 1}.get(name, 0)))  # type: ignore[arg-type]
        out.append(argument(e, s, d, t, support, size, depth, i))
    return out


def argument(
    e: Expressions, s: Scope, d: Distribution, t: Shape, support: str, size: str, depth: int, i: int
) -> str:
    if t.base == "int":
        return ints(e, s, d, t, support, size)
    if support in MATRICES or t.base == "matrix":
        return (
            e.structured(s, t, support, depth - 1)
            if support in MATRICES
            else e.suited(s, t, "any", depth - 1)
        )
    if i == 0 and e.c.chance(0.7) and not s.closed:
        return e.leaf(s, t, support if support in SUPPORTS else "real")
    if d.name == "uniform" and i > 0:
        return "-9" if i == 1 else "9"
    return e.suited(s, t, support, depth - 1)


def ints(e: Expressions, s: Scope, d: Distribution, t: Shape, support: str, size: str) -> str:
    if s.closed:
        return f"rep_array(1, {t.sizes[0]})" if t.sizes else "1"
    if support == "category":
        categories = "1" if e.world.value_of(size) == 0 else size
        support = f"index:{categories}"
        if d.name.endswith("_glm"):
            support = "one"
    if support == "one":
        return "rep_array(1, " + t.sizes[0] + ")" if t.sizes else "1"
    loops = [i for known in s.indices.values() for i in known]
    if support == "count" and not t.sizes and loops and e.c.chance(0.3):
        return e.c.one(loops)
    if t.sizes == () and e.c.chance(0.5):
        wider = Shape("int", (e.world.size(),))
        return e.read_as(s, e.world.datum(wider, support), t)
    found = [text for v in s.variables if v.support == support for shape, text in e.reads(s, v) if shape == t]
    if found and e.c.chance(0.5):
        return e.c.one(found)()
    return e.world.datum(t, support).name
