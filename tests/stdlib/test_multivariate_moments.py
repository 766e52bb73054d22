"""Means and covariances on pages of vectors and matrices are those of draws, or of the elements' families."""

import re

import numpy as np
import pytest

import ppl
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.moments import OF_VECTOR

MOMENTS = {d.name: d.moments for d in DISTRIBUTIONS}

S = "[[2, 0.6, -0.3], [0.6, 1, 0.2], [-0.3, 0.2, 0.7]]"
GIVEN = f"""
  vector[3] alpha = [2, 0.7, 4]'; vector[3] theta = [0.2, 0.5, 0.3]'; vector[3] gamma = [0.1, -1, 0.8]';
  vector[3] mu = [1, -2, 0.5]'; matrix[3, 3] S = {S}; matrix[3, 3] Sigma = S; matrix[3, 3] Omega = inverse(S);
  matrix[3, 3] L = cholesky_decompose(S); real nu = 12; int N = 9; int K = 3;"""
DRAWN = {
    "dirichlet": ("vector[3]", "dirichlet_rng(alpha)"),
    "multinomial": ("array[3] int", "multinomial_rng(theta, N)"),
    "multinomial_logit": ("array[3] int", "multinomial_logit_rng(gamma, N)"),
    "dirichlet_multinomial": ("array[3] int", "dirichlet_multinomial_rng(alpha, N)"),
    "multi_normal": ("vector[3]", "multi_normal_rng(mu, Sigma)"),
    "multi_normal_cholesky": ("vector[3]", "multi_normal_cholesky_rng(mu, L)"),
    "multi_normal_prec": ("vector[3]", "multi_normal_rng(mu, inverse(Omega))"),
    "multi_student_t": ("vector[3]", "multi_student_t_rng(nu, mu, Sigma)"),
    "multi_student_t_cholesky": ("vector[3]", "multi_student_t_cholesky_rng(nu, mu, L)"),
    "wishart": ("matrix[3, 3]", "wishart_rng(nu, S)"),
    "inv_wishart": ("matrix[3, 3]", "inv_wishart_rng(nu, S)"),
}
GLMS = {
    "normal_id_glm": ("normal", "mu"),
    "bernoulli_logit_glm": ("bernoulli_logit", "alpha"),
    "binomial_logit_glm": ("binomial_logit", "alpha"),
    "poisson_log_glm": ("poisson_log", "alpha"),
    "neg_binomial_2_log_glm": ("neg_binomial_2_log", "eta"),
}
"""The family of each element, and its argument that is the linear predictor."""
ROW = """
  real alpha = 0.3; row_vector[2] x = [0.5, -1]; vector[2] beta = [1.2, 0.4]';
  real sigma = 0.7; int N = 6; real phi = 2.5;"""
DRAWS = 40_000


def generated(lines: str) -> np.ndarray:
    """What generated quantities hold, in order."""
    posterior = ppl.compile_model(f"generated quantities {{ {lines} }}").condition({}, seed=1)
    return posterior.param_constrain(np.zeros(0), include_gq=True)


def drawn(kind: str, call: str) -> np.ndarray:
    """Draws (DRAWS, elements) of a call, those of matrices column by column."""
    text = f"transformed data {{ {GIVEN} }} generated quantities {{ {kind} y = {call}; }}"
    posterior = ppl.compile_model(text).condition({})
    return posterior.param_constrain_draws(np.zeros((DRAWS, 0)), np.random.default_rng(1))


@pytest.mark.parametrize("name", DRAWN)
def test_moments_are_those_of_draws(name):
    kind, call = DRAWN[name]
    moments = MOMENTS[name]
    draws = drawn(kind, call)
    size = draws.shape[1]
    whole = "matrix[3, 3]" if size == 9 else "vector[3]"
    mean = generated(f"{GIVEN} {whole} mean_ = {moments.mean};")[-size:]
    off = draws - mean
    assert (np.abs(off.mean(axis=0)) < 5 * off.std(axis=0) / np.sqrt(DRAWS)).all()
    covers = moments.second == OF_VECTOR
    squares = (off[:, :, None] * off[:, None]).reshape(DRAWS, -1) if covers else off**2
    kind_of_variance = "matrix[3, 3]" if covers else whole
    variance = generated(f"{GIVEN} {kind_of_variance} variance_ = {moments.variance};")[-squares.shape[1] :]
    error = squares.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(squares.mean(axis=0) - variance) < 5 * error).all()


def both(moments):
    return moments.mean, moments.variance


@pytest.mark.parametrize("name", GLMS)
def test_moments_of_regressions_are_those_of_each_element(name):
    family, argument = GLMS[name]
    own = [re.sub(rf"\b{argument}\b", "(ETA)", text) for text in both(MOMENTS[family])]
    eta = "alpha + x * beta"
    for text, expected in zip(both(MOMENTS[name]), own, strict=True):
        one, other = generated(f"{ROW} array[2] real found_ = {{{text}, {expected.replace('ETA', eta)}}};")[
            -2:
        ]
        assert one == pytest.approx(other, rel=1e-12)


def test_conditions_hold_of_the_arguments():
    for name in DRAWN:
        moments = MOMENTS[name]
        for condition in filter(None, (moments.if_mean, moments.if_variance)):
            assert generated(f"{GIVEN} int holds_ = {condition};")[-1] == 1
