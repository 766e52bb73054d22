"""Laws that hold for every stopping rule in the table."""

import math

import numpy as np
import pytest

from ppl.inference.outcome import Ending
from ppl.inference.stopping import STOPPING
from ppl.inference.stopping.relative_elbo import RelativeElbo
from ppl.inference.stopping.stopping_rule import Checkpoint

ITERATIONS, EVERY = 10_000, 100


def readings(rule, elbos):
    """What the rule says at each ELBO until it stops."""
    state, said = rule.init(), []
    for k, elbo in enumerate(elbos, start=1):
        state, reading = rule.update(state, Checkpoint(k * EVERY, elbo, np.zeros(1), np.zeros(1)))
        said.append(reading)
        if reading.outcome:
            break
    return said


@pytest.fixture(params=STOPPING)
def rule(request):
    return STOPPING[request.param](ITERATIONS, EVERY, 0.01)


def test_stops_on_a_flat_trace(rule):
    assert readings(rule, [-50.0] * (ITERATIONS // EVERY))[-1].outcome is not None


def test_does_not_stop_while_the_elbo_rises(rule):
    rising = [-1e9 * 0.7**k for k in range(ITERATIONS // EVERY - 1)]
    assert all(reading.outcome is None for reading in readings(rule, rising))


@pytest.mark.parametrize("bad", [math.nan, -math.inf, math.inf])
def test_an_elbo_that_is_not_finite_is_said(rule, bad):
    last = readings(rule, [-3.0, bad])[-1]
    assert last.outcome.ending is Ending.DIVERGED
    assert "ELBO" in last.outcome.reason and "200" in last.outcome.reason


def test_is_pure(rule):
    state = rule.init()
    checkpoint = Checkpoint(EVERY, -3.0, np.zeros(1), np.zeros(1))
    assert rule.update(state, checkpoint) == rule.update(state, checkpoint) or math.isnan(
        rule.update(state, checkpoint)[1].delta_mean
    )


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
