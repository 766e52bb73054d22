"""The exact laws of the benchmark, and what it calls wrong."""

import pytest
from scipy import stats

from tests.benchmarks.skewed.exact import between, by_grid, frozen, positive, real
from tests.benchmarks.skewed.wrong import Measured, wrong


@pytest.mark.parametrize(
    "law, axis",
    [
        (stats.norm(1, 2), real(-20, 22)),
        (stats.gamma(0.5), positive(1e-13, 60)),
        (stats.pareto(9), positive(1e-9, 30, least=1.0)),
        (stats.beta(0.8, 3), between(0, 1, 30.0)),
    ],
)
def test_laws_by_grids_are_those_of_scipy(law, axis):
    found, exact = by_grid(law.logpdf, x=axis)["x"], frozen(law)
    assert found[:3] == pytest.approx(exact[:3], rel=1e-3)
    assert found.quantiles == pytest.approx(exact.quantiles, abs=3e-3 * exact.sd)
    assert found.slopes == pytest.approx(exact.slopes, rel=0.03)


def test_a_grid_that_is_too_short_is_refused():
    with pytest.raises(AssertionError, match="where there is mass"):
        by_grid(stats.norm.logpdf, x=real(-2, 9))


@pytest.mark.parametrize(
    "one, expected",
    [
        (Measured("mean", "x", 0.2, 5.0, 1.0), True),
        (Measured("mean", "x", 0.1, 3.0, 5.0), True),
        (Measured("95%", "x", 0.3, 3.0, 1.0), False),
        (Measured("sd", "x", 0.85, -4.5), True),
        (Measured("sd", "x", 0.95, -5.0), False),
        (Measured("tail", "x", 0.03, 6.4), True),
    ],
)
def test_what_is_wrong_by_more_than_chance(one, expected):
    assert wrong(one) is expected
