"""Maximisation by Stan's three methods: where they end, when they stop, and what they say of it."""

import re

import numpy as np
import pytest
from toy_targets import Gaussian, OneByOne

from ppl.kernel.advi.target import Target
from ppl.methods.initialise.ascent import ascent
from ppl.methods.maximise.line_search import Loss, SearchLine, search
from ppl.methods.maximise.lockstep import answered, in_lockstep
from ppl.methods.maximise.methods import METHODS, maximise
from ppl.methods.maximise.quasi_newton import LimitedMemory
from ppl.methods.maximise.rules import CHANGES, Rules, SearchPoint, Stop
from tests.benchmarks.optimize import MOST_GAIN, density_of, end_of, programs

BY_NAME = {program.stem: program for program in programs()}
FEW = ("hmm_discrete_builtin", "logistic_glm", "garch11", "eight_schools", "gp_regression", "irt_2pl")


class Density(OneByOne):
    """A density of a formula and its gradient."""

    def __init__(self, dim, both):
        self.dim, self.both = dim, both

    def log_density(self, u):
        return float(self.both(u)[0])

    def log_density_gradient(self, u):
        value, gradient = self.both(u)
        return float(value), gradient


def rosenbrock(u):
    x, y = u
    gradient = np.array([2 * (1 - x) + 400 * x * (y - x**2), -200 * (y - x**2)])
    return -((1 - x) ** 2) - 100 * (y - x**2) ** 2, gradient


ROSENBROCK = Density(2, rosenbrock)
UNBOUNDED = Density(1, lambda u: (u.sum(), np.ones(1)))
KINKED = Density(3, lambda u: (-30 * np.abs(u - 0.1).sum(), -30 * np.sign(u - 0.1)))


def end(target, start, method="lbfgs", **rules):
    with np.errstate(all="ignore"):
        *_, last = maximise(target, np.asarray(start, float), method, Rules(**rules))
    return last


@pytest.mark.parametrize("method", METHODS)
def test_a_curved_valley_is_followed_to_its_maximum(method):
    last = end(ROSENBROCK, [-1.2, 1.0], method)
    np.testing.assert_allclose(last.u, 1.0, atol=1e-4)
    assert last.converged and last.reason.startswith("Convergence detected: ")


@pytest.mark.parametrize("method", METHODS)
def test_a_start_at_the_maximum_is_the_end(method):
    last = end(Gaussian(np.zeros(2), np.eye(2)), np.zeros(2), method)
    assert (last.u == 0).all() and last.converged


@pytest.mark.parametrize("method", ["lbfgs", "bfgs"])
@pytest.mark.parametrize(
    "rules, stop",
    [
        ({}, Stop.RELATIVE_GRADIENT),
        ({"tol_obj": 1e9}, Stop.OBJECTIVE),
        ({"tol_grad": 1e9}, Stop.GRADIENT),
        ({"tol_param": 1e9}, Stop.PARAMETERS),
        ({"tol_rel_obj": 1e20}, Stop.RELATIVE_OBJECTIVE),
        ({"iter": 3}, Stop.ITERATIONS),
    ],
)
def test_each_rule_stops(method, rules, stop):
    target = Gaussian(np.array([1.0, -2.0, 3.0]), np.diag([1.0, 4.0, 0.25]))
    assert end(target, np.zeros(3), method, **rules).stop is stop


def test_rules_are_met_in_stans_order_and_confirmed_by_one_more_step():
    loose = end(ROSENBROCK, [-1.2, 1.0], tol_obj=1e9, tol_grad=1e9)
    assert loose.stop is Stop.OBJECTIVE and loose.number > 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", [UNBOUNDED, KINKED], ids=["unbounded", "kinked"])
def test_no_end_with_a_gradient_left_is_called_converged(target, method):
    last = end(target, np.zeros(target.dim), method, iter=200)
    assert not last.converged and "onverge" not in last.reason
    assert re.search(r"the gradient at the end has norm ", last.reason)


