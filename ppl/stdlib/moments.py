"""Means and variances of distributions, as expressions of the language: what expected values compute, and
what their pages show.

Laws hold them to the density, or to draws. Stan Functions Reference; Johnson, Kotz and Balakrishnan,
"Univariate Distributions"; Kotz, Kozubowski and Podgorski (2001), section 3.2, for skew_double_exponential;
Gelman et al. (2013), "Bayesian Data Analysis", appendix A, for the Wishart distributions.
"""

from functools import partial

from ppl.records import dataclass

OF_NUMBER, OF_ELEMENTS, OF_VECTOR = "variance", "variance of each element", "covariance"
SIZES = {"N": "the sum of the counts", "K": "the number of rows"}
"""The names in a formula that are no arguments of its density."""


@dataclass(frozen=True)
class Moments:
    """Expected values of a variate, in the arguments of its density.

    mean, variance  `if_mean` and `if_variance` are conditions under which each is finite; `second` is what
                    the second is
    beyond          E[(Y - mean) 1(Y > y)] / p(y), the Stein kernel; of a count with Y >= y. It gives the mean
                    of a truncated distribution. Ley, Reinert and Swan (2017), Probab. Surveys 14:1
    probabilities   of the categories, a vector
    without         why there is no mean
    """

    mean: str = ""
    variance: str = ""
    if_mean: str = ""
    if_variance: str = ""
    beyond: str = ""
    probabilities: str = ""
    without: str = ""
    second: str = OF_NUMBER


UNKNOWN = Moments(without="its record has no mean")
each, together = partial(Moments, second=OF_ELEMENTS), partial(Moments, second=OF_VECTOR)
