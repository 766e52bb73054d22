"""Polynomials over outer points."""

import numpy as np
import pytest

from ppl.inference.nested.outer import spread_of
from ppl.inference.nested.trends import TREND, Trends


@pytest.mark.parametrize("d", [1, 3, TREND.most_quadratic + 1])
def test_what_has_their_terms_is_found(d):
    rng = np.random.default_rng(d)
    outer, other = rng.normal(size=(2, 200, d)) @ rng.normal(size=(d, d))
    trends = Trends(spread_of(outer))
    degree = 2 if d <= TREND.most_quadratic else 1
    assert trends.points == TREND.points * (1 + d + (degree - 1) * d * (d + 1) // 2)
    inside = (
        np.sqrt((((other - trends.about.mean) @ trends.about.whitening.T) ** 2).sum(axis=1)) < TREND.radius
    )
    by = rng.normal(size=(d, 2))
    few = outer[: 2 * trends.points]
    few = few[
        np.sqrt((((few - trends.about.mean) @ trends.about.whitening.T) ** 2).sum(axis=1)) < TREND.radius
    ]
    found = trends.terms(other) @ trends.fitted(few, (few @ by) ** degree)
    np.testing.assert_allclose(found[inside], ((other @ by) ** degree)[inside], atol=1e-8)


def test_far_away_they_do_not_grow():
    rng = np.random.default_rng(1)
    outer = rng.normal(size=(50, 2))
    trends = Trends(spread_of(outer))
    found = trends.fitted(outer, outer)
    far = trends.about.mean + 10.0 ** np.arange(1, 4)[:, None] * [1.0, 1.0]
    np.testing.assert_allclose(
        trends.terms(far[1:]) @ found, np.repeat(trends.terms(far[:1]) @ found, 2, axis=0)
    )
