"""Every distribution of the language.  A new family is one file and one line here."""

from ppl.stdlib.distributions import (
    bernoulli,
    beta_binomial,
    beta_neg_binomial,
    binomial,
    discrete_range,
    hypergeometric,
    neg_binomial,
    normal,
    poisson,
)
from ppl.stdlib.record import Distribution

DISTRIBUTIONS: tuple[Distribution, ...] = (
    *normal.FAMILIES,
    *bernoulli.FAMILIES,
    *beta_binomial.FAMILIES,
    *beta_neg_binomial.FAMILIES,
    *binomial.FAMILIES,
    *discrete_range.FAMILIES,
    *hypergeometric.FAMILIES,
    *neg_binomial.FAMILIES,
    *poisson.FAMILIES,
)
