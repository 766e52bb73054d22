import re

import numpy as np
import pytest

import ppl
from ppl.kernel.draws.columns import variables
from ppl.results.files.arviz_versions import group_names
from ppl.results.files.axes import Axes
from ppl.results.files.formats import save_draws
from ppl.results.files.readers import read_file
from ppl.results.fits.fit import variational

pytest.importorskip("arviz")


def test_groups_follow_the_names(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    inference = fit.to_arviz()
    assert set(group_names(inference)) == {
        "posterior",
        "posterior_predictive",
        "observed_data",
        "sample_stats",
    }
    assert np.array_equal(inference.posterior["theta"].values[0], fit.stan_variable("theta"))
    assert np.array_equal(inference.posterior_predictive["y"].values[0], fit.stan_variable("y_rep"))
    assert inference.sample_stats["lp"].shape == (1, 40)


COORDS = {"side": ["left", "right"]}


def test_dimensions_are_found_by_their_length_or_given(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    theta = fit.to_arviz(coords=COORDS).posterior["theta"]
    assert theta.dims == ("chain", "draw", "side") and theta.side.values.tolist() == ["left", "right"]
    given = fit.to_arviz(coords={"other": ["a", "b"]}, dims={"theta": ["other"]})
    assert given.posterior["theta"].other.values.tolist() == ["a", "b"]
    assert given.observed_data["y"].shape == (2,)


@pytest.mark.parametrize(
    ("coords", "dims", "words"),
    [
        ({"side": ["left"]}, {}, "no axis takes the 1 labels of side; the lengths are theta 2"),
        ({"a": ["left", "right"], "b": ["l", "r"]}, {}, "Name the axis in dims"),
        ({"side": ["left"]}, {"theta": ["side"]}, "side has 1 labels, but theta has 2 along it"),
        ({}, {"theta": ["side", "row"]}, "theta has 1 axes, not 2"),
        ({}, {"thta": ["side"]}, "no variable 'thta'; did you mean theta?"),
    ],
)
def test_labels_that_fit_no_axis_are_refused(coords, dims, words):
    with pytest.raises((ppl.ArgumentError, ppl.UnknownName), match=re.escape(words)):
        Axes(coords, dims, {"theta": ["K"]}, tuple(coords)).of_all({"theta": (2,), "mu": ()})


def test_draws_as_xarray(toy):
    fit = variational(toy, iter=500, draws=40, eta=0.3)
    dataset = fit.draws_xr(coords=COORDS)
    assert dict(dataset.sizes) == {"chain": 1, "draw": 40, "side": 2}
    assert np.array_equal(dataset["theta"].values[0], fit.stan_variable("theta"))
    assert dataset["theta"].sel(side="right").shape == (1, 40) and dataset["mu"].dims == ("chain", "draw")


PROGRAM = """
data { int J; int K; array[J] vector[K] y; }
transformed data { int M = K + 1; }
parameters { array[J] vector[K] theta; matrix[K, K] a; vector[M] b; vector[K + 1] c; vector[2] d; }
model {
  for (j in 1:J) y[j] ~ normal(theta[j], 1);
  to_vector(a) ~ normal(0, 1); b ~ normal(c, 1); c ~ normal(0, 1); d ~ normal(0, 1);
}
generated quantities { array[J] vector[K] y_rep = y; }
"""
DIMS = {"theta": ("J", "K"), "a": ("a_dim_0", "a_dim_1"), "b": ("M",), "c": ("c_dim_0",), "d": ("d_dim_0",)}


@pytest.fixture(scope="module")
def declared():
    data = {"J": 4, "K": 2, "y": np.zeros((4, 2))}
    return ppl.compile_model(PROGRAM).condition(data).laplace(draws=20)


def test_dimensions_are_the_declared_sizes(declared):
    found = declared.to_arviz()
    for name, dims in DIMS.items():
        assert found["posterior"][name].dims == ("chain", "draw", *dims)
        assert declared.draws_xr()[name].dims == ("chain", "draw", *dims)
    assert found["posterior"]["theta"].values.shape == (1, 20, 4, 2)
    assert found["posterior_predictive"]["y"].dims == ("chain", "draw", "J", "K")
    assert found["observed_data"]["y"].dims == ("J", "K")


def test_labels_go_to_the_declared_size_before_a_size_of_the_same_length(declared):
    found = declared.to_arviz({"K": ["low", "high"], "school": list("ABCD")})["posterior"]
    assert found["theta"].dims == ("chain", "draw", "school", "K")
    assert found["theta"].sel(school="B", K="high").shape == (1, 20)
    assert found["d"].dims == ("chain", "draw", "d_dim_0")


def test_a_size_of_two_lengths_has_no_name():
    axes = Axes(declared={"y": ["N"], "z": ["N"], "x": ["K"]})
    assert axes.of_all({"y": [3], "z": [2], "x": [3]}) == {"y": [None], "z": [None], "x": ["K"]}


def test_the_log_likelihood_and_replications_are_called_by_their_outcome(tmp_path):
    """Those that the program computes itself, too; files give them back by the program's names."""
    program = (
        "data { vector[2] x; vector[3] z; } parameters { real m; } "
        "model { m ~ normal(0, 1); x ~ normal(m, 1); z ~ normal(m, 1); } "
        "generated quantities { vector[3] z_rep = rep_vector(m, 3); "
    )
    data = {"x": [1, 2], "z": [1, 2, 3]}
    own = "vector[2] log_lik = rep_vector(-1, 2); "
    fits = [
        ppl.compile_model(text + "}").condition(data).laplace(draws=20)
        for text in (program, program.replace("z ~ normal(m, 1);", "") + own, program + own)
    ]
    groups = [fit.to_arviz() for fit in fits]
    assert all([*found["posterior_predictive"]] == ["z"] for found in groups)
    assert "log_likelihood" not in group_names(groups[0])
    assert [[*found["log_likelihood"]] for found in groups[1:]] == [["x"], ["log_lik"]]
    asked = fits[0].to_arviz(log_likelihood=True)
    assert {name: x.shape for name, x in asked["log_likelihood"].items()} == {
        "x": (1, 20, 2),
        "z": (1, 20, 3),
    }
    save_draws(fits[1], tmp_path / "a.nc")
    assert {*variables(read_file(tmp_path / "a.nc").columns)} >= {"z_rep", "log_lik"}
