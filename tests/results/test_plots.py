"""`fit.plot`: pictures in Python, of a fit with factors, two outcomes and bounds."""

import numpy as np
import pytest

from ppl.compile import compile_model
from ppl.errors import ArgumentError, DataError, UnknownName
from ppl.results.pictures.gather import files_of, supports_of

pytest.importorskip("matplotlib")
from matplotlib import pyplot

PROGRAM = """
data { int N; int J; array[N] int<lower=1, upper=J> clinic; real top;
  array[N] int<lower=0, upper=1> ill; vector<lower=0>[N] dose; }
parameters { vector[J] u; real<lower=0> s; real<upper=top> m; simplex[2] p; real<lower=s> above; }
model { u ~ normal(0, 1); s ~ normal(0, 1); m ~ normal(0, 1); p ~ dirichlet([2, 2]'); above ~ normal(0, 9);
  ill ~ bernoulli_logit(u[clinic]); dose ~ lognormal(m, 1); }
generated quantities { real<lower=0, upper=1> q = inv_logit(u[1]); }
"""


@pytest.fixture(scope="module")
def fit():
    clinic = ["Hull", "Bath", "Hull", "Bath", "York", "Bath"]
    data = {"clinic": clinic, "ill": [0, 1, 0, 1, 1, 1], "dose": [1.0, 2, 3, 2, 1, 2], "top": 5, "N": 6}
    return compile_model(PROGRAM).condition(data).variational(algorithm="laplace", draws=100, seed=1)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_axes_have_labels_of_factors_and_are_those_of_pyplot(fit):
    axes = fit.plot.forest("u", transform=np.exp, log=True, line=1.0, narrow=True)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["u[Bath]", "u[Hull]", "u[York]"]
    assert axes.figure.number in pyplot.get_fignums() and axes.figure.get_figwidth() == 4
    each = fit.plot.marginals(["u[Hull]", "q"])
    assert [axes.get_title(loc="left") for axes in each] == ["u[Hull]", "q"]


def test_a_picture_of_each_outcome_or_of_one_by_group(fit):
    assert [*fit.plot.ppc(narrow=True)] == ["ill", "dose"]
    groups = fit.plot.groups(outcome="ill", by="clinic")
    assert [text.get_text() for text in groups.get_yticklabels()] == ["Bath (3)", "Hull (2)", "York (1)"]
    assert list(groups.lines[-1].get_xdata()) == [1, 0, 1]
    assert fit.plot.khat(outcome="dose").get_xlabel() == "row of dose"
    assert fit.plot.loo_pit(outcome="dose").get_xlabel() == "LOO-PIT of dose"
    with pytest.raises(UnknownName, match="no outcome 'doze'"):
        fit.plot.ppc(outcome="doze")
    with pytest.raises(DataError, match="there is no column z"):
        fit.plot.groups(by="z")


def test_the_users_axes_hold_a_picture_of_one_panel(fit):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert fit.plot.forest("u", ax=left) is left and len(figure.axes) == 2 and not right.lines
    with pytest.raises(ArgumentError, match="ax cannot hold a picture of 3 panels"):
        fit.plot.marginals("u", ax=left)
    with pytest.raises(DataError, match="energy needs the energy of chains"):
        fit.plot.energy()
    with pytest.raises(
        AttributeError, match="there is no picture forrest; there are covariance, effects, elbo"
    ):
        fit.plot.forrest  # noqa: B018
    with pytest.raises(AttributeError, match=r"write plot.marginals. There are"):
        fit.plot.posterior("u")
    with pytest.raises(AttributeError, match=r"name a picture, such as plot.forest\(\)"):
        fit.plot()
    with pytest.raises(DataError, match=r'effects needs a predictor.*effects\("age"\)'):
        fit.plot.effects()
    with pytest.raises(DataError, match='groups of observations: a column of the data, by="clinic"'):
        fit.plot.groups()


@pytest.mark.rotate
def test_the_prior_stands_beside_the_posterior(fit):
    axes = fit.plot.prior("s")
    assert [line.get_label() for line in axes.lines if not line.get_label().startswith("_")] == [
        "posterior",
        "prior",
    ]
    assert axes.lines[0].get_xdata()[0] == 0  # where the support ends


def test_supports_are_those_of_declarations(fit):
    inf = np.inf
    assert supports_of(fit.posterior) == {
        "u": (-inf, inf), "s": (0, inf), "m": (-inf, 5), "p": (0, 1), "q": (0, 1)
    }  # fmt: skip


def test_a_fit_is_what_its_file_is_read_as(fit, tmp_path):
    from ppl.results.files.read_csv import read_draws

    fit.save_csv(tmp_path / "a.csv")
    (own,), read = files_of(fit), read_draws(tmp_path / "a.csv")
    assert np.array_equal(own.draws, read.draws) and own.columns == read.columns
    assert own.provenance == read.provenance and own.labels == read.labels
    assert own.parameters == read.parameters and own.method == read.method
    assert np.array_equal(own.log_ratios, read.log_ratios)
