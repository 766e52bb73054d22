"""The models with discrete parameters: the density of their sums by hand; draws, files and minibatches."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.density.rows import by_rows
from ppl.kernel.draws.columns import reshape
from ppl.stages import show_stage
from ppl.structure.discrete.affine import known

MODELS = Path(__file__).parents[3] / "models"
NAMES = sorted(file.parent.name for file in MODELS.glob("*/by_hand.stan"))


@cache
def posteriors(name: str) -> tuple[ppl.Posterior, ppl.Posterior]:
    """The program with its discrete parameters, and the one without."""
    data = MODELS / name / f"{name}.data.json"
    files = MODELS / name / f"{name}.model", MODELS / name / "by_hand.stan"
    discrete, by_hand = (ppl.compile_model(file).condition(data) for file in files)
    return discrete, by_hand


def test_there_are_seven() -> None:
    assert len(NAMES) == 7


@pytest.mark.rotate
@pytest.mark.parametrize("name", NAMES)
def test_density_and_gradient_are_those_of_the_sum_by_hand(name: str) -> None:
    discrete, by_hand = posteriors(name)
    assert discrete.param_unc_names() == by_hand.param_unc_names()
    rng = np.random.default_rng(6)
    for _ in range(3):
        u = rng.normal(size=discrete.param_unc_num()) * 0.5
        value, gradient = discrete.log_density_gradient(u)
        wanted, slopes = by_hand.log_density_gradient(u)
        assert value == pytest.approx(wanted, rel=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_the_printed_program_has_their_density_too(name: str) -> None:
    discrete, _ = posteriors(name)
    folder = MODELS / name
    text = show_stage(folder / f"{name}.model", "program")
    printed = ppl.compile_model(text).condition(folder / f"{name}.data.json")
    u = np.random.default_rng(8).normal(size=discrete.param_unc_num()) * 0.5
    value, gradient = printed.log_density_gradient(u)
    wanted, slopes = discrete.log_density_gradient(u)
    assert value == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-10)


def test_a_product_with_a_discrete_zero_is_printed_as_zero() -> None:
    """Stan's derivative of bernoulli_lpmf(1 | 0 * p) in p is nan."""
    text = show_stage(MODELS / "cormack_jolly_seber" / "cormack_jolly_seber.model", "program")
    assert "bernoulli_lpmf(y[i, t] | alive_place - 1 == 0 ? 0 : (alive_place - 1) * p[t - 1])" in text


@pytest.mark.rotate
@pytest.mark.parametrize("name", NAMES)
def test_the_plan_begins_with_how_they_are_summed_out(name: str) -> None:
    plan = show_stage(MODELS / name / f"{name}.model", "plan")
    assert plan.startswith("Marginalised in this order")
    assert "largest table" in plan


@pytest.mark.rotate
@pytest.mark.parametrize("name", NAMES)
def test_probabilities_sum_to_one_and_fit_the_draws(name: str) -> None:
    posterior, _ = posteriors(name)
    u = np.random.default_rng(7).normal(size=posterior.param_unc_num()) * 0.3
    rows = posterior.param_constrain_draws(np.tile(u, (40, 1)), np.random.default_rng(1))
    columns = posterior.param_names(include_tp=True, include_gq=True)
    for parameter in posterior.model.discrete.parameters:
        found = posterior.probabilities(u[None], parameter.name)[0]
        np.testing.assert_allclose(found.sum(-1), 1, atol=1e-10)
        drawn = reshape(rows, columns, parameter.name)
        values = known(parameter.lower) + np.arange(found.shape[-1])
        share = (drawn[..., None] == values).mean(0)
        assert np.abs(share - found).max() < 0.45
        assert not share[found < 1e-9].any()


def test_draws_are_integers_everywhere(tmp_path: Path) -> None:
    pytest.importorskip("arviz")
    posterior, _ = posteriors("zero_inflated_poisson")
    fit = posterior.variational(seed=1, draws=50)
    draws = fit.stan_variable("never")
    assert draws.dtype == np.int64 and draws.shape == (50, 200) and set(np.unique(draws)) == {0, 1}
    assert fit.to_arviz().posterior["never"].dtype == np.int64
    assert fit.draws_xr()["never"].dtype == np.int64
    fit.save_csv(tmp_path / "draws.csv")
    last = (tmp_path / "draws.csv").read_text().strip().splitlines()
    row = [line for line in last if not line.startswith("#")][-1].split(",")
    assert set(row[-200:]) == {"0", "1"}
    data = (MODELS / "zero_inflated_poisson" / "zero_inflated_poisson.data.json").read_text()
    counts = np.array(json.loads(data)["y"])
    assert not draws[:, counts > 0].any()
    chances = fit.probabilities("never")
    assert chances.shape == (200, 2) and np.abs(draws.mean(0) - chances[:, 1]).max() < 0.35
    assert fit.most_probable("never").shape == (50, 200)
    with pytest.raises(ppl.InferenceError, match="not a discrete parameter"):
        fit.probabilities("lambda")


def test_the_program_of_probabilities_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior, _ = posteriors("zero_inflated_poisson")
    us = np.zeros((2, posterior.param_unc_num()))
    first = posterior.probabilities(us, "never")
    monkeypatch.setattr(type(posterior.model), "changed", lambda *args, **keywords: pytest.fail("compiled"))
    np.testing.assert_array_equal(posterior.probabilities(us, "never"), first)


def test_rows_of_a_mixture_are_taken_a_few_at_a_time() -> None:
    posterior, by_hand = posteriors("discrete_mixture")
    batches = by_rows(posterior)
    u = np.zeros(posterior.param_unc_num())
    each = [batches.minibatch(np.arange(k, k + 50)).log_density_gradient(u)[0] for k in range(0, 300, 50)]
    assert np.mean(each) == pytest.approx(by_hand.log_density(u))


def test_a_saved_fit_has_the_discrete_parameters_again(tmp_path: Path) -> None:
    posterior, _ = posteriors("change_point")
    fit = posterior.variational(seed=2, draws=20, algorithm="laplace")
    fit.save(tmp_path / "fit.json")
    folder = MODELS / "change_point"
    again = ppl.load_fit(tmp_path / "fit.json", posterior.model, folder / "change_point.data.json")
    np.testing.assert_array_equal(again.stan_variable("change"), fit.stan_variable("change"))
    years = fit.stan_variable("year")
    assert np.median(years) in range(1886, 1897)
