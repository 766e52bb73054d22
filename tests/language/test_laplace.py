"""The embedded Laplace functions in programs, on both backends."""

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY
from ppl.kernel.language.laplace import LAPLACE, STATEMENTS, laplace_page
from ppl.stdlib.laplace.likelihoods import LIKELIHOODS
from ppl.stdlib.laplace.marginal import EmbeddedLaplace
from ppl.stdlib.laplace.mode import NEWTON

FUNCTIONS = """
functions {
  matrix cov(array[] real x, real alpha, real rho) {
    return add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-8);
  }
}
data {
  int N;
  array[N] real x;
  array[N] int y;
  array[N] int g;
}
parameters {
  real<lower=0> alpha;
  real<lower=0> rho;
  real mu;
  real<lower=0> phi;
}
"""
TOL = "(rep_vector(0, N), 1e-8, 50, 1, 1, 0)"
DATA = {
    "N": 6,
    "x": [0.1, 0.4, 1.0, 1.3, 2.0, 2.2],
    "y": [1, 0, 1, 1, 0, 1],
    "g": [1, 2, 3, 4, 5, 5],
}
U = np.array([0.1, -0.3, 0.4, 0.2])


def written(name: str, tol: str = "", settings: str = "") -> str:
    """The call's name and arguments, K and all."""
    eta = "phi, " if name.startswith("neg") else ""
    return f"laplace_marginal{tol}_{name}%s(y | g, {eta}rep_vector(mu, N), 1, cov, (x, alpha, rho){settings})"


def density(model: str) -> float:
    posterior = ppl.compile_model(FUNCTIONS + model).condition(DATA)
    return posterior.log_density(U, jacobian=False)


def expected(name: str) -> float:
    alpha, rho, mu, phi = np.exp(U[0]), np.exp(U[1]), U[2], np.exp(U[3])
    x = np.array(DATA["x"])
    k = alpha**2 * np.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + 1e-8 * np.eye(6)
    like = next(like for like in LIKELIHOODS if like.name == name)
    rest = (np.full(6, phi),) if like.dispersed else ()
    y, g = np.array(DATA["y"]), np.array(DATA["g"])
    return float(
        EmbeddedLaplace(like)(NUMPY, y, g, *rest, np.full(6, mu), k, 1, NEWTON.objective, NEWTON.most_steps)
    )


@pytest.mark.parametrize("name", [like.name for like in LIKELIHOODS])
def test_every_form_of_a_program_has_the_value(name: str) -> None:
    call, with_tol = written(name), written(name, "_tol", f", {TOL}")
    tilde = call.replace("y | ", "").replace("%s", "")
    for statement in (
        f"target += {call % '_lpmf'};",
        f"target += {call % '_lupmf'};",
        f"target += {with_tol % '_lpmf'};",
        f"y ~ {tilde};",
        f"y ~ {with_tol.replace('y | ', '').replace('%s', '')};",
    ):
        assert density(f"model {{ {statement} }}") == pytest.approx(expected(name), rel=1e-10), statement


def test_arguments_in_a_variable_that_is_a_tuple() -> None:
    call = written("poisson_log").replace("(x, alpha, rho)", "given") % "_lpmf"
    model = f"model {{ tuple(array[N] real, real, real) given = (x, alpha, rho); target += {call}; }}"
    assert density(model) == pytest.approx(expected("poisson_log"), rel=1e-10)


@pytest.mark.parametrize("name", [like.name for like in LIKELIHOODS])
def test_the_gradient_is_that_of_the_value(name: str) -> None:
    posterior = ppl.compile_model(FUNCTIONS + f"model {{ target += {written(name) % '_lpmf'}; }}").condition(
        DATA
    )
    _, slope = posterior.log_density_gradient(U)
    steps = [1e-5 * e for e in np.eye(4)]
    differences = [(posterior.log_density(U + d) - posterior.log_density(U - d)) / 2e-5 for d in steps]
    np.testing.assert_allclose(slope, differences, atol=1e-7)


