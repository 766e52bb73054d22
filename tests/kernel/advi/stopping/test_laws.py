"""Laws that hold for every stopping rule in the table."""

import math

import numpy as np
import pytest

from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.stopping import STOPPING
from ppl.kernel.advi.stopping.gradient_norm import GradientNorm
from ppl.kernel.advi.stopping.iterate_rhat import IterateRhat
from ppl.kernel.advi.stopping.relative_elbo import RelativeElbo
from ppl.kernel.advi.stopping.rolling_bound import RollingBound
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, read

ITERATIONS, EVERY = 10_000, 100


def checkpoint(k, elbo, at=0.0, slope=0.0):
    """The k-th checkpoint: an ELBO, and one parameter with its gradient."""
    where = np.array([at])
    return Checkpoint(k * EVERY, elbo, where, np.array([slope]), where, elbo)


def readings_of(rule, checkpoints):
    """What the rule says at each checkpoint until it stops."""
    state, taken = rule.init(), []
    for each in checkpoints:
        state, reading = read(rule, state, each)
        taken.append(reading)
        if reading.outcome:
            break
    return taken


def readings(rule, elbos):
    """What the rule says of ELBOs while the path stands still."""
    return readings_of(rule, [checkpoint(k, elbo) for k, elbo in enumerate(elbos, start=1)])


@pytest.fixture(params=STOPPING)
def rule(request):
    return STOPPING[request.param](ITERATIONS, EVERY, 0.01)


def test_stops_on_a_flat_trace(rule):
    assert readings(rule, [-50.0] * (ITERATIONS // EVERY))[-1].outcome is not None


def test_does_not_stop_while_the_elbo_rises(rule):
    climb = [checkpoint(k, -1e9 * 0.8**k, 0.3 * k, 1.0) for k in range(1, ITERATIONS // EVERY)]
    assert all(reading.outcome is None for reading in readings_of(rule, climb))


@pytest.mark.parametrize("bad", [math.nan, -math.inf, math.inf])
def test_an_elbo_that_is_not_finite_is_said(rule, bad):
    last = readings(rule, [-3.0, bad])[-1]
    assert last.outcome.ending is Ending.DIVERGED
    assert "ELBO" in last.outcome.reason and "200" in last.outcome.reason


def test_is_pure(rule):
    state = rule.init()
    one, two = (rule.update(state, checkpoint(1, -3.0)) for _ in range(2))
    assert repr(one) == repr(two)
    assert repr(rule.init()) == repr(state)


def test_relative_elbo_window_is_a_tenth_of_the_checkpoints_and_at_least_two():
    assert RelativeElbo.over(10_000, 100, 0.01).window == 10
    assert RelativeElbo.over(500, 100, 0.01).window == 2


def test_relative_elbo_divides_by_the_previous_elbo():
    first, second, third = readings(RelativeElbo(1e-9, 10), [-100.0, -50.0, -60.0])
    assert math.isnan(first.delta_mean)
    assert second.delta_mean == second.delta_median == 0.5
    assert third.delta_mean == pytest.approx((0.5 + 0.2) / 2)


def test_relative_elbo_names_the_mean_or_the_median():
    jump = [-100.0, -90.0] + [-90.0] * 3
    by_median = readings(RelativeElbo(0.01, 3), jump)[-1]
    assert by_median.note == "median ELBO converged" and "median" in by_median.outcome.reason
    both = readings(RelativeElbo(0.01, 2), [-90.0] * 5)[-1]
    assert both.note == "mean and median ELBO converged"
    assert both.outcome.converged


def test_relative_elbo_waits_for_a_full_window():
    assert len(readings(RelativeElbo(0.01, 4), [-90.0] * 20)) == 5


def test_relative_elbo_survives_an_elbo_of_zero():
    assert readings(RelativeElbo(0.01, 2), [0.0, 0.0, 0.0])[-1].outcome.converged
    assert readings(RelativeElbo(0.01, 2), [0.0, 1.0])[-1].delta_mean == math.inf


def test_relative_elbo_warns_of_divergence():
    assert "diverging" in readings(RelativeElbo(0.01, 10), [(-3.0) ** k for k in range(12)])[-1].note


def test_a_run_that_seems_to_diverge_for_a_window_is_given_up_where_that_is_asked_for():
    growing = [(-3.0) ** k for k in range(40)]
    found = readings(RelativeElbo(0.01, 5, gives_up=True), growing)
    assert len(found) == 15 and found[-1].outcome.ending is Ending.DIVERGED
    assert len(readings(RelativeElbo(0.01, 5), growing)) == 40
    calm_between = [*growing[:8], *(growing[7] * 1.02**k for k in range(1, 8)), *growing[8:12]]
    assert len(readings(RelativeElbo(0.01, 5, gives_up=True), calm_between)) == 19


def noisy(n, level=-50.0, slope=0.0, shift=0.0, seed=0):
    """Checkpoints whose bound has noise of sd 1, whose ELBO and parameter drift by `slope` a checkpoint."""
    noise = np.random.default_rng(seed).normal(size=n)
    return [checkpoint(k, shift + level + slope * k + e, slope * k + 0.1 * e) for k, e in enumerate(noise, 1)]


def stopped_at(rule, checkpoints):
    taken = readings_of(rule, checkpoints)
    return len(taken) if taken[-1].outcome else None


def test_rolling_bound_has_a_window_of_200_iterations():
    assert RollingBound.over(10_000, 10, 0.01).window == 20
    assert RollingBound.over(10_000, 1, 0.01).window == 200
    assert RollingBound.over(10_000, 100, 0.01).window == 4


def test_rolling_bound_waits_for_two_windows_and_compares_them():
    rule = RollingBound(0.01, 20)
    assert stopped_at(rule, [checkpoint(k, -5.0) for k in range(60)]) == 40
    assert stopped_at(rule, noisy(400, slope=0.2)) is None
    assert stopped_at(rule, noisy(400)) < 100


def test_rolling_bound_does_not_care_about_a_constant():
    rule = RollingBound(0.01, 20)
    assert stopped_at(rule, noisy(400)) == stopped_at(rule, noisy(400, shift=1e5))


def test_gradient_norm_looks_at_the_mean_of_a_window():
    rng = np.random.default_rng(1)
    lost = [checkpoint(k, -5.0, slope=e) for k, e in enumerate(rng.normal(size=40))]
    clear = [checkpoint(k, -5.0, slope=5 + e) for k, e in enumerate(rng.normal(size=40))]
    assert stopped_at(GradientNorm(1e-9), lost) == 10
    assert stopped_at(GradientNorm(1e-9), clear) is None
    exact = [checkpoint(k, -5.0, slope=100 * 0.5**k) for k in range(40)]
    assert 10 < stopped_at(GradientNorm(0.01), exact) <= 20


def test_iterate_rhat_needs_a_stationary_path_and_a_small_error():
    assert stopped_at(IterateRhat(0.05), noisy(200)) is not None
    assert stopped_at(IterateRhat(0.001), noisy(200)) is None
    assert stopped_at(IterateRhat(0.05), noisy(200, slope=0.1)) is None


def test_iterate_rhat_sees_past_a_transient():
    path = noisy(50, slope=1.0) + [checkpoint(k, -1.0, 50 + 0.1 * math.sin(7.0 * k)) for k in range(200)]
    assert 75 < stopped_at(IterateRhat(0.05), path) <= 130
