"""Chains that learn as they move keep to their target."""

import numpy as np
import pytest
from toy_targets import Gammas
from toy_targets import Gaussian as GaussianTarget

from ppl.methods.moves.sampler import Sampler


def test_what_chains_learn_does_not_bias_them():
    """In the metric of their own positions they were 0.29 +- 0.03 sds off in the log density."""
    target, means = Gammas(40), []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sampler = Sampler.at(target, np.log(rng.gamma(0.7, size=(24, 40))), rng)
        stages = [sampler.stage(moves, 0.3) for moves in (4, 6, 9, 13)]
        means.append(np.concatenate([stage.log_p for stage in stages[1:]]).mean())
    exact = target.log_densities(np.log(np.random.default_rng(99).gamma(0.7, size=(20_000, 40))))
    assert np.mean(means) == pytest.approx(exact.mean(), abs=0.18 * exact.std())


@pytest.mark.parametrize("chains", [2, 3, 4, 5])
def test_few_chains_move(chains):
    rng = np.random.default_rng(1)
    sampler = Sampler.at(GaussianTarget(np.zeros(2), np.eye(2)), rng.standard_normal((chains, 2)), rng)
    assert sampler.stage(20).u.std() == pytest.approx(1.0, abs=0.5)
