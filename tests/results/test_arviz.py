import numpy as np
import pytest

from ppl.results.fit import variational

pytest.importorskip("arviz")


def test_groups_follow_the_names(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    inference = fit.to_arviz()
    assert set(inference.groups()) == {"posterior", "posterior_predictive", "observed_data", "sample_stats"}
    assert np.array_equal(inference.posterior["theta"].values[0], fit.stan_variable("theta"))
    assert np.array_equal(inference.posterior_predictive["y"].values[0], fit.stan_variable("y_rep"))
    assert inference.sample_stats["lp"].shape == (1, 40)
