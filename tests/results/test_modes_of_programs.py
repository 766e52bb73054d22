"""Whole fits of programs whose modes are known: how many, and what is said of them."""

from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.methods.correct.correction import DrawSource
from ppl.methods.diagnose.level import Level

NON_CENTRED = """
data { int N; int J; array[N] int<lower=1, upper=J> group; vector[N] x; vector[N] y; }
parameters {
  real mu; real beta; real<lower=0> tau; real<lower=0> sigma; vector[J] raw;
}
model {
  mu ~ normal(0, 5); beta ~ normal(0, 5); tau ~ normal(0, 2); sigma ~ normal(0, 2); raw ~ std_normal();
  y ~ normal(mu + tau * raw[group] + beta * x, sigma);
}
"""
MIX = "parameters {{ real x; }} model {{ target += log_mix({}, normal_lpdf(x | {}), normal_lpdf(x | {})); }}"
SPIKE = MIX.format(0.5, "0, 0.001", "0, 10")
FAR = MIX.format(0.9, "-20, 0.1", "20, 5")
LABELS = """
data { int N; vector[N] y; }
parameters { vector[2] mu; }
model {
  mu ~ normal(0, 5);
  for (n in 1:N) target += log_mix(0.5, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1));
}
"""
BY_NAME = "real first; {} second; }} transformed parameters {{ vector[2] mu = [first, second{}]';"
LABELS_BY_NAME = LABELS.replace("vector[2] mu;", BY_NAME.format("real", ""))
LABELS_ALONE = LABELS.replace("vector[2] mu;", BY_NAME.format("vector[1]", "[1]"))


def groups(seed):
    """300 rows of 12 groups."""
    rng = np.random.default_rng(seed)
    group, x = rng.integers(1, 13, 300), rng.normal(size=300)
    y = 1 + rng.normal(scale=0.7, size=12)[group - 1] + 0.5 * x + rng.normal(size=300)
    return {"N": 300, "J": 12, "group": group, "x": x, "y": y}


def fit(program, data=None, **settings):
    return ppl.compile_model(program).condition(data or {}).variational(**settings)


@pytest.mark.rotate
@pytest.mark.parametrize("seed", [1, 2])
def test_a_non_centred_hierarchical_regression_has_one_mode(seed):
    assert fit(NON_CENTRED, groups(seed), seed=seed).verdict.modes == ()


@pytest.mark.rotate
@pytest.mark.parametrize("seed", [1, 2])
def test_a_spike_within_a_wide_part_keeps_its_half_of_the_draws(seed):
    found = fit(SPIKE, seed=seed)
    assert found.verdict.made is DrawSource.MIXTURE
    x = np.abs(found.stan_variable("x"))
    assert (x < 0.01).mean() == pytest.approx(0.5, abs=0.08)
    assert np.sqrt((x[x > 0.01] ** 2).mean()) == pytest.approx(10, rel=0.15)


@pytest.mark.rotate
@pytest.mark.parametrize("seed", [1, 2])
def test_a_far_narrow_mode_has_its_share_of_the_draws_and_is_told_of(seed):
    found = fit(FAR, seed=seed)
    assert found.stan_variable("x").mean() == pytest.approx(-16, abs=1.5)
    assert (
        found.verdict.level is Level.USABLE
        and "another mode in addition to the mode of q, with about 90%" in found.judgement
    )


def test_labels_that_can_be_exchanged_are_called_so():
    y = np.random.default_rng(1).normal([-3, 3], size=(10, 2)).ravel()
    programs = LABELS, LABELS_BY_NAME, LABELS_ALONE
    array, named, alone = (fit(program, {"N": 20, "y": y}, seed=1) for program in programs)
    for found in (array, named):
        assert found.verdict.modes == () and found.verdict.images.labellings == 2
    assert "the posterior is invariant to exchanging the labels of mu; draws" in array.judgement
    assert "exchanging the labels of first, second; draws" in named.judgement
    assert [mode.is_symmetric for mode in alone.verdict.modes] == [True]
    assert "the posterior is invariant to exchanging labels or signs of first, second" in alone.judgement


def test_a_start_at_a_scale_far_too_large_is_not_left_among_the_draws():
    """Without temperatures one draw of the wider start stayed at a tau of 90, and the fit was good."""
    programs = Path(__file__).parents[1] / "conformance" / "programs"
    model = ppl.compile_model(programs / "hier_normal_centred.stan")
    fit = model.condition(programs / "hier_normal_centred.data.json").variational(seed=1)
    assert fit.stan_variable("tau").std() == pytest.approx(0.22, rel=0.2)
