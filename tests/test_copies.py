"""Copies and pickles of models, posteriors and fits, other processes, and threads."""

import copy
import multiprocessing
import operator
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import ppl
from ppl.extend import library, unary

PROGRAM = """
data { int<lower=0> N; vector[N] y; }
transformed data { real shift = normal_rng(0, 1); }
parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(shift, 1); sigma ~ exponential(1); y ~ normal(mu, sigma); }
generated quantities { real y_rep = normal_rng(mu, sigma); }
"""
DISCRETE = """
data { int N; vector[N] y; array[N] int group; }
parameters { ordered[2] mu; array[N] int<lower=1, upper=2> z; }
model { mu ~ normal(0, 5); for (n in 1:N) y[group[n]] ~ normal(mu[z[n]], 1); }
"""
DATA = {"N": 4, "y": np.array([1.0, 2.0, 0.5, 1.5])}
QUICK = {"iter": 200, "draws": 50, "seed": 3}
WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy, "copy": copy.copy}


# What a spawned process calls, it has to be able to import: no function of this file.
fitted = operator.methodcaller("variational", **QUICK)
refused = operator.methodcaller("condition", {"N": 1})


@pytest.fixture(scope="module")
def posterior():
    return ppl.compile_model(PROGRAM, positive_transform="softplus").condition(DATA, seed=5)


@pytest.fixture(scope="module")
def fit(posterior):
    return fitted(posterior)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_a_posterior_has_its_density_and_seed(way, posterior):
    again, u = WAYS[way](posterior), np.array([0.3, -0.2])
    assert again.log_density(u) == posterior.log_density(u) and again.model.compilation.softplus
    assert repr(again) == repr(posterior) and type(again) is ppl.Posterior


@pytest.mark.rotate
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_a_fit_is_that_fit(way, fit, tmp_path):
    again = WAYS[way](fit)
    assert np.array_equal(again.draws(), fit.draws()) and again.settings == fit.settings
    assert again.judgement == fit.judgement and np.array_equal(again.sample(5), fit.sample(5))
    again.save(tmp_path / "again.json")
    fit.save(tmp_path / "fit.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "fit.json").read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_a_program_whose_sums_wait_for_data_can_be_copied(way):
    given = {"N": 2, "y": [0.0, 3.0], "group": [2, 1]}
    posterior = ppl.compile_model(DISCRETE).condition(given)
    u = np.array([0.1, 0.2])
    assert WAYS[way](posterior).log_density(u) == posterior.log_density(u)
    assert WAYS[way](posterior.model).condition(given).log_density(u) == posterior.log_density(u)


def test_a_model_keeps_its_name_and_what_was_left_out(tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    model = ppl.compile_model(tmp_path / "toy.model", without=["hoist-data"])
    (tmp_path / "toy.model").write_text("parameters { }")
    again = pickle.loads(pickle.dumps(model))
    assert again.source == model.source and again == model
    assert again.compilation.without == {"hoist-data"}


def test_the_pickle_holds_text_and_data_alone(posterior):
    text = pickle.dumps(posterior)
    assert b"normal_rng" in text and len(text) < 2000


def test_a_part_of_a_model_says_that_it_cannot_be_copied():
    program = "parameters { vector[2] b; } model { b ~ normal(0, 1); target += -sum(b^4); }"
    stripped, _ = ppl.compile_model(program).condition().without_prior("b")
    with pytest.raises(TypeError, match="no text of its own"):
        pickle.dumps(stripped)


def cube(xp, x):
    return x * x * x


@pytest.mark.parametrize("way", WAYS)
def test_a_model_with_words_of_ones_own_can_be_copied(way):
    own = library(functions=[unary("cube", "x cubed", cube)])
    program = "parameters { real x; } model { target += -cube(x) * x; }"
    posterior = ppl.compile_model(program, library=own).condition()
    assert WAYS[way](posterior).log_density([0.5]) == posterior.log_density([0.5]) == -0.0625


@pytest.mark.rotate
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_processes_take_posteriors_and_give_fits(start, posterior, fit):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} here")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)) as pool:
        assert np.array_equal(pool.submit(fitted, posterior).result().draws(), fit.draws())
        with pytest.raises(ppl.DataError, match="y"):
            pool.submit(refused, posterior.model).result()


@pytest.mark.rotate
def test_threads_give_what_one_after_the_other_does(posterior, fit):
    with ThreadPoolExecutor(4) as pool:
        for again in pool.map(fitted, [posterior] * 4):
            assert np.array_equal(again.draws(), fit.draws())
        points = np.random.default_rng(1).normal(size=(200, 2))
        together = list(pool.map(posterior.log_density_gradient, points))
    alone = [posterior.log_density_gradient(u) for u in points]
    assert all(a == b and np.array_equal(s, t) for (a, s), (b, t) in zip(together, alone, strict=True))