@pytest.mark.parametrize("name", [like.name for like in LIKELIHOODS])
def test_many_points_at_once_have_the_values_of_each(name: str) -> None:
    posterior = ppl.compile_model(FUNCTIONS + f"model {{ target += {written(name) % '_lpmf'}; }}").condition(
        DATA
    )
    us = U + 0.5 * np.random.default_rng(1).normal(size=(9, 4))
    values, slopes = posterior.log_density_gradients(us)
    alone = [posterior.log_density_gradient(u) for u in us]
    np.testing.assert_allclose(values, [value for value, _ in alone], rtol=1e-12)
    np.testing.assert_allclose(slopes, [slope for _, slope in alone], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(posterior.log_densities(us), values, rtol=1e-12)


def test_a_loop_over_data_sets() -> None:
    call = (written("poisson_log") % "_lpmf").replace("(y |", "(z[k] |")
    looped = f"for (k in 1:2) target += {call};"
    program = FUNCTIONS.replace(
        "parameters {", "transformed data { array[2, N] int z = {y, g}; } parameters {"
    )
    both = ppl.compile_model(f"{program} model {{ {looped} }}").condition(DATA)
    one = ppl.compile_model(FUNCTIONS + f"model {{ target += {written('poisson_log') % '_lpmf'}; }}")
    parts = [
        one.condition(DATA | {"y": y}).log_density_gradient(U, jacobian=False) for y in (DATA["y"], DATA["g"])
    ]
    value, slope = both.log_density_gradient(U, jacobian=False)
    assert value == pytest.approx(sum(v for v, _ in parts), rel=1e-12)
    np.testing.assert_allclose(slope, sum(s for _, s in parts), rtol=1e-10)
    values, slopes = both.log_density_gradients(np.tile(U, (5, 1)), jacobian=False)
    np.testing.assert_allclose(values, value, rtol=1e-12)
    np.testing.assert_allclose(slopes, np.tile(slope, (5, 1)), rtol=1e-10)


def test_jax_says_that_it_cannot() -> None:
    pytest.importorskip("jax")
    from ppl.jax_backend.not_traceable import NotTraceable
    from ppl.jax_backend.target import compiled_target

    program = FUNCTIONS + f"model {{ target += {written('neg_binomial_2_log') % '_lpmf'}; }}"
    with pytest.raises(NotTraceable, match="JAX cannot trace it"):
        compiled_target(ppl.compile_model(program).condition(DATA))


def test_draws_of_theta_are_generated_quantities() -> None:
    latent = "laplace_latent_poisson_log_rng(y, g, rep_vector(mu, N), 1, cov, (x, alpha, rho))"
    program = f"{FUNCTIONS} generated quantities {{ vector[N] theta = {latent}; }}"
    posterior = ppl.compile_model(program).condition(DATA)
    names = posterior.param_names(include_gq=True)
    draws = [
        posterior.param_constrain(U, include_gq=True, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    ]
    assert names[-6:] == [f"theta.{k}" for k in range(1, 7)]
    assert np.isfinite(draws).all()
    assert (draws[0] == draws[1]).all()
    assert (draws[0][-6:] != draws[2][-6:]).all()


def test_data_that_do_not_fit() -> None:
    model = ppl.compile_model(FUNCTIONS + f"model {{ target += {written('poisson_log') % '_lpmf'}; }}")
    with pytest.raises(ppl.PPLError, match="7 is out of range"):
        model.condition(DATA | {"g": [1, 2, 3, 4, 5, 7]}).log_density(U)
    assert not np.isfinite(model.condition(DATA | {"y": [1, 0, 1, 1, 0, -1]}).log_density(U))


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("PPL511", "laplace_marginal_poisson_log_lpmf(y | g, rep_vector(mu, N), 1, cov, x)"),
        ("PPL511", "laplace_marginal_poisson_log_lpmf(y | g, mu, 1, cov, (x, alpha, rho))"),
        (
            "PPL511",
            f"laplace_marginal_poisson_log_lpmf(y | g, rep_vector(mu, N), 1, cov, (x, alpha, rho), {TOL})",
        ),
        ("PPL512", "laplace_marginal_poisson_log_lpmf(y | g, rep_vector(mu, N), 1, cov, (x, alpha))"),
        ("PPL511", "laplace_marginal_poisson_log_lpmf(y | g, rep_vector(mu, N), 1, x, (x, alpha, rho))"),
        ("PPL504", "laplace_marginal_poisson_log_lpmf(y, g, rep_vector(mu, N), 1, cov, (x, alpha, rho))"),
        ("PPL509", "sum(laplace_latent_poisson_log_rng(y, g, rep_vector(mu, N), 1, cov, (x, alpha, rho)))"),
        ("PPL511", "laplace_marginal_poisson_log_lpmf(y | g, rep_vector(mu, N))"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(code: str, call: str) -> None:
    with pytest.raises(ppl.ModelError) as caught:
        ppl.compile_model(f"{FUNCTIONS} model {{ target += {call}; }}")
    assert caught.value.code == code


def test_the_work_of_an_evaluation_counts_factorisations() -> None:
    posterior = ppl.compile_model(FUNCTIONS + f"model {{ target += {written('poisson_log') % '_lpmf'}; }}")
    assert posterior.condition(DATA).sizes.solved > 6 * 6


@pytest.mark.parametrize("name", [*STATEMENTS, *LAPLACE])
def test_every_name_has_a_page(name: str) -> None:
    page = laplace_page(name)
    assert page.startswith(f"{name}: ")
    assert ("real eta" in " ".join(page.split())) == ("neg_binomial" in name)
    assert ("max_steps" in page) == ("_tol" in name)
