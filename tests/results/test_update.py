"""A fit updated by new rows: its density, new groups, what is refused, and that it is saved."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import ppl
from ppl.density.updated import Earlier
from ppl.inference.correct.population import Worth
from ppl.inference.diagnose.level import Level
from ppl.inference.families.full_rank import FullRank
from ppl.inference.refine.moments import matched

NORMAL = """
data { int N; vector[N] y; }
parameters { real m; }
model { m ~ normal(0, 2); y ~ normal(m, 1); }
"""
GROUPS = """
data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; }
parameters { real m; real<lower=0> s; vector[J] e; }
model { m ~ normal(0, 2); s ~ normal(0, 1); e ~ normal(m, s); y ~ normal(e[g], 1); }
"""


EFFECTS = np.array([0.0, 3.0, 1.0, -1.0, 2.0, 0.5])


def of_groups(n, groups, seed=0, effects=EFFECTS):
    rng = np.random.default_rng(seed)
    g = rng.integers(1, groups + 1, n)
    return {"N": n, "J": groups, "g": g, "y": rng.normal(effects[g - 1], 1)}


def test_updates_of_a_conjugate_normal_are_exact():
    rng = np.random.default_rng(0)
    batches = [rng.normal(1, 1, n) for n in (5, 1, 4, 8)]
    fit = ppl.compile_model(NORMAL).condition({"N": 5, "y": batches[0]}).variational(seed=1)
    for y in batches[1:]:
        fit = fit.update({"N": len(y), "y": y})
    y = np.concatenate(batches)
    precision = len(y) + 1 / 4
    (names, params) = (fit.posterior.param_unc_names(), fit.result.params)
    assert names == ["m"]
    np.testing.assert_allclose(params[0], y.sum() / precision, atol=1e-3)
    np.testing.assert_allclose(fit.result.family.scales(params), precision**-0.5, rtol=1e-2)
    assert fit.level is Level.GOOD and len(fit.verdict.updates) == 3
    assert "Updates so far: 3;" in fit.details


def test_log_evidence_of_an_update_is_that_of_the_new_rows_given_the_old():
    model, y = ppl.compile_model(NORMAL), np.array([0.3, 1.2, -0.4, 2.0])
    first = model.condition({"N": 2, "y": y[:2]}).variational(seed=1)
    whole = model.condition({"N": 4, "y": y}).variational(seed=1)
    given = first.update({"N": 2, "y": y[2:]}).log_evidence.value
    assert given == pytest.approx(whole.log_evidence.value - first.log_evidence.value, abs=0.01)


def grown():
    """The posterior of rows of 6 groups, of which a q knows 4, and that q."""
    model = ppl.compile_model(GROUPS)
    fit = model.condition(of_groups(60, 4)).variational(seed=1)
    return fit, fit.update(of_groups(20, 6, 1)).posterior


def test_density_is_q_the_new_rows_and_the_priors_of_new_groups():
    _, new = grown()
    earlier, rng = new.earlier, np.random.default_rng(2)
    plain = replace(new, earlier=None)
    for u in rng.normal(size=(5, 8)):
        value, gradient = new.log_density_gradient(u)
        x = dict(zip(new.param_names(), new.param_constrain(u), strict=True))
        e = np.array([x[f"e.{j}"] for j in range(1, 7)])
        priors = -0.5 * ((e[4:] - x["m"]) / x["s"]) ** 2 - np.log(x["s"]) - 0.5 * np.log(2 * np.pi)
        rows = -0.5 * (new.data["y"] - e[new.data["g"] - 1]) ** 2 - 0.5 * np.log(2 * np.pi)
        old = earlier.family.log_density(earlier.params, u[None, :6])[0]
        assert value == pytest.approx(old + priors.sum() + rows.sum(), abs=1e-9)
        assert new.log_density(u) == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose(gradient, approx_fprime(u, new.log_density), rtol=1e-4, atol=1e-4)
        assert plain.log_density(u) != pytest.approx(value)
    us = rng.normal(size=(5, 8))
    np.testing.assert_allclose(new.log_densities(us), [new.log_density(u) for u in us])
    np.testing.assert_allclose(new.log_density_gradients(us)[1], [new.log_density_gradient(u)[1] for u in us])


def test_new_groups_end_where_the_whole_fit_does():
    fit, _ = grown()
    old, new = of_groups(60, 4), of_groups(20, 6, 1)
    both = {"N": 80, "J": 6, **{k: np.concatenate([old[k], new[k]]) for k in ("g", "y")}}
    updated, whole = fit.update(new, draws=4000), fit.posterior.model.condition(both).variational(seed=1)
    for name in ("m", "s", "e"):
        a, b = updated.stan_variable(name), whole.stan_variable(name)
        assert np.abs((a.mean(axis=0) - b.mean(axis=0)) / b.std(axis=0)).max() < 0.2, name


def test_a_saved_update_is_read_back(tmp_path):
    fit, _ = grown()
    data = of_groups(20, 6, 1)
    updated = fit.update(data)
    updated.save(tmp_path / "fit.json")
    again = ppl.load_fit(tmp_path / "fit.json", fit.posterior.model, data)
    assert (again.draws() == updated.draws()).all()
    assert again.details == updated.details


def test_moments_of_a_gaussian_have_no_noise():
    family = FullRank(2)
    params = family.of(np.array([1.0, -1.0]), np.array([[1.0, 0.0], [0.5, 2.0]]))

    class Same:
        dim = 2

        def log_density(self, u):
            return float(family.log_density(params, u[None])[0])

        log_density_gradient = explain = None

    _, found, worth = matched(Same(), family, params, np.random.default_rng(0))
    np.testing.assert_allclose(found, params, atol=1e-9)
    assert worth.ess == pytest.approx(worth.n)


def test_moments_move_to_those_of_the_target():
    family, wanted = FullRank(2), FullRank(2).of(np.array([0.5, 0.2]), np.array([[1.2, 0.0], [0.4, 0.8]]))

    class Other:
        dim = 2

        def log_density(self, u):
            return float(family.log_density(wanted, u[None])[0])

        log_density_gradient = explain = None

    _, found, _ = matched(Other(), family, family.start(np.zeros(2)), np.random.default_rng(0))
    np.testing.assert_allclose(found, wanted, atol=0.1)


def test_a_q_that_was_far_from_its_posterior_makes_later_updates_poor():
    fit = ppl.compile_model(NORMAL).condition({"N": 3, "y": [1, 2, 3]}).variational(seed=1)
    cases = ((0.3, 1900.0, Level.GOOD), (0.6, 1900.0, Level.USABLE), (0.3, 1500.0, Level.USABLE))
    for khat, ess, level in (*cases, (0.3, 900.0, Level.POOR), (0.9, 1900.0, Level.POOR)):
        verdict = replace(fit.verdict, updates=(Worth(2000, 0.1, 1950.0), Worth(2000, khat, ess)))
        assert verdict.level is level
    assert "at update 2" in verdict.sentence(["m"])
    assert replace(fit.verdict, updates=(Worth(2000, 0.9, 1990.0),)).level is Level.GOOD


CENTRED = """
data { int N; vector[N] x; vector[N] y; }
transformed data { vector[N] z = x - mean(x); }
parameters { real b; }
model { b ~ normal(0, 1); y ~ normal(b * z, 1); }
"""
SERIES = """
data { int N; vector[N] y; }
parameters { real<lower=-1, upper=1> r; }
model { y[2:N] ~ normal(r * y[1:(N - 1)], 1); }
"""
OF_ROWS = """
data { int N; vector[N] y; }
parameters { real m; vector[N] e; }
model { m ~ normal(0, 1); e ~ normal(m, 1); y ~ normal(e, 1); }
"""
WALK = """
data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; }
parameters { vector[J] e; }
model { e[1] ~ normal(0, 1); e[2:J] ~ normal(e[1:(J - 1)], 1); y ~ normal(e[g], 1); }
"""
Y = {"N": 4, "y": [1.0, 0.5, 2.0, -1.0]}


def test_a_funnel_is_told_by_the_verdict():
    """Effects that may all be equal: no Gaussian is near that posterior."""
    fit = ppl.compile_model(GROUPS).condition(of_groups(30, 4, effects=np.zeros(4))).variational(seed=1)
    updated = fit.update(of_groups(20, 4, 1))
    assert fit.level is Level.GOOD and updated.level is not Level.GOOD
    assert "1 of 1 updates began from a q that was not close" in updated.judgement


@pytest.mark.parametrize(
    ("program", "data", "new", "kind", "words"),
    [
        (CENTRED, {**Y, "x": [1.0, 2.0, 4.0, 8.0]}, {}, ppl.ModelError, "change with the other rows"),
        (SERIES, Y, {}, ppl.InferenceError, "By `N`"),
        (OF_ROWS, Y, {}, ppl.ModelError, "`e` has an entry for each row"),
        (WALK, {**Y, "J": 3, "g": [1, 2, 3, 3]}, {"J": 4}, ppl.InferenceError, "no priors of their own"),
        (GROUPS, {**Y, "J": 3, "g": [1, 2, 3, 3]}, {"J": 2, "g": [1, 2, 1, 1]}, ppl.DataError, "was 3"),
    ],
)
def test_what_cannot_be_updated_is_refused(program, data, new, kind, words):
    fit = ppl.compile_model(program).condition(data).variational(algorithm="meanfield", iter=50, seed=1)
    with pytest.raises(kind, match=words):
        fit.update({**data, **new})


def test_a_mode_has_no_q_and_jax_does_not_update():
    posterior = ppl.compile_model(NORMAL).condition(Y)
    with pytest.raises(ppl.InferenceError, match="no q to update"):
        posterior.optimize().update(Y)
    with pytest.raises(ppl.InferenceError, match="autograd"):
        posterior.variational(seed=1).update(Y, backend="jax")


def test_rows_must_be_given_and_other_data_stay():
    fit = ppl.compile_model(GROUPS).condition(of_groups(30, 4)).variational(seed=1)
    with pytest.raises(ppl.DataError, match="y"):
        fit.update({"N": 1, "g": [1]})
    assert fit.update({"N": 1, "g": [4], "y": [0.5]}).posterior.d.of("J") == 4


def test_earlier_is_a_record_of_q():
    _, new = grown()
    assert isinstance(new.earlier, Earlier)
    assert new.earlier.groups == {"J": 4} and new.earlier.rows == "N"
