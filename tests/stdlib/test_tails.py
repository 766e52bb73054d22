"""The law of the tails at parameters far from those that supports sample, and its own power to notice."""

from dataclasses import replace

import numpy as np
import pytest
from laws.every import every

from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.testing.distributions import ends, middle
from ppl.testing.tails import assert_tails

FAMILY = {d.name: d for d in DISTRIBUTIONS}

FAR = [
    ("beta", (1e3, 2e3)),
    ("beta", (0.05, 800.0)),
    ("beta", (1e6, 1e6)),
    ("beta_binomial", (3000, 1e3, 2e3)),
    ("beta_binomial", (3000, 50.0, 0.5)),
    ("beta_neg_binomial", (50.0, 300.0, 4.0)),
    ("beta_neg_binomial", (6.5, 38.0, 8.6)),
    ("beta_proportion", (0.001, 5e3)),
    ("beta_proportion", (0.4, 1e6)),
    ("binomial", (5000, 0.3)),
    ("binomial", (15000, 0.999)),
    ("cauchy", (5.0, 1e-6)),
    ("chi_square", (1e5,)),
    ("exp_mod_normal", (0.0, 1.0, 1e3)),
    ("exp_mod_normal", (0.0, 1.0, 1e-3)),
    ("exponential", (1e-8,)),
    ("frechet", (0.1, 1.0)),
    ("gamma", (0.02, 1.0)),
    ("gamma", (1e4, 1.0)),
    ("gamma", (1e7, 3.0)),
    ("gumbel", (0.0, 1e-3)),
    ("inv_chi_square", (1e3,)),
    ("inv_gamma", (0.05, 2.0)),
    ("inv_gamma", (300.0, 2.0)),
    ("logistic", (0.0, 1e-3)),
    ("lognormal", (0.0, 0.01)),
    ("lognormal", (0.0, 20.0)),
    ("neg_binomial", (300.0, 2.0)),
    ("neg_binomial", (1e5, 2e2)),
    ("neg_binomial_2", (500.0, 1e6)),
    ("neg_binomial_2", (500.0, 0.5)),
    ("pareto", (1.0, 500.0)),
    ("pareto_type_2", (0.0, 1.0, 300.0)),
    ("poisson", (1e-3,)),
    ("poisson", (2e3,)),
    ("poisson", (1e5,)),
    ("scaled_inv_chi_square", (1e3, 2.0)),
    ("skew_double_exponential", (0.0, 1.0, 0.01)),
    ("skew_normal", (0.0, 1.0, 50.0)),
    ("skew_normal", (0.0, 1.0, -50.0)),
    ("skew_normal", (0.0, 1.0, 1e-3)),
    ("student_t", (0.3, 0.0, 1.0)),
    ("student_t", (60.0, 0.0, 1.0)),
    ("student_t", (1e6, 0.0, 1.0)),
    ("von_mises", (0.5, 1e4)),
    ("von_mises", (0.0, 1e6)),
    ("weibull", (0.1, 1.0)),
    ("weibull", (80.0, 1.0)),
]


@pytest.mark.rotate
@every("name, parameters", FAR)
def test_tails_at_far_parameters(name, parameters):
    assert_tails(FAMILY[name], parameters, middle(FAMILY[name], parameters), ends)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda lcdf: lambda xp, y: xp.np.log(xp.np.exp(lcdf(xp, y)) + 1e-40), "lcdf at y"),
        (lambda lcdf: lambda xp, y: lcdf(xp, y) * (1 + 1e-7), "lcdf at y"),
    ],
)
def test_a_wrong_tail_is_noticed(wrong, message):
    d = FAMILY["std_normal"]
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=message):
        assert_tails(replace(d, cdfs=(d.cdf, wrong(d.lcdf), d.lccdf)), (), 0.0, ends)
