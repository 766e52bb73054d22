"""A fit that begins at an earlier one, and more draws of a fit that was saved."""

from itertools import product

import numpy as np
import pytest
from scipy import special

from ppl import compile_model, load_fit
from ppl.errors import DataError, InferenceError
from ppl.kernel.advi.families import FAMILIES, family_of
from ppl.kernel.advi.start import Warm
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.diagnose.level import Level
from ppl.methods.initialise.starting import from_q
from ppl.methods.recipes import RECIPES
from ppl.results.fits.fit import open_fit
from ppl.run.identity import data_hash
from ppl.run.initial import start_for
from ppl.run.posterior_target import PosteriorTarget

PROGRAM = """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(0, 10); sigma ~ exponential(1); y ~ normal(mu, sigma); }
generated quantities { real next = normal_rng(mu, sigma); }
"""
RNG = np.random.default_rng(0)
DATA = {"N": 50, "y": RNG.normal(3, 2, 50)}
MORE_DATA = {"N": 60, "y": np.concatenate([DATA["y"], RNG.normal(3, 2, 10)])}
ALONE = {"refine": False, "correct": False, "iter": 300, "eval_elbo": 50}


@pytest.fixture(scope="module")
def posterior():
    return compile_model(PROGRAM).condition(DATA)


@pytest.fixture(scope="module")
def path(posterior, tmp_path_factory):
    path = tmp_path_factory.mktemp("warm") / "fit.json"
    posterior.variational(upgrade=False).save(path)
    return path


OF_ONE_Q = [name for name in RECIPES if name not in ("dsvi-ard", "nested", "pathfinder", "optimize")]


@pytest.mark.rotate
@pytest.mark.parametrize("algorithm", OF_ONE_Q)
@pytest.mark.parametrize("start", ["pathfinder", "random"])
def test_a_fit_begins_at_the_saved_q(posterior, path, algorithm, start):
    q = start_for(posterior, path)
    assert isinstance(q, Warm)
    fit = posterior.variational(algorithm=algorithm, init=path, start=start, **ALONE)
    np.testing.assert_array_equal(fit.result.path.start, q.mean)
    assert abs(fit.elbo - load_fit(path, posterior.model, DATA).elbo) < 0.2


def test_the_first_q_is_the_saved_one_for_the_same_family_and_near_it_for_others(posterior, path):
    warm = start_for(posterior, path)
    for name, scaled in product(FAMILIES, (True, False)):
        family = family_of(name, 2)
        params = (begun := from_q(PosteriorTarget(posterior), family, warm, scaled)).back(begun.params)
        np.testing.assert_allclose(family.mean(params), warm.mean, rtol=1e-12)
        np.testing.assert_allclose(family.scales(params), warm.family.scales(warm.params), rtol=1e-12)


def test_full_rank_takes_the_correlations(posterior, tmp_path):
    posterior.variational(algorithm="laplace").save(tmp_path / "fit.json")
    warm = start_for(posterior, tmp_path / "fit.json")
    for scaled in (True, False):
        begun = from_q(PosteriorTarget(posterior), family_of("fullrank", 2), warm, scaled)
        found = begun.family.covariance(begun.back(begun.params))
        np.testing.assert_allclose(found, warm.family.covariance(warm.params), rtol=1e-12)


def test_more_data_are_fitted_from_there(posterior, path):
    fit = posterior.model.condition(MORE_DATA).variational(init=path)
    assert fit.outcome.converged
    assert fit.summary()["mu"].mean == pytest.approx(np.mean(MORE_DATA["y"]), abs=0.1)


def test_other_parameters_are_refused_by_name(path):
    other = compile_model(PROGRAM.replace("real mu", "real nu").replace("mu", "nu")).condition(DATA)
    with pytest.raises(DataError, match="the first that differ are mu there and nu here"):
        other.variational(init=path)


