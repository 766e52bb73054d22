import numpy as np
import pytest

from ppl.results.fits.fit import variational

pytest.importorskip("arviz")


def test_groups_follow_the_names(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    inference = fit.to_arviz()
    assert set(inference.groups()) == {"posterior", "posterior_predictive", "observed_data", "sample_stats"}
    assert np.array_equal(inference.posterior["theta"].values[0], fit.stan_variable("theta"))
    assert np.array_equal(inference.posterior_predictive["y"].values[0], fit.stan_variable("y_rep"))
    assert inference.sample_stats["lp"].shape == (1, 40)


COORDS = {"side": ["left", "right"], "unused": [1, 2, 3]}


def test_dimensions_are_found_by_their_length_or_given(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    theta = fit.to_arviz(coords=COORDS).posterior["theta"]
    assert theta.dims == ("chain", "draw", "side") and theta.side.values.tolist() == ["left", "right"]
    both = {**COORDS, "other": ["a", "b"]}
    assert fit.to_arviz(coords=both).posterior["theta"].dims[2] == "theta_dim_0"
    given = fit.to_arviz(coords=both, dims={"theta": ["other"]})
    assert given.posterior["theta"].other.values.tolist() == ["a", "b"]
    assert given.observed_data["y"].shape == (2,)


def test_draws_as_xarray(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    dataset = fit.draws_xr(coords=COORDS)
    assert dict(dataset.sizes) == {"chain": 1, "draw": 40, "side": 2}
    assert np.array_equal(dataset["theta"].values[0], fit.stan_variable("theta"))
    assert dataset["theta"].sel(side="right").shape == (1, 40) and dataset["mu"].dims == ("chain", "draw")
