"""Chains of `sample` that are many short ones: their draws, what they say of themselves, their ends."""

import numpy as np
import pytest
from scipy import stats
from toy_targets import Gaussian as GaussianTarget
from toy_targets import HalfSpace, LogGamma, Mixture

from ppl.errors import InferenceError
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.outcome import Phase
from ppl.kernel.advi.start import Warm
from ppl.methods.diagnose.convergence import agreement, rhat
from ppl.methods.moves.batch import run_batch
from ppl.methods.nuts.chain import STATISTICS
from ppl.methods.run.settings import SampleSettings

SKEWED = GaussianTarget(np.array([3.0, -2.0]), np.array([[4.0, 1.8], [1.8, 1.0]]), shift=5.0)


def chains_of(target, inits=(2.0,) * 4, listen=lambda progress: None, **settings):
    return run_batch(target, inits, SampleSettings(**settings), np.random.default_rng(1), listen)


def draws_of(chains, k=0):
    return np.array([chain.draws.u[:, k] for chain in chains])


def test_chains_have_the_quantiles_of_the_target_and_r_hat_and_ess_that_say_so():
    chains = chains_of(LogGamma(), num_samples=2000)
    draws = draws_of(chains)
    assert draws.shape == (4, 2000) and rhat(draws) < 1.005
    size = agreement(draws)[0]
    assert size > 3000
    for p in (0.05, 0.5, 0.95):
        share = np.mean(draws < stats.loggamma(0.7).ppf(p))
        assert share == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / size))


def test_statistics_are_those_of_each_draw():
    chain = chains_of(SKEWED, num_samples=1000)[2]
    found = dict(zip(STATISTICS, chain.draws.statistics.T, strict=True))
    np.testing.assert_allclose(found["logp"], SKEWED.log_densities(chain.draws.u))
    kinetic = found["energy"] + found["logp"]
    assert (kinetic > -1e-9).all() and kinetic.mean() == pytest.approx(1.0, abs=0.2)  # half of the dimension
    assert found["mean_tree_accept"].mean() == pytest.approx(0.8, abs=0.1) and not found["diverging"].any()
    assert (found["n_steps"] < 2 ** found["depth"]).all() and (found["step_size"] > 0).all()
    np.testing.assert_allclose(chain.inverse_metric, np.diag(SKEWED.covariance), rtol=0.5)


def test_a_larger_delta_makes_smaller_steps():
    usual, small = (chains_of(SKEWED, num_samples=100, delta=delta)[0].stepsize for delta in (0.6, 0.95))
    assert small < 0.8 * usual


def test_modes_that_chains_do_not_leave_are_seen_by_r_hat():
    """No jump along one coordinate leads from one to the other."""
    far = Mixture(np.array([[-300.0, 300.0], [300.0, -300.0]]), np.ones(2), np.full(2, 0.5))
    starts = [far.means[k] for k in (0, 0, 1, 1)]
    chains = chains_of(far, starts, num_samples=200, num_warmup=50)
    assert rhat(draws_of(chains)) > 1.5


@pytest.mark.parametrize("samples, chains, warmup", [(1, 1, 1), (7, 2, 3), (33, 3, 20), (100, 130, 8)])
def test_as_many_draws_and_chains_as_asked_for(samples, chains, warmup):
    found = chains_of(SKEWED, (0.5,) * chains, num_samples=samples, num_warmup=warmup)
    assert [len(chain.draws.u) for chain in found] == [samples] * chains


def test_chains_begin_at_draws_of_an_earlier_q_and_in_their_support():
    family = FullRank(2)
    q = Warm(family, family.of(SKEWED.mean, np.linalg.cholesky(SKEWED.covariance)))
    assert abs(draws_of(chains_of(SKEWED, [q] * 4, num_warmup=1)).mean() - 3) < 0.3
    inside = chains_of(HalfSpace(2, 0.5), [np.array([1.0, 0.0])] * 2, num_samples=500)
    assert draws_of(inside).min() > 0.5
    with pytest.raises(InferenceError, match="not finite at the given"):
        chains_of(HalfSpace(2, 0.5), [np.array([-1.0, 0.0])])


def test_an_interruption_keeps_the_draws_so_far_and_progress_is_reported():
    seen = []

    def listen(progress):
        seen.append(progress)
        if progress.phase is Phase.SAMPLING and progress.iteration >= 320:
            raise KeyboardInterrupt

    chains = chains_of(SKEWED, listen=listen)
    assert [len(chain.draws.u) for chain in chains] == [320] * 4
    assert {progress.phase for progress in seen} == {Phase.WARMUP, Phase.SAMPLING}
