"""What the papers report, where it can be had exactly or nearly so."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln
from toy_targets import Gaussian

import ppl
from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.steps.decaying import Staged

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
# ADVI's Table 2: KL(q || p) in nats of the fits that it reports, and of the best Gaussian q there is.
# Three of the fits are the best to two digits; the others miss it by 1.5e-4 to 2.1e-4, within their noise.
TABLE_2 = [
    ("log", 1.0, 2.0, 8.1e-2, 8.1e-2),
    ("log", 2.5, 4.2, 3.3e-2, 3.3e-2),
    ("log", 10.0, 10.0, 8.5e-3, 8.3e-3),
    ("softplus", 1.0, 2.0, 1.6e-2, 1.6e-2),
    ("softplus", 2.5, 4.2, 3.6e-3, 3.5e-3),
    ("softplus", 10.0, 10.0, 7.7e-4, 5.6e-4),
]


def best_kl(transform, shape, rate):
    """KL of the best Gaussian to a gamma density, by quadrature over the compiled program."""
    program = f"parameters {{ real<lower=0> x; }} model {{ x ~ gamma({shape}, {rate}); }}"
    posterior = ppl.compile_model(program, positive_transform=transform).condition({})

    def kl(params):
        mu, omega = params
        log_p = [posterior.log_density(u) for u in (mu + np.exp(omega) * NODES)[:, None]]
        return -WEIGHTS @ log_p / WEIGHTS.sum() - 0.5 * (1 + np.log(2 * np.pi)) - omega

    found = minimize(kl, [0.0, -0.5], method="BFGS", options={"gtol": 1e-5})
    return found.fun


@pytest.mark.parametrize(("transform", "shape", "rate", "reported", "best"), TABLE_2)
def test_advi_table_2_kl_of_the_best_gaussian_to_a_gamma(transform, shape, rate, reported, best):
    found = best_kl(transform, shape, rate)
    assert f"{found:.1e}" == f"{best:.1e}"
    assert -0.02 * reported < reported - found < 2.5e-4


@pytest.mark.parametrize("shape", [1.0, 2.5, 10.0])
def test_under_log_the_best_kl_is_the_remainder_of_stirlings_formula(shape):
    stirling = (shape - 0.5) * np.log(shape) - shape + 0.5 * np.log(2 * np.pi)
    assert best_kl("log", shape, 3.0) == pytest.approx(gammaln(shape) - stirling, rel=1e-6)


def path_of_the_mean(estimator, rate, steps, seed):
    """DSVI's Figure 1: the variational mean on its way from 0 to 2 in ten dimensions, (steps + 1, 10)."""
    dim = 10
    target, family = Gaussian(np.full(dim, 2.0), np.eye(dim)), MeanField(dim)
    rule = Staged(rate, rates=np.repeat([1.0, 0.0], dim))
    rng, params = np.random.default_rng(seed), family.start(np.zeros(dim))
    state, path = rule.init(params), [family.mean(params)]
    for _ in range(steps):
        params, state = rule.step(state, params, estimator(target, family, params, 1, rng).gradient)
        path.append(family.mean(params))
    return np.array(path)


def straightness(path):
    """Distance from the first point to the last over the length of the path: 1 for a straight line."""
    return np.linalg.norm(path[-1] - path[0]) / np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


@pytest.mark.rotate
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rate", [0.002, 0.0005])
def test_dsvi_figure_1_the_score_function_wanders_and_the_reparameterised_path_does_not(rate, seed):
    steps = round(1 / rate)
    direct = path_of_the_mean(ESTIMATORS["reparameterised"], rate, steps, seed)
    wandering = path_of_the_mean(ESTIMATORS["score-function"], rate, steps, seed)
    assert straightness(direct) > 0.7 and straightness(wandering) < 0.2
    bound = -0.5 * ((direct - 2) ** 2).sum(axis=1)
    assert bound[0] == -20 and bound[-1] > -4
    smooth = bound[:: steps // 10]
    assert np.all(np.diff(smooth) > 0)
