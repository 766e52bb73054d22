import numpy as np
import pytest
from algorithm_one import advi
from toy_targets import correlated

from ppl.kernel.advi.steps.step_rule import Last, Polynomial


def average(rule, path):
    answer = path[0]
    for iteration, params in enumerate(path, start=1):
        answer = rule.update(answer, params, iteration)
    return answer


@pytest.mark.parametrize("rule", [Last(), Polynomial()])
def test_a_path_that_stands_still_is_its_own_answer(rule):
    np.testing.assert_allclose(average(rule, [np.array([2.0, -1.0])] * 20), [2.0, -1.0])


def test_last_is_the_last():
    assert average(Last(), [1.0, 5.0, 3.0]) == 3.0


def test_polynomial_forgets_the_start_and_averages_the_tail():
    noise = np.random.default_rng(0).normal(size=2000)
    path = 1.0 + noise
    path[:500] += 100.0
    assert abs(average(Polynomial(), path) - 1.0) < 0.2
    assert np.std([average(Polynomial(), 1 + n) for n in noise.reshape(20, 100)]) < 0.4


def test_polynomial_weights_grow_as_the_power_says():
    impulses = np.eye(40)
    weights = average(Polynomial(power=1.0), impulses)
    np.testing.assert_allclose(weights / weights[0], np.arange(1, 41))


@pytest.mark.rotate
def test_an_averaged_fit_is_nearer_than_the_last_iterate():
    target = correlated(3)
    sd = np.sqrt(np.diag(target.covariance))

    def error(average):
        settings = {
            "algorithm": "fullrank",
            "eta": 1.0,
            "iter": 2000,
            "tol_rel_obj": 1e-12,
            "average": average,
        }
        fits = [advi(target, seed=k, **settings) for k in range(5)]
        return np.mean([np.abs((fit.mean_u - target.mean) / sd).max() for fit in fits])

    assert error(True) < 0.7 * error(False)
