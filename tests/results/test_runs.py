"""Independent runs, and what a fit says of itself."""

import numpy as np
import pytest

from ppl.errors import InferenceError
from ppl.results.fit import load_fit, variational

RECIPES = ["meanfield", "fullrank", "lowrank", "fixed-draws", "laplace", "pathfinder", "optimize"]


def test_the_best_of_several_runs_is_kept_and_compared(toy):
    several = variational(toy, runs=3, seed=5)
    one_by_one = [variational(toy, seed=seed) for seed in (5, 6, 7)]
    best = max(one_by_one, key=lambda fit: fit.elbo)
    np.testing.assert_array_equal(several.draws()[:, :2], best.draws()[:, :2])
    assert several.verdict.spread.runs == 3 and not several.verdict.spread.apart
    assert several.verdict.spread.elbos == tuple(fit.elbo for fit in one_by_one)
    assert "Over 3 runs" in several.judgement and "agree" in several.judgement


def test_a_run_that_cannot_begin_says_so_in_words(make_model):
    class Nowhere(type(make_model().condition({}))):
        def log_density_gradient(self, u, propto=False, jacobian=True):
            return np.nan, np.full(2, np.nan)

    with pytest.raises(InferenceError, match="random starting points"):
        variational(Nowhere(), runs=2)


def test_less_than_one_run_is_refused(toy):
    with pytest.raises(InferenceError, match="runs = 0 is out of range"):
        variational(toy, runs=0)


@pytest.mark.parametrize("algorithm", RECIPES)
def test_a_saved_fit_of_any_recipe_comes_back_with_its_draws(toy, make_model, tmp_path, algorithm):
    fit = variational(toy, algorithm=algorithm, draws=50)
    fit.save(tmp_path / "fit.json")
    again = load_fit(tmp_path / "fit.json", make_model(), toy.data)
    np.testing.assert_array_equal(again.draws(), fit.draws())
    np.testing.assert_equal(again.verdict.khat, fit.verdict.khat)
    assert again.notes == fit.notes and again.judgement == fit.judgement


def test_optimize_leaves_the_jacobian_out_unless_it_is_asked_for(toy):
    asked = []

    class Watched(type(toy)):
        def log_density(self, u, propto=False, jacobian=True):
            return self.log_density_gradient(u, propto, jacobian)[0]

        def log_density_gradient(self, u, propto=False, jacobian=True):
            asked.append(jacobian)
            return super().log_density_gradient(u)

    for setting, expected in ((None, {False}), (True, {True})):
        asked.clear()
        variational(Watched(), algorithm="optimize", draws=1, jacobian=setting)
        assert set(asked) == expected


def test_the_judgement_names_the_coordinates(toy):
    class Kinked(type(toy)):
        """mu leans: a density that no Gaussian fits."""

        def log_density_gradient(self, u, propto=False, jacobian=True):
            tail = np.exp(-3 * u[0])
            return float(-u[0] - tail - 0.5 * u[1] ** 2), np.array([-1 + 3 * tail, -u[1]])

    fit = variational(Kinked(), algorithm="fullrank", anneal=False)
    assert fit.verdict.warns and "mu (k-hat" in fit.judgement
