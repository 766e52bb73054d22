"""Tail probabilities agree with those of a known distribution, and p-values of checks are not too small."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from ppl.results.doctor.tails import farthest, upper_tail


def test_inside_the_replications_it_is_their_share():
    values = np.random.default_rng(1).normal(size=999)
    assert upper_tail(0.0, values) == (1 + (values >= 0).sum()) / 1000
    assert upper_tail(np.nan, values) == upper_tail(-9.0, values) == 1.0


@pytest.mark.parametrize(("law", "at"), [(stats.chi2(1), 20.0), (stats.expon, 12.0), (stats.t(4), 12.0)])
def test_beyond_the_replications_it_is_near_the_tail(law, at):
    found = [upper_tail(at, law.rvs(size=1000, random_state=seed)) for seed in range(20)]
    assert abs(np.log10(np.median(found)) - np.log10(law.sf(at))) < 1.0


def test_tails_lighter_than_exponential_are_not_made_smaller():
    values = stats.norm.rvs(size=1000, random_state=1)
    assert stats.norm.sf(6) < upper_tail(6.0, values) < upper_tail(5.0, values) < 1e-3


def test_the_farthest_of_several_counts_all_of_them():
    rng = np.random.default_rng(2)
    replicated = rng.normal(size=(999, 3))
    tried = [(str(k), lambda rows, k=k: rows[:, k]) for k in range(3)]
    own = np.quantile(replicated, 0.9, axis=0)
    own[1] = np.sort(replicated[:, 1])[-10]
    o = SimpleNamespace(statement=SimpleNamespace(span=None))
    found = farthest("PPL024", o, tried, (own, replicated), "{}")
    assert (found.name, found.p) == ("1", pytest.approx(3 * 11 / 1000))
    assert farthest("PPL024", o, [], (own, replicated), "{}") is None