@pytest.mark.parametrize("stop", Stop)
def test_every_stop_has_its_words(stop):
    steep, flat = (SearchPoint(np.zeros(1), 0.0, np.array([slope]), stop=stop) for slope in (1.0, 1e-9))
    assert (
        "Convergence" not in steep.reason
        and "the gradient at the end has norm" in steep.reason
        and not steep.converged
    )
    assert flat.reason.startswith("Convergence detected") == (stop in CHANGES)
    assert flat.converged == (stop is not Stop.ITERATIONS)


def test_a_line_search_backs_off_from_where_there_is_no_density():
    def density(u):
        return (np.log(1 - u[0]) + u[0] * 3, 3 - 1 / (1 - u)) if u[0] < 1 else (np.nan, np.full(1, np.nan))

    loss = Loss()
    start = answered(density, loss.at(np.zeros(1)))
    alpha, found = answered(density, search(SearchLine(loss, start, np.array([1.0]), np.float64(1.0))))
    assert 0 < alpha < 1 and found.loss < start.loss


class InBatches(Target):
    """Rosenbrock's valley in two of four coordinates, no density where the third is large."""

    dim = 4

    def __init__(self):
        self.sizes = []

    def log_density_gradient(self, u):
        values, slopes = self.log_density_gradients(u[None])
        return float(values[0]), slopes[0]

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        self.sizes.append(len(us))
        values, slopes = zip(*(rosenbrock(u[:2]) for u in us), strict=True)
        values = np.where(us[:, 2] < 5, np.array(values) - 0.5 * (us[:, 2:] ** 2).sum(axis=1), np.nan)
        return values, np.column_stack([np.array(slopes), -us[:, 2:]])


def test_searches_in_lockstep_end_where_each_would_alone():
    starts = np.random.default_rng(1).uniform(-2, 2, (6, 4))
    starts[3, 2] = 6.0
    together, alone = InBatches(), InBatches()
    found = dict(in_lockstep(together, [ascent(start, 200, 1e-6) for start in starts]))
    each = [answered(alone.log_density_gradient, ascent(start, 200, 1e-6)) for start in starts]
    assert found[3] is None is each[3]
    for number in {*found} - {3}:
        np.testing.assert_array_equal(found[number].u, each[number].u)
        np.testing.assert_allclose(found[number].u, [1, 1, 0, 0], atol=1e-4)
    assert together.sizes[0] == 6 and sum(together.sizes) == len(alone.sizes)
    assert len(together.sizes) < len(alone.sizes) / 2


@pytest.mark.rotate
@pytest.mark.parametrize("name", FEW)
def test_scipy_gains_nothing_from_the_end(name):
    density = density_of(BY_NAME[name])
    for seed in (1, 2):
        found = end_of(density, "lbfgs", seed)
        assert found.gain < MOST_GAIN or not found.step.converged


@pytest.mark.parametrize("size", [1, 3, 20])
def test_limited_memory_is_the_recursion_over_the_last_pairs(size):
    """Nocedal and Wright (2006), eq. 6.17, from a multiple of the identity."""
    rng = np.random.default_rng(2)
    root, memory, pairs = rng.normal(size=(8, 8)), LimitedMemory(size), []
    for number in range(7):
        step = rng.normal(size=8)
        change = root @ (root.T @ step)
        memory = memory.after(step, change, reset=number == 2).after(step, -change, reset=False)
        pairs = [*(pairs if number != 2 else []), (step, change)][-size:]
    inverse = np.eye(8) * (step @ change) / (change @ change)
    for step, change in pairs:
        rho = 1 / (step @ change)
        left = np.eye(8) - rho * np.outer(step, change)
        inverse = left @ inverse @ left.T + rho * np.outer(step, step)
    np.testing.assert_allclose(memory.times(np.arange(8.0)), inverse @ np.arange(8.0), rtol=1e-9)
