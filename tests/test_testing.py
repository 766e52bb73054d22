"""The laws that ppl ships: a right record passes them, and a wrong one is told which it breaks."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from test_extend import (
    ABOVE,
    DECREASING,
    ENERGY,
    KUMARASWAMY,
    SQUASH,
    kumaraswamy_cdf,
    kumaraswamy_rng,
    log_kumaraswamy,
)

from ppl.extend import Function, function, unary, with_partials
from ppl.stdlib.distributions.multi_normal import MULTI_NORMAL
from ppl.stdlib.distributions.poisson import POISSON
from ppl.testing import check_constraint, check_distribution, check_function

NO_CDFS = (None, None, None)


def test_right_records_pass():
    check_distribution(KUMARASWAMY)
    check_distribution(replace(KUMARASWAMY, cdfs=NO_CDFS))
    check_distribution(POISSON, reference=lambda rate: scipy.stats.poisson(rate))
    check_function(SQUASH)
    check_function(ENERGY)
    check_constraint(DECREASING, (4,), refused=[[1.0, 2.0, 0.0, -1.0]])
    check_constraint(ABOVE, (), (1.5,), refused=[1.0])


def half(xp, y, a, b):
    return log_kumaraswamy(xp, y, a, b) - np.log(2.0)


@with_partials(
    lambda xp, ans, y, a, b: (a - 1) / y - (b - 1) * a * y ** (a - 1) / (1 - y**a),
    lambda xp, ans, y, a, b: 1 / a + 0 * y,  # the terms in log(y) are missing
    lambda xp, ans, y, a, b: 1 / b + xp.np.log1p(-(y**a)),
)
def wrong_slope(xp, y, a, b):
    return log_kumaraswamy(xp, y, a, b)


def shared(rng, a, b):
    return kumaraswamy_rng(rng, np.ravel(a)[0], np.ravel(b)[0])


def swapped(rng, a, b):
    return kumaraswamy_rng(rng, b, a)


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"log_density": half},
            "the density integrates to one.\nit is 0.5 at a = ",
        ),
        ({"log_density": half, "cdfs": NO_CDFS, "rng": None}, "the density integrates to one"),
        (
            {"log_density": wrong_slope},
            "kumaraswamy: law does not hold: the gradient is the finite difference",
        ),
        ({"log_density": wrong_slope}, "log_density in a"),
        (
            {"cdfs": (lambda xp, y, a, b: kumaraswamy_cdf(xp, y, b, a), None, None)},
            "the slope of the cdf is the density",
        ),
        ({"rng": shared}, "one draw for each entry of the arguments"),
        ({"rng": swapped}, "draws follow the cdf"),
        ({"rng": swapped, "cdfs": NO_CDFS}, "draws follow the cdf"),
        ({"args": (("x", "open_unit"), *KUMARASWAMY.args[1:])}, "the variate is called 'x'"),
        ({"constants": ((("b",), lambda xp, b: xp.np.log(-b)),)}, "constants are finite terms"),
    ],
)
def test_a_wrong_distribution_is_told_the_law(fields, message):
    with pytest.raises(AssertionError) as error:
        check_distribution(replace(KUMARASWAMY, **fields))
    assert message in str(error.value)


def test_a_wrong_mass_is_told_the_law():
    def log_mass(xp, y, rate):
        return POISSON.log_density(xp, y, rate) + 1e-6

    with pytest.raises(AssertionError, match=r"the mass sums to one\.\nit is 1\.000001 at lambda"):
        check_distribution(replace(POISSON, log_density=log_mass, constants=(), parts=None))


def test_what_is_not_univariate_has_no_laws_here():
    with pytest.raises(ValueError, match="`multi_normal` is not univariate"):
        check_distribution(MULTI_NORMAL)


@with_partials(lambda xp, ans, x: 1.0 + ans)
def wrong_squash(xp, x):
    return xp.np.tanh(x)


def over_all(xp, x):
    return xp.np.sum(x)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (unary("f", "", wrong_squash), "f(real): law does not hold: the gradient is the finite difference"),
        (function("f", "", ("(vector) => real", over_all), batch="leading"), "a leading axis is a loop"),
        (function("f", "", ("(vector) => vector", over_all)), "is no vector"),
        (function("f", "", ("(real) => int", lambda xp, x: 0.5)), "a result 0.5 is no int"),
        (unary("f", "", lambda xp, x: xp.np.log(-x)), "both namespaces give the same finite values"),
    ],
)
def test_a_wrong_function_is_told_the_law(f: Function, message):
    with pytest.raises(AssertionError) as error:
        check_function(f)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"constrain": lambda xp, u, shape: (DECREASING.constrain(xp, u, shape)[0], 2.0 * u[..., 1:])},
            "decreasing: law does not hold: the log-Jacobian is log|det| of the finite differences",
        ),
        ({"unconstrain": lambda x, shape: x}, "the inverse, both ways"),
        ({"check": lambda x, shape: "is not what it should be"}, "is not what it should be"),
        ({"check": lambda x, shape: None}, "values outside are refused"),
        ({"constrain": lambda xp, u, shape: (u, 0.0), "unconstrain": lambda x, shape: x}, "lands inside"),
    ],
)
def test_a_wrong_constraint_is_told_the_law(fields, message):
    with pytest.raises(AssertionError) as error:
        check_constraint(replace(DECREASING, **fields), (3,), refused=[[1.0, 2.0, 0.0]])
    assert message in str(error.value)


@pytest.mark.rotate
def test_the_laws_need_no_test_framework():
    code = "import ppl.testing, sys; assert {'pytest', 'hypothesis'}.isdisjoint(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
