"""Integrals that are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import beta, gamma

from ppl.records import dataclass
from ppl.stdlib.solvers import kronrod
from ppl.stdlib.solvers.quadrature import Precision, adjoints, rule

INF = np.inf
PRECISE = Precision(1e-9)


@dataclass
class Plain:
    """An integrand of x and its distance to the nearer end."""

    f: Callable[[Any, Any], Any]

    def values(self, t, y, draws):
        with np.errstate(all="ignore"):
            return np.asarray(self.f(t, y[:, 0]) + 0.0 * t)[:, None]

    def linearised(self, t, y, draws):
        return PlainNear(self.values(t, y, draws))


@dataclass
class PlainNear:
    """As if a factor before the integrand were an argument."""

    found: np.ndarray

    def pull(self, weights):
        return [(weights * self.found).sum()]


KNOWN = (
    (lambda x, xc: np.exp(-x), 0.0, 1.0, 1 - np.exp(-1)),
    (lambda x, xc: np.exp(-0.5 * x**2), -INF, INF, np.sqrt(2 * np.pi)),
    (lambda x, xc: x**1.5 * np.exp(-x), 0.0, INF, gamma(2.5)),
    (lambda x, xc: np.exp(x), -INF, 0.5, np.exp(0.5)),
    (lambda x, xc: 1 / (1 + x**2), -INF, INF, np.pi),
    # Both ends are singular; near 1 only the distance to it keeps its digits.
    (lambda x, xc: (x * np.where(xc > 0, xc, 1 - x)) ** -0.9, 0.0, 1.0, beta(0.1, 0.1)),
    (lambda x, xc: np.sin(x), 2.0, 2.0, 0.0),
)  # fmt: skip


KINKED = (
    lambda x, xc: np.abs(x - 0.3) + np.exp(-0.5 * ((x - 0.7) / 1e-2) ** 2),
    *(0.0, 1.0, 0.5 * (0.3**2 + 0.7**2) + 1e-2 * np.sqrt(2 * np.pi)),
)


@pytest.mark.parametrize(
    ("rule", "f", "low", "high", "exact"),
    [
        *((rule, *known) for known in KNOWN),
        *((kronrod.rule, *known) for known in (*KNOWN[:5], KNOWN[-1], KINKED)),
    ],
)
def test_known_integrals(rule, f, low, high, exact) -> None:
    found = rule(Plain(f), np.array([low]), np.array([high]), PRECISE)
    assert found.value[0] == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_a_panel_is_exact_for_polynomials_of_degree_31() -> None:
    powers = np.arange(32)
    moments = kronrod.PANEL_WEIGHTS @ kronrod.PANEL_NODES[:, None] ** powers
    np.testing.assert_allclose(moments, np.where(powers % 2, 0.0, 2.0 / (powers + 1)), atol=1e-15)


def test_the_adjoints_of_the_ends_are_the_integrand_there() -> None:
    f = Plain(lambda x, xc: np.exp(-x) * x)
    low, high = np.array([0.5, 1.0]), np.array([2.0, INF])
    found = rule(f, low, high, PRECISE)
    (to_low, to_high), (to_factor,) = adjoints(f, found, np.array([1.0, 3.0]))
    assert to_low == pytest.approx([-0.5 * np.exp(-0.5), -3 * np.exp(-1)])
    assert to_high == pytest.approx([2 * np.exp(-2), 0.0])
    assert to_factor == pytest.approx(found.value @ [1.0, 3.0])


def test_a_draw_is_integrated_as_if_it_were_alone() -> None:
    f = Plain(lambda x, xc: np.abs(x) ** -0.5)
    low, high = np.array([0.0, 0.0]), np.array([1.0, 1e-9])
    both = rule(f, low, high, PRECISE).value
    assert both[1] == rule(f, low[1:], high[1:], PRECISE).value[0]


def test_what_does_not_settle_is_nan() -> None:
    pole = Plain(lambda x, xc: 1 / (x - 0.3001))
    assert np.isnan(rule(pole, np.zeros(1), np.ones(1), PRECISE).value[0])
