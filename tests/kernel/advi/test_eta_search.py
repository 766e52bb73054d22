import numpy as np
import pytest
from algorithm_one import advi
from toy_targets import Gaussian, HalfSpace, OneByOne, correlated

from ppl.errors import InferenceError
from ppl.kernel.advi.eta_search import SEARCHED_ETAS, _improves


class Needle(OneByOne, HalfSpace):
    """Support within 1e-9 of the origin: a start may lie in it, a draw never does."""

    def log_density_gradient(self, u):
        return super().log_density_gradient(-np.abs(u))


def test_the_best_of_all_candidates_is_kept():
    fit = advi(correlated(3), iter=100, draws=10)
    assert {1.0, 0.1, 0.01} <= set(fit.path.eta_scores) <= set(SEARCHED_ETAS)
    assert fit.path.eta == max(fit.path.eta_scores, key=fit.path.eta_scores.__getitem__)


def test_larger_steps_are_tried_as_long_as_larger_is_better():
    far = advi(Gaussian(np.full(3, 1e3), np.eye(3)), init=0, iter=100, draws=10)
    assert set(far.path.eta_scores) == set(SEARCHED_ETAS) and far.path.eta >= 10
    there = advi(Gaussian(np.zeros(3), np.eye(3)), init=0, iter=100, draws=10)
    scores = there.path.eta_scores
    assert scores[1.0] < scores[0.1] and set(scores) == {1.0, 0.1, 0.01}


def test_a_start_at_the_exact_optimum_takes_the_smallest_eta_and_says_so():
    """Stan fails here in about four of ten seeds: no step size beats the start."""
    target = Gaussian(np.zeros(3), np.eye(3))
    fits = [advi(target, init=0, seed=seed, iter=100, draws=10) for seed in range(20)]
    smallest = [fit for fit in fits if fit.path.eta == 0.01 and "may be good already" in fit.notes[0]]
    assert len(smallest) >= 18  # the rest found a gain by chance
    assert all(fit.path.eta <= 0.1 and np.abs(fit.mean_u).max() < 0.3 for fit in fits)


def test_a_gain_is_seen_through_one_terrible_draw():
    at_start = np.append(np.full(99, -5.0), -1e12)
    better = np.append(np.full(99, -3.0), -1e6)
    assert _improves(better, at_start)
    assert not _improves(at_start, at_start) and not _improves(at_start, better)


def test_candidates_that_diverge_are_passed_over():
    fit = advi(HalfSpace(2, -3.0), iter=100, draws=10, init=0.1)
    assert fit.path.eta_scores[10.0] == -np.inf and 100.0 not in fit.path.eta_scores
    assert np.isfinite(fit.path.eta_scores[fit.path.eta])


def test_a_start_without_an_elbo_is_an_error_that_names_the_statement():
    with pytest.raises(InferenceError, match="line 7"):
        advi(Needle(1, -1e-9), init=0)
