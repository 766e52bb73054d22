"""Log densities, gradients and constrained values, number for number as Stan computes them.

Cases, compiled once for both, are held to one law more: many points at once give what each gives alone.
"""

from dataclasses import replace

import numpy as np
import pytest
from conformance.pack import Case, assert_agrees, assert_close, cases, programs
from laws.batches import assert_as_alone
from laws.every import every

import ppl

STAN_WRAPS = "fn_int_array_reductions"
"""Stan 2.35 adds a negative int to an unsigned size here, which wraps to 1.8e19."""

SOLVED = ("fn_ode_rk45_linear", "fn_solve_newton_user")
"""Stan's answers are right to 1e-7 here, and those of ppl to 1e-9 and better."""

GROUPS = {group: cases(group) for group in ("distributions", "functions", "transforms", "edges")}
POINTS = [
    replace(c, tolerance={"lp": 2e-6, "grad": 2e-5}) if c.id in SOLVED else c
    for group in GROUPS.values()
    for c in group
    if c.id != STAN_WRAPS
]


def words(case: Case) -> str:
    """The first words of a name, such as the distribution."""
    return "_".join(case.id.split("_")[:2])


@pytest.mark.rotate
@every("case", POINTS, words)
def test_agrees_with_stan_and_many_points_with_each_alone(case: Case) -> None:
    try:
        posterior = ppl.compile_model(case.program).condition(case.data)
    except ppl.PPLError:
        if all(point.get("expect") == "exception" for point in case.points):
            return  # Stan throws at every point; to refuse the data that make it so is as good
        raise
    assert_agrees_at_points(posterior, case)
    hold_many_points(posterior, case)


@pytest.mark.rotate
@pytest.mark.parametrize("case", programs(), ids=lambda case: case.id)
def test_a_program_agrees_with_stan(case: Case) -> None:
    assert_agrees_at_points(ppl.compile_model(case.program).condition(case.data), case)


def assert_agrees_at_points(posterior: ppl.Posterior, case: Case) -> None:
    for point in case.points:
        if "expect" in point:
            assert_edge(posterior, point)
        else:
            assert_agrees(posterior, point, case)


def hold_many_points(posterior: ppl.Posterior, case: Case) -> None:
    """At the points and near them, unless one is refused."""
    points = [np.array(point["u"], dtype=float) for point in case.points if point.get("u")]
    try:
        for u in points:
            posterior.log_density_gradient(u)
    except ppl.PPLError:
        return
    if points:
        near = [u + 0.05 * np.random.default_rng(4).normal(size=u.shape) for u in points]
        assert_as_alone(posterior, np.array([*points, *near, *points, *near])[:5])


def assert_edge(posterior: ppl.Posterior, point: dict) -> None:
    """-inf where Stan has it; where Stan throws or has nan: an error of ours, nan or -inf."""
    try:
        density = posterior.log_density(np.array(point["u"], dtype=float))
    except ppl.PPLError:
        assert point["expect"] in ("exception", "NaN")
        return
    if point["expect"] in ("Infinity", "-Infinity"):
        assert density == float(point["expect"])
    else:
        assert np.isnan(density) or density == -np.inf


def test_integer_sums_do_not_wrap() -> None:
    case = next(c for c in GROUPS["functions"] if c.id == STAN_WRAPS)
    posterior = ppl.compile_model(case.program).condition(case.data)
    for point in case.points:
        # a = {3, -1, 2, 5}: sum 9, product -30, largest 5, smallest -1, four elements counted twice
        slope = 0.7 * (9 - 10 * 30 + 100 * 5 - 1000 + 4 + 4)
        density, gradient = posterior.log_density_gradient(np.array(point["u"]))
        assert_close(density, slope * point["u"][0], (1e-12, 0))
        assert_close(gradient, [slope], (1e-12, 0))
    hold_many_points(posterior, case)
