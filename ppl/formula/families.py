"""Families: the distribution of an outcome given its linear predictor, and the priors of what else it has."""

from collections.abc import Callable, Mapping

import numpy as np

from ppl import spelling
from ppl.data.values import Numbers
from ppl.errors import UnknownName
from ppl.records import dataclass, replace

WIDE = 2.5
"""Prior standard deviations of a mean, for one standard deviation of a predictor."""


@dataclass(frozen=True)
class Prior:
    """A parameter beside the linear predictor: its declaration and prior, `{sd}` for that of the outcome."""

    name: str
    constraint: str
    density: str
    comment: str


@dataclass(frozen=True)
class Family:
    """The type of an outcome, the statement that draws it, and how wide its coefficients' priors are.

    `fits` says whether a column can be the outcome, `needs` what can. `location` is the prior mean of the
    linear predictor, given the outcome and the exposure, which is 1 without an offset. `intercept` and
    `wide` are prior standard deviations of it and of coefficients; `by_level` says that those of levels of
    factors do not depend on how many rows have them.
    """

    outcome: str
    statement: str
    needs: str
    fits: Callable[[Numbers], bool]
    predictor: str = "eta"
    scale: str = "log odds"
    intercept: float = WIDE
    wide: float = WIDE
    by_level: bool = False
    location: Callable[[Numbers, Numbers], float] = lambda y, exposure: 0.0
    others: tuple[Prior, ...] = ()

    @property
    def in_units(self) -> bool:
        """Whether coefficients are in units of the outcome."""
        return self.predictor == "mu"

    @property
    def has_trials(self) -> bool:
        return "trials" in self.statement

    @property
    def takes_words(self) -> bool:
        return self.is_ordinal or self.is_binary

    @property
    def is_binary(self) -> bool:
        return "bernoulli" in self.statement

    @property
    def is_ordinal(self) -> bool:
        return "ordered" in self.statement


def log_rate(y: Numbers, exposure: Numbers) -> float:
    return float(np.log(np.sum(y) / np.sum(exposure))) if np.sum(y) > 0 else 0.0


def mean(y: Numbers, exposure: Numbers) -> float:
    return float(np.mean(y) - np.mean(np.log(exposure)))


SIGMA = Prior("sigma", "<lower=0>", "student_t(4, 0, {sd})", "the sd of {outcome}")
SCALE = replace(SIGMA, comment="the scale of {outcome}")
NU = Prior("nu", "<lower=0>", "gamma(2, 0.1)", "degrees of freedom: small for heavy tails")
PHI = Prior("phi", "<lower=0>", "cauchy(0, 1)", "the variance is mean + mean^2 / phi")
SHAPE = Prior("shape", "<lower=0>", "cauchy(0, 1)", "the variance is mean^2 / shape")
KAPPA = Prior("kappa", "<lower=0>", "cauchy(0, 1)", "large for little variance")

REALS, COUNTS = "vector[{n}]", "array[{n}] int<lower=0>"

WHOLE = "integers of at least 0"


def whole(y: Numbers) -> bool:
    return bool(np.all((y >= 0) & (y == np.trunc(y))))


GAUSSIAN = Family(
    REALS, "normal(mu, sigma)", "numbers", lambda y: True, "mu", "mean", location=mean, others=(SIGMA,)
)
BERNOULLI = Family(
    "array[{n}] int<lower=0, upper=1>",
    "bernoulli_logit(eta)",
    "0 and 1, or two levels",
    lambda y: {*y} <= {0, 1},
    intercept=1.5,
    wide=1,
    by_level=True,
)
POISSON = Family(COUNTS, "poisson_log(eta)", WHOLE, whole, scale="log mean", location=log_rate)

FAMILIES: Mapping[str, Family] = {
    "gaussian": GAUSSIAN,
    "student": replace(GAUSSIAN, statement="student_t(nu, mu, sigma)", scale="location", others=(SCALE, NU)),
    "bernoulli": BERNOULLI,
    "binomial": replace(
        BERNOULLI,
        outcome="array[{n}] int<lower=0, upper={trials}>",
        statement="binomial_logit({trials}, eta)",
        needs=WHOLE,
        fits=whole,
    ),
    "poisson": POISSON,
    "negative_binomial": replace(POISSON, statement="neg_binomial_2_log(eta, phi)", others=(PHI,)),
    "gamma": replace(
        POISSON,
        outcome="vector<lower=0>[{n}]",
        statement="gamma(shape, shape * exp(-eta))",
        needs="numbers above 0",
        fits=lambda y: bool(np.all(y > 0)),
        others=(SHAPE,),
    ),
    "beta": Family(
        "vector<lower=0, upper=1>[{n}]",
        "beta_proportion(inv_logit(eta), kappa)",
        "numbers between 0 and 1, neither of them",
        lambda y: bool(np.all((y > 0) & (y < 1))),
        others=(KAPPA,),
    ),
    "ordinal": Family(
        "array[{n}] int<lower=1, upper={levels}>",
        "ordered_logistic(eta, cut)",
        "1, 2, ... or a categorical, whose levels have an order",
        lambda y: {*y} == {*range(1, len({*y}) + 1)},
    ),
}


def family_of(name: str) -> Family:
    """The family of a name.

    Raises:
        UnknownName: there is none.
    """
    if name not in FAMILIES:
        raise UnknownName("no family", name, FAMILIES, spelling.FAMILIES.get(spelling.fold(name)))
    return FAMILIES[name]
