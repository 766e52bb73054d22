"""Advice on the program: its own statement with something more in it."""

from collections.abc import Iterable, Iterator, Mapping

from ppl.floats import Floats
from ppl.results.doctor.evidence import Column, ObservedOutcome
from ppl.results.doctor.statement import Statement, restated

LOCATIONS: Mapping[str, tuple[int, bool]] = {
    **dict.fromkeys(("normal", "cauchy", "double_exponential", "logistic", "skew_normal"), (0, True)),
    **dict.fromkeys(("lognormal", "bernoulli_logit", "poisson_log", "neg_binomial_2_log"), (0, True)),
    **dict.fromkeys(("student_t", "binomial_logit"), (1, True)),
    **dict.fromkeys(("poisson", "neg_binomial_2", "exponential"), (0, False)),
}
"""Which argument is the location, by distribution, and whether terms are added to it or multiply its mean."""
SCALES: Mapping[str, int] = {"normal": 1, "student_t": 2, "lognormal": 1, "logistic": 1, "cauchy": 1}
"""Which argument is the scale."""
SYMMETRIC = frozenset({"normal", "student_t", "cauchy", "double_exponential", "logistic"})
"""Distributions of reals whose last two arguments are location and scale."""
PRIOR_SCALE = 2.5
"""The prior sd of an effect, in sds of the outcome per sd of the predictor, as in rstanarm."""


def with_term(s: Statement, term: str) -> Statement | str:
    """The statement with a term in its linear predictor; the end of a sentence if its form is unknown."""
    if s.distribution not in LOCATIONS:
        return f"add `{term}` to the linear predictor of `{s.text}`"
    at, additive = LOCATIONS[s.distribution]
    dot = "" if s.at else "."
    changed = f"{s.args[at]} + {term}" if additive else f"{bracketed(s.args[at])} {dot}* exp({term})"
    return with_argument(s, at, changed)


def with_scale(s: Statement, term: str) -> Statement | str:
    """The statement with a scale that changes by `exp(term)`; the end of a sentence for an unknown form."""
    if s.distribution not in SCALES:
        return f"multiply the scale in `{s.text}` by `exp({term})`"
    at = SCALES[s.distribution]
    return with_argument(s, at, f"{bracketed(s.args[at])} * exp({term})")


def with_argument(s: Statement, at: int, text: str) -> Statement:
    """The statement with another argument."""
    return restated(s, s.distribution, (*s.args[:at], text, *s.args[at + 1 :]))


def value_of(o: ObservedOutcome, name: str) -> str:
    """The values of a column as the statement of an outcome can add or multiply them."""
    at, c = o.statement.at, o.columns[name]
    return f"to_vector({name})" if (c.declared == "array" or c.levels) and not at else f"{name}{at}"


def undeclared(o: ObservedOutcome, names: Iterable[str], grouping: bool = False) -> Iterator[str]:
    """The declarations of columns that the data have and the program does not declare."""
    size = o.statement.site.size if o.statement.site else "N"
    for name in names:
        base, *of_matrix = name.split("[, ")
        if o.columns[name].declared:
            continue
        if of_matrix:
            yield f"matrix[{size}, {sum(c.startswith(base + '[, ') for c in o.columns)}] {base};"
        else:
            yield f"{type_of(o.columns[name], size, grouping)} {base};"


def type_of(c: Column, size: str, grouping: bool) -> str:
    """The type of a column of numbers or words, which are groups or a predictor."""
    if c.levels:
        return f"array[{size}] int<lower={int(grouping)}, upper={c.levels - int(not grouping)}>"
    return f"array[{size}] int<lower=1>" if grouping else f"vector[{size}]"


def are_indices(c: Column) -> bool:
    """Whether the groups of a column are numbers from 1, few of them left out."""
    return c.groups is not None and c.values.min() >= 1 and c.values.max() <= 2 * (c.groups.max() + 1)


def unit(o: ObservedOutcome) -> float:
    """The sd of an outcome on the scale of its linear predictor: 1 if that is not the outcome's own."""
    return float(o.y.std()) if o.statement.distribution in (*SYMMETRIC, "skew_normal") else 1.0


def effect_prior(o: ObservedOutcome, x: Floats) -> str:
    """A weakly informative prior of the coefficient of x (n,)."""
    return f"normal(0, {rounded(PRIOR_SCALE * unit(o) / float(x.std()))})"


def rounded(x: float) -> str:
    """The number to one significant digit, as a program has it."""
    return f"{float(f'{x:.1g}'):g}"


def plain(name: str) -> str:
    """A name for what belongs to `x[, 2]`: x_2."""
    return name.replace("[, ", "_").removesuffix("]")


def bracketed(text: str) -> str:
    """An expression as an operand of a product."""
    return f"({text})" if " " in text else text