def test_a_fit_where_the_density_is_zero_is_refused_by_name(path):
    other = compile_model(PROGRAM.replace("mu ~ normal(0, 10)", "mu ~ uniform(-1, 1)")).condition(DATA)
    with pytest.raises(DataError, match=r"fit.json: the log density .* not finite at the mean(.|\n)*uniform"):
        other.variational(init=path)
    assert isinstance(start_for(other, path, whole=False), Warm)  # as minibatches, whose rows are too many


def test_another_positive_transform_is_refused(path):
    other = compile_model(PROGRAM, positive_transform="softplus").condition(DATA)
    with pytest.raises(DataError, match="positive transform log, not softplus"):
        other.variational(init=path)


def test_more_draws_of_a_saved_fit(posterior, path, tmp_path):
    fit = load_fit(path, posterior.model, DATA)
    more = fit.more(3000)
    assert more.draws().shape == (3000, 3)
    assert not set(more.draws()[:, 0]) & set(fit.draws()[:, 0])
    np.testing.assert_array_equal(more.result.params, fit.result.params)
    np.testing.assert_allclose(more.summary()["mu"].mean, fit.summary()["mu"].mean, atol=0.05)
    np.testing.assert_array_equal(fit.more(10).draws(), fit.more(10).draws())
    more.save_csv(tmp_path / "more.csv")
    assert len((tmp_path / "more.csv").read_text().splitlines()) > 3000


def test_more_draws_are_saved_and_read_back(posterior, path, tmp_path):
    more = load_fit(path, posterior.model, DATA).more(50, seed=9)
    more.save(tmp_path / "more.json")
    again = load_fit(tmp_path / "more.json", posterior.model, DATA)
    np.testing.assert_array_equal(again.table.rows, more.table.rows)
    assert again.provenance == more.provenance


@pytest.mark.rotate
def test_more_draws_of_chains_go_on_where_these_ended(tmp_path):
    """The variance of log sigma is trigamma((N - 1) / 2) / 4 with flat priors; the file has the chains."""
    program = "data { int N; vector[N] y; } parameters { real mu; real<lower=0> sigma; } "
    program += "model { target += -log(sigma); y ~ normal(mu, sigma); }"
    model, data = compile_model(program), {"N": 8, "y": [1, 2, 4, 3, 5, 2, 4, 3]}
    fit = model.condition(data).variational(move=True, draws=400)
    assert fit.verdict.made is DrawSource.MOVED
    fit.save(tmp_path / "fit.json")
    more = fit.more(2000, seed=3)
    again = open_fit(tmp_path / "fit.json", model, data).more(2000, seed=3)
    np.testing.assert_array_equal(again.draws_u, more.draws_u)
    assert again.level is Level.GOOD and again.summary()["mu"].mean == more.summary()["mu"].mean
    row, sd = more.summary()["mu"], np.sqrt(12 / 7 / 8 * 7 / 5)  # Student's t of 7 degrees
    assert abs(row.mean - 3) < 4 * row.se and row.sd == pytest.approx(sd, rel=0.15)
    assert more.draws_u[:, 1].std() == pytest.approx(np.sqrt(special.polygamma(1, 3.5) / 4), rel=0.1)
    more.save(tmp_path / "more.json")
    np.testing.assert_array_equal(load_fit(tmp_path / "more.json", model, data).draws_u, more.draws_u)


def test_more_draws_of_several_gaussians_are_refused(posterior):
    with pytest.raises(InferenceError, match="need another run, with draws = 10"):
        posterior.variational(algorithm="pathfinder", draws=20).more(10)


def test_the_hash_of_data_does_not_depend_on_how_they_are_written(tmp_path):
    lists = {"N": 3, "x": [[1, 2], [3, 4], [5, 6]], "y": [1.5, "NaN", "Inf"]}
    np.save(tmp_path / "x.npy", np.array(lists["x"], dtype=float))
    arrays = {
        "y": np.array([1.5, np.nan, np.inf]),
        "x": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "N": np.int64(3),
    }
    assert data_hash(lists) == data_hash(arrays)
    assert data_hash(lists) != data_hash({**lists, "x": [[1, 2, 3], [4, 5, 6]]})
