"""A fit updated by new rows: its density, new groups, what is refused, and that it is saved."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ppl
from ppl.density.updated import Earlier
from ppl.kernel.advi.outcome import Phase
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.diagnose.level import Level
from ppl.results.fits.updating import draws_for_site

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


def test_log_evidence_of_an_update_is_that_of_all_rows():
    model, y = ppl.compile_model(NORMAL), np.array([0.3, 1.2, -0.4, 2.0])
    first = model.condition({"N": 2, "y": y[:2]}).variational(seed=1)
    whole = model.condition({"N": 4, "y": y}).variational(seed=1)
    assert first.update({"N": 2, "y": y[2:]}).log_evidence.value == pytest.approx(
        whole.log_evidence.value, abs=0.01
    )


@cache
def grown():
    """The fit to rows of 4 groups, updated by rows of 6."""
    model = ppl.compile_model(GROUPS)
    fit = model.condition(of_groups(60, 4)).variational(seed=1)
    return fit, fit.update(of_groups(20, 6, 1)).posterior


@pytest.mark.rotate
def test_density_is_that_of_the_program_given_all_rows():
    """Of a Gaussian likelihood the site is exact."""
    fit, new = grown()
    rows = [{k: d[k] for k in ("g", "y")} for d in (fit.posterior.data, new.data)]
    both = {"N": 80, "J": 6, **{k: np.concatenate([part[k] for part in rows]) for k in ("g", "y")}}
    whole, rng = fit.posterior.model.condition(both), np.random.default_rng(2)
    us = rng.normal(size=(5, 8))
    values, gradients = new.log_density_gradients(us)
    wanted = whole.log_density_gradients(us)
    np.testing.assert_allclose(values, wanted[0], atol=1e-6)
    np.testing.assert_allclose(gradients, wanted[1], atol=1e-6)
    np.testing.assert_allclose(new.log_densities(us), values)
    np.testing.assert_allclose(new.log_joint().gradients(us), gradients)
    for u, value, gradient in zip(us, values, gradients, strict=True):
        assert new.log_density(u) == pytest.approx(value, abs=1e-9)
        np.testing.assert_allclose(new.log_density_gradient(u)[1], gradient, atol=1e-9)


@pytest.mark.rotate
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


def test_a_q_that_was_far_from_its_posterior_makes_later_updates_poor():
    fit = ppl.compile_model(NORMAL).condition({"N": 3, "y": [1, 2, 3]}).variational(seed=1)
    cases = ((0.3, 1900.0, Level.GOOD), (0.6, 1900.0, Level.USABLE), (0.3, 1500.0, Level.USABLE))
    for khat, ess, level in (*cases, (0.3, 900.0, Level.POOR), (0.9, 1900.0, Level.POOR)):
        updates = WeightQuality(2000, 0.1, 1950.0), WeightQuality(2000, khat, ess)
        verdict = replace(fit.verdict, updates=updates)
        assert verdict.level is level
    assert "at update 2" in verdict.sentence(["m"])
    assert replace(fit.verdict, updates=(WeightQuality(2000, 0.9, 1990.0),)).level is Level.GOOD


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


SHARES = """
data { int N; int J; array[N] int<lower=1, upper=J> y; }
parameters { simplex[J] p; }
model { y ~ categorical(p); }
"""


@pytest.mark.rotate
def test_a_funnel_is_updated():
    """Effects that may all be equal: no Gaussian is near that posterior, but their prior stays as it is."""
    first, second = of_groups(30, 4, effects=np.zeros(4)), of_groups(20, 4, 1)
    model = ppl.compile_model(GROUPS)
    fit = model.condition(first).variational(seed=1).update(second, draws=4000)
    both = {"N": 50, "J": 4, **{k: np.concatenate([first[k], second[k]]) for k in ("g", "y")}}
    whole = model.condition(both).variational(seed=1, draws=4000)
    a, b = fit.draws_u, whole.draws_u
    assert fit.level is Level.GOOD
    assert np.abs((a.mean(axis=0) - b.mean(axis=0)) / b.std(axis=0)).max() < 0.1


def test_new_steps_of_a_random_walk_follow_the_old():
    model = ppl.compile_model(WALK)
    first, second = {**Y, "J": 3, "g": [1, 2, 3, 3]}, {**Y, "J": 4, "g": [1, 2, 4, 4]}
    fit = model.condition(first).variational(seed=1).update(second, draws=4000)
    both = {"N": 8, "J": 4, **{k: [*first[k], *second[k]] for k in ("g", "y")}}
    exact = np.linalg.inv(precision_of_walk(4) + np.diag(np.bincount(both["g"])[1:]))
    mean = exact @ np.bincount(both["g"], both["y"])[1:]
    np.testing.assert_allclose(fit.stan_variable("e").mean(axis=0), mean, atol=0.05)


def precision_of_walk(n):
    steps = np.eye(n) - np.eye(n, k=-1)
    return steps.T @ steps


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("program", "data", "new", "kind", "words"),
    [
        (CENTRED, {**Y, "x": [1.0, 2.0, 4.0, 8.0]}, {}, ppl.ModelError, "depend on other rows"),
        (SERIES, Y, {}, ppl.InferenceError, "By `N`"),
        (OF_ROWS, Y, {}, ppl.ModelError, "`e` has an entry for each row"),
        (SHARES, {"N": 3, "J": 2, "y": [1, 2, 2]}, {"J": 3}, ppl.InferenceError, "the elements of `p`"),
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


def test_earlier_is_a_record_of_the_site():
    _, new = grown()
    earlier = new.earlier
    assert isinstance(earlier, Earlier) and earlier.groups == {"J": 4} and earlier.rows == "N"
    globals_ = [earlier.names.index(name) for name in ("m", "s")]
    assert not earlier.site.precision[globals_].any(), "rows say nothing of m and s given the effects"


def test_many_parameters_take_more_draws_or_are_refused():
    fit = ppl.compile_model(GROUPS).condition(of_groups(30, 4)).variational(seed=1, draws=10)
    assert fit.update(of_groups(20, 4, 1)).posterior.earlier.qualities[0][0] == 24
    with pytest.raises(ppl.InferenceError, match="1001 parameters"):
        draws_for_site(1001)


@pytest.mark.parametrize(
    ("new", "searches"),
    [
        ({"N": 4, "y": [1.0, 0.5, 2.0, -1.0]}, False),
        ({"N": 40, "y": 40 * [3.0]}, True),  # the draws of the fit are far from the new posterior
    ],
)
def test_other_modes_are_searched_where_draws_of_the_fit_do_not_cover(new, searches):
    rng, events = np.random.default_rng(0), []
    data = {"N": 30, "y": rng.normal(0, 1, 30)}
    fit = ppl.compile_model(NORMAL).condition(data).variational(seed=1)
    updated = fit.update(new, progress=events.append)
    assert (Phase.OTHER_MODES in {step.phase for step in events}) is searches
    y = [*data["y"], *new["y"]]
    assert updated.stan_variable("m").mean() == pytest.approx(sum(y) / (len(y) + 0.25), abs=0.03)


EITHER = """
data { int N; vector[N] y; }
parameters { real x; }
model { x ~ normal(0, 3); y ~ normal(abs(x), 2); }
"""


@pytest.mark.parametrize(("first", "new"), [([0.0, 0.1], 12 * [2.5]), ([0.5, 0.0], 8 * [3.0])])
def test_a_second_mode_that_new_rows_make_is_found(first, new):
    """The draws of the fit cover both modes, and q lies at one."""
    fit = ppl.compile_model(EITHER).condition({"N": 2, "y": first}).variational(seed=1)
    updated = fit.update({"N": len(new), "y": new})
    assert fit.level is Level.GOOD and updated.posterior.earlier.draws is not None
    assert (updated.stan_variable("x") > 0).mean() == pytest.approx(0.5, abs=0.15)


def test_one_row_cannot_be_updated_and_says_why():
    fit = ppl.compile_model(NORMAL).condition({"N": 1, "y": [1]}).variational(seed=1)
    with pytest.raises(ppl.InferenceError, match="with one row, it is unknown whether the terms"):
        fit.update({"N": 2, "y": [1, 2]})


def test_draws_cover_no_effects_of_new_groups():
    _, new = grown()
    assert new.earlier.draws is None


BINARY = """
data { int N; array[N] int<lower=0, upper=1> y; }
parameters { real m; }
model { m ~ normal(0, 2); y ~ bernoulli_logit(m); }
"""
MOSTLY = {"N": 30, "y": [0] + 29 * [1]}


def test_rows_are_held_until_a_factor_is_close(tmp_path):
    model, day = ppl.compile_model(BINARY), {"N": 4, "y": [1, 0, 1, 1]}
    updated = model.condition(MOSTLY).variational(seed=1).update(day)
    whole = model.condition({"N": 34, "y": MOSTLY["y"] + day["y"]})
    us = np.linspace(-1, 5, 7)[:, None]
    np.testing.assert_allclose(updated.posterior.log_densities(us), whole.log_densities(us))
    assert not updated.verdict.updates and updated.posterior.earlier.held["N"] == 30
    updated.save(tmp_path / "fit.json")
    again = ppl.load_fit(tmp_path / "fit.json", model, day)
    assert (again.draws() == updated.draws()).all()
    assert again.update(day).posterior.data["N"] == 38


def test_of_many_rows_to_few_new_ones_none_are_held():
    fit = ppl.compile_model(BINARY).condition(MOSTLY).variational(seed=1).update({"N": 2, "y": [1, 0]})
    assert not fit.posterior.earlier.held and fit.posterior.data["N"] == 2 and len(fit.verdict.updates) == 1


def test_chains_draw_from_an_updated_posterior():
    first = ppl.compile_model(NORMAL).condition({"N": 3, "y": [1, 2, 4]}).variational(seed=1)
    after = first.update({"N": 2, "y": [3, 3]}).posterior
    chains = after.sample(engine="batch", num_warmup=50, num_samples=200, backend="autograd", seed=1)
    np.testing.assert_allclose(chains.draws().mean(), 13 / 5.25, atol=0.1)
