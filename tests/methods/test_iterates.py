import numpy as np
import pytest

from ppl.kernel.advi.stopping.iterate_rhat import mcse, split_rhat


def autoregression(n, rho, columns=50):
    rng = np.random.default_rng(0)
    path = [rng.normal(size=columns)]
    for _ in range(n - 1):
        path.append(rho * path[-1] + np.sqrt(1 - rho**2) * rng.normal(size=columns))
    return np.array(path)


def test_rhat_of_noise_is_one_and_of_a_drift_is_large():
    noise = np.random.default_rng(0).normal(size=(400, 20))
    assert split_rhat(noise).max() < 1.05
    assert split_rhat(noise + np.linspace(0, 10, 400)[:, None]).min() > 1.5


def test_rhat_of_a_shift_between_the_halves_is_the_textbook_number():
    half = np.array([-1.0, 1.0] * 100)
    path = np.concatenate([half, half + 2.0])[:, None]
    within, between = 200 / 199, 2.0
    assert split_rhat(path)[0] == pytest.approx(np.sqrt(199 / 200 + between / within))


def test_rhat_of_a_path_that_stands_still():
    still = np.ones((10, 1))
    np.testing.assert_array_equal(split_rhat(still), [1.0])
    assert split_rhat(np.concatenate([still, 2 * still]))[0] == np.inf


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_mcse_allows_for_the_correlation_of_the_path(rho):
    n = 10_000
    exact = np.sqrt((1 + rho) / (1 - rho) / n)
    assert np.sqrt((mcse(autoregression(n, rho)) ** 2).mean()) == pytest.approx(exact, rel=0.15)
