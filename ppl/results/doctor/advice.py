"""What to write in the program: its own statement with something more in it."""

from collections.abc import Mapping
from dataclasses import replace

from ppl.results.doctor.evidence import Statement

LOCATIONS: Mapping[str, tuple[int, bool]] = {
    "normal": (0, True),
    "student_t": (1, True),
    "cauchy": (0, True),
    "double_exponential": (0, True),
    "logistic": (0, True),
    "skew_normal": (0, True),
    "lognormal": (0, True),
    "bernoulli_logit": (0, True),
    "binomial_logit": (1, True),
    "poisson_log": (0, True),
    "neg_binomial_2_log": (0, True),
    "poisson": (0, False),
    "neg_binomial_2": (0, False),
    "exponential": (0, False),
}
"""Which argument is the location, by distribution, and whether terms are added to it or multiply its mean."""
SCALES: Mapping[str, int] = {"normal": 1, "student_t": 2, "lognormal": 1, "logistic": 1, "cauchy": 1}
"""Which argument is the scale."""
SYMMETRIC = frozenset({"normal", "student_t", "cauchy", "double_exponential", "logistic"})
"""Distributions of reals whose last two arguments are location and scale."""


def with_term(s: Statement, term: str) -> str:
    """The statement with a term in its linear predictor, as a sentence."""
    if s.distribution not in LOCATIONS:
        return f"add `{term}` to the linear predictor of `{s.text}`"
    at, additive = LOCATIONS[s.distribution]
    dot = "" if s.at else "."
    changed = f"{s.args[at]} + {term}" if additive else f"{bracketed(s.args[at])} {dot}* exp({term})"
    return f"write `{with_argument(s, at, changed)}`"


def with_scale(s: Statement, term: str) -> str:
    """The statement with a scale that changes by `exp(term)`, as a sentence."""
    if s.distribution not in SCALES:
        return f"multiply the scale in `{s.text}` by `exp({term})`"
    at = SCALES[s.distribution]
    return f"write `{with_argument(s, at, f'{bracketed(s.args[at])} * exp({term})')}`"


def with_argument(s: Statement, at: int, text: str) -> str:
    """The statement with another argument."""
    return replace(s, args=(*s.args[:at], text, *s.args[at + 1 :])).text


def bracketed(text: str) -> str:
    """An expression as an operand of a product."""
    return f"({text})" if " " in text else text
