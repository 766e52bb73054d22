"""Polynomials over outer points."""

import numpy as np
import pytest

from ppl.methods.nested.outer import spread_of
from ppl.methods.nested.trends import Trends


@pytest.mark.parametrize(("d", "degree"), [(1, 4), (3, 3), (3, 2), (5, 1)])
def test_what_has_their_terms_is_found(d, degree):
    rng = np.random.default_rng(d)
    outer, other = rng.normal(size=(2, 200, d)) @ rng.normal(size=(d, d))
    trends = Trends(spread_of(outer), degree, radius=3.0)
    few = outer[trends.within(outer)][: 2 * trends.count]
    inside = other[trends.within(other)]
    by = rng.normal(size=(d, 2))
    found = trends.terms(inside) @ trends.fitted(few, (few @ by) ** degree)
    assert trends.terms(few).shape == (2 * trends.count, trends.count)
    np.testing.assert_allclose(
        found, (inside @ by) ** degree, atol=1e-7 * np.abs((inside @ by) ** degree).max()
    )


def test_far_away_they_do_not_grow():
    rng = np.random.default_rng(1)
    outer = rng.normal(size=(50, 2))
    trends = Trends(spread_of(outer), 2, radius=3.0)
    found = trends.fitted(outer, outer)
    far = trends.about.mean + 10.0 ** np.arange(1, 4)[:, None] * [1.0, 1.0]
    assert not trends.within(far).any()
    np.testing.assert_allclose(
        trends.terms(far[1:]) @ found, np.repeat(trends.terms(far[:1]) @ found, 2, axis=0)
    )
