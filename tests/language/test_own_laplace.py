"""Laplace's approximation of a likelihood that is a function of the program."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import ppl
from ppl.kernel.language.laplace import laplace_page

FUNCTIONS = """
functions {
  matrix cov(array[] real x, real alpha, real rho) {
    return add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-8);
  }
  matrix ones(real alpha, int n) {
    return rep_matrix(square(alpha), n, n);
  }
  real gaussian(vector theta, vector z, real mu, real s) {
    return normal_lpdf(z | mu + theta, s);
  }
  real counts(vector theta, array[] int y, array[] int g, real mu) {
    return poisson_log_lpmf(y | mu + theta[g]);
  }
  real dispersed(vector theta, array[] int y, array[] int g, real mu, real phi) {
    return neg_binomial_2_log_lpmf(y | mu + theta[g], phi);
  }
  real heavy(vector theta, vector z, real mu, real s) {
    return student_t_lpdf(z | 3, mu + theta, 0.3 * s);
  }
  real pairs(vector theta, array[] int y, real mu, real s) {
    real l = 0;
    for (i in 1:num_elements(theta) %/% 2) {
      l += normal_lpdf(0.3 | theta[2 * i - 1] * theta[2 * i] + mu, s);
      l += poisson_log_lpmf(y[2 * i - 1] | theta[2 * i - 1]);
    }
    return l;
  }
  real recurrence(vector theta, vector z, real mu, real s) {
    real l = 0;
    real state = 0;
    for (i in 1:size(theta)) {
      state = tanh(mu * state + theta[i]);
      l += normal_lpdf(z[i] | state, s);
    }
    return l;
  }
  real huber(real e, real s) {
    if (abs(e) < s) {
      return -0.5 * square(e) - square(e) * square(e) / 12;
    }
    return -0.5 * square(e) - pow(e, 4) / 12;
  }
  real branches(vector theta, vector z, real mu, real s) {
    real l = 0;
    for (i in 1:size(theta)) l += huber(z[i] - mu - theta[i], s);
    return l;
  }
  real mixed(vector theta, tuple(vector, matrix) given, array[] vector shift) {
    return normal_lpdf(given.1 | given.2 * exp(theta) + shift[1], 0.5) - 0.1 * sum(theta .* shift[2]);
  }
  real positive(vector theta, vector z, real mu, real s) {
    return lognormal_lpdf(exp(z) | mu * log(theta), s);
  }
  real hidden(vector theta, vector z, real mu, real s) {
    return normal_lpdf(z | theta, s) + gamma_lcdf(2 | exp(mu), rep_vector(s, size(theta)));
  }
}
data {
  int N;
  array[N] real x;
  array[N] int y;
  array[N] int g;
  vector[N] z;
}
parameters {
  real<lower=0> alpha;
  real<lower=0> rho;
  real mu;
  real<lower=0> phi;
}
"""
K = "cov, (x, alpha, rho)"
DATA = {
    "N": 6,
    "x": [0.1, 0.4, 1.0, 1.3, 2.0, 2.2],
    "y": [1, 0, 1, 1, 0, 1],
    "g": [1, 2, 3, 4, 5, 5],
    "z": [0.3, -1.0, 0.5, 0.2, 1.1, 0.7],
}
U = np.array([0.1, -0.3, 0.4, 0.2])
US = U + 0.3 * np.random.default_rng(1).normal(size=(5, 4))


def tol(f: str, block: int, start: str = "rep_vector(0, N)") -> str:
    return f"laplace_marginal_tol({f}, {block}, {K}, ({start}, 1e-9, 200, 1, 0, 1))"


CALLS = {
    "counts": f"laplace_marginal(counts, (y, g, mu), 1, {K})",
    "dispersed": f"laplace_marginal(dispersed, (y, g, mu, phi), 1, {K})",
    "a likelihood with two tails": f"laplace_marginal(heavy, (z, mu, phi), 1, {K})",
    "blocks of two": tol("pairs, (y, mu, phi)", 2, "rep_vector(0.1, N)"),
    "one block": tol("recurrence, (z, mu, phi)", 6),
    "draws that part": f"laplace_marginal(branches, (z, mu, phi), 1, {K})",
    "tuples and arrays": tol("mixed, ((phi * z, cov(x, mu, 1)), {mu * z, z})", 6),
    "a singular covariance": "laplace_marginal(counts, (y, g, mu), 1, ones, (alpha, N))",
    "first derivatives of what theta is not in": f"laplace_marginal(hidden, (z, mu, phi), 1, {K})",
}
EACH = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def posterior_of(call: str, functions: str = FUNCTIONS) -> ppl.Posterior:
    return ppl.compile_model(f"{functions} model {{ target += {call}; }}").condition(DATA)


def covariance(alpha: float, rho: float) -> np.ndarray:
    x = np.array(DATA["x"])
    return alpha**2 * np.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + 1e-8 * np.eye(6)


# --- Values ----------------------------------------------------------------------------------------


def test_of_a_gaussian_likelihood_it_is_exact() -> None:
    laplace = posterior_of(f"laplace_marginal(gaussian, (z, mu, phi), 1, {K})")
    exact = posterior_of("multi_normal_lpdf(z | rep_vector(mu, N), add_diag(cov(x, alpha, rho), phi^2))")
    for u in US:
        (value, slope), (wanted, steep) = laplace.log_density_gradient(u), exact.log_density_gradient(u)
        assert value == pytest.approx(wanted, rel=1e-11)
        np.testing.assert_allclose(slope, steep, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ("counts, (y, g, mu)", "poisson_log_lpmf(y | g,"),
        ("dispersed, (y, g, mu, phi)", "neg_binomial_2_log_lpmf(y | g, phi,"),
    ],
)
def test_of_a_likelihood_with_a_name_it_is_the_same(own: str, named: str) -> None:
    ours = posterior_of(f"laplace_marginal({own}, 1, {K})")
    theirs = posterior_of(f"laplace_marginal_{named} rep_vector(mu, N), 1, {K})")
    values, slopes = ours.log_density_gradients(US)
    wanted, steep = theirs.log_density_gradients(US)
    np.testing.assert_allclose(values, wanted, rtol=1e-12)
    np.testing.assert_allclose(slopes, steep, rtol=1e-10, atol=1e-10)


def test_of_a_product_of_two_thetas_it_is_laplaces_at_the_mode() -> None:
    """The mode by another optimiser, the Hessian by differences."""
    alpha, rho, mu, phi = np.exp(U[0]), np.exp(U[1]), U[2], np.exp(U[3])
    k, y = covariance(alpha, rho), np.array(DATA["y"])
    prior = scipy.stats.multivariate_normal(np.zeros(6), k, allow_singular=True)

    def joint(theta: np.ndarray) -> float:
        odd, even = theta[::2], theta[1::2]
        rows = scipy.stats.norm(odd * even + mu, phi).logpdf(0.3) + scipy.stats.poisson(np.exp(odd)).logpmf(
            y[::2]
        )
        return float(rows.sum() + prior.logpdf(theta))

    root = np.linalg.cholesky(k)
    found = scipy.optimize.minimize(lambda v: -joint(root @ v), 0.1 * np.ones(6), method="BFGS", tol=1e-9).x
    h, eye = 1e-3, np.eye(6)
    at = lambda d: joint(root @ (found + d))  # noqa: E731
    hessian = [
        [(at(h * (a + b)) - at(h * (a - b)) - at(h * (b - a)) + at(-h * (a + b))) / (4 * h * h) for b in eye]
        for a in eye
    ]
    log_root = 0.5 * np.linalg.slogdet(-np.array(hessian))[1] - np.log(np.diag(root)).sum()
    laplace = joint(root @ found) + 3 * np.log(2 * np.pi) - log_root
    value = posterior_of(CALLS["blocks of two"]).log_density(U, jacobian=False)
    assert value == pytest.approx(laplace, abs=1e-4)


@pytest.mark.parametrize("block", [1, 2, 3, 6])
def test_larger_blocks_hold_smaller_ones(block: int) -> None:
    one = posterior_of(CALLS["counts"]).log_density_gradient(U)
    value, slope = posterior_of(tol("counts, (y, g, mu)", block)).log_density_gradient(U)
    assert value == pytest.approx(one[0], rel=1e-12)
    np.testing.assert_allclose(slope, one[1], rtol=1e-9, atol=1e-10)


# --- Derivatives -----------------------------------------------------------------------------------


@pytest.mark.rotate
@EACH
def test_the_gradient_is_that_of_the_value(call: str) -> None:
    posterior = posterior_of(call)
    value, slope = posterior.log_density_gradient(U)
    assert np.isfinite(value)
    points = [U + k * 1e-4 * np.eye(4) for k in (1, -1, 2, -2)]
    above, below, far_above, far_below = np.split(posterior.log_densities(np.concatenate(points)), 4)
    differences = (8 * (above - below) - (far_above - far_below)) / 12e-4
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-7)


@pytest.mark.rotate
@EACH
def test_many_points_at_once_have_the_values_of_each(call: str) -> None:
    posterior = posterior_of(call)
    values, slopes = posterior.log_density_gradients(US)
    alone = [posterior.log_density_gradient(u) for u in US]
    np.testing.assert_allclose(values, [value for value, _ in alone], rtol=1e-12)
    np.testing.assert_allclose(slopes, [slope for _, slope in alone], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(posterior.log_densities(US), values, rtol=1e-12)


def test_a_loop_over_data_sets() -> None:
    one = posterior_of(CALLS["counts"])
    program = FUNCTIONS.replace(
        "parameters {", "transformed data { array[2, N] int w = {y, g}; } parameters {"
    )
    call = f"for (k in 1:2) target += laplace_marginal(counts, (w[k], g, mu), 1, {K});"
    both = ppl.compile_model(f"{program} model {{ {call} }}").condition(DATA)
    other = ppl.compile_model(f"{FUNCTIONS} model {{ target += {CALLS['counts']}; }}").condition(
        DATA | {"y": DATA["g"]}
    )
    parts = [p.log_density_gradients(US, jacobian=False) for p in (one, other)]
    values, slopes = both.log_density_gradients(US, jacobian=False)
    np.testing.assert_allclose(values, sum(v for v, _ in parts), rtol=1e-12)
    np.testing.assert_allclose(slopes, sum(s for _, s in parts), rtol=1e-9, atol=1e-11)


# --- Newton's method -------------------------------------------------------------------------------


def test_where_the_likelihood_is_not_finite_at_zero_it_begins_elsewhere() -> None:
    call = "positive, (z, mu, phi)"
    assert posterior_of(f"laplace_marginal({call}, 1, {K})").log_density(U) == -np.inf
    posterior = posterior_of(tol(call, 1, "rep_vector(1, N)"))
    value, slope = posterior.log_density_gradient(U)
    assert np.isfinite(value)
    step = np.array([0, 0, 1e-5, 0])
    near = (posterior.log_density(U + step) - posterior.log_density(U - step)) / 2e-5
    assert slope[2] == pytest.approx(near, rel=1e-6)


def test_too_few_steps_have_no_value() -> None:
    call = f"laplace_marginal_tol(counts, (y, g, mu), 1, {K}, (rep_vector(0, N), 1e-9, 1, 1, 0, 1))"
    assert posterior_of(call).log_density(U) == -np.inf


def test_a_covariance_that_is_none_has_no_value() -> None:
    functions = FUNCTIONS.replace("rep_matrix(square(alpha), n, n)", "rep_matrix(-alpha, n, n)")
    posterior = posterior_of("laplace_marginal(counts, (y, g, mu), 1, ones, (alpha, N))", functions)
    assert posterior.log_density(U) == -np.inf
    assert (posterior.log_densities(US) == -np.inf).all()


# --- Draws -----------------------------------------------------------------------------------------


@pytest.mark.rotate
@pytest.mark.parametrize("name", ["rng", "tol_rng"])
def test_draws_have_the_moments_of_the_posterior(name: str) -> None:
    """Of a Gaussian likelihood these are known: of theta given z and the parameters."""
    settings = ", (rep_vector(0, N), 1e-8, 50, 1, 0, 1)" if name == "tol_rng" else ""
    latent = f"laplace_latent_{name}(gaussian, (z, mu, phi), 2, {K}{settings})"
    program = f"{FUNCTIONS} generated quantities {{ array[400] vector[N] theta; "
    program += f"for (i in 1:400) theta[i] = {latent}; }}"
    posterior = ppl.compile_model(program).condition(DATA)
    found = posterior.param_constrain(U, include_gq=True, rng=np.random.default_rng(20261123))
    draws = np.reshape(found[4:], (6, 400)).T
    alpha, rho, mu, phi = np.exp(U[0]), np.exp(U[1]), U[2], np.exp(U[3])
    gain = covariance(alpha, rho) @ np.linalg.inv(covariance(alpha, rho) + phi**2 * np.eye(6))
    mean, cov = gain @ (np.array(DATA["z"]) - mu), (np.eye(6) - gain) @ covariance(alpha, rho)
    assert (np.abs(draws.mean(axis=0) - mean) < 4.5 * np.sqrt(np.diag(cov) / 400)).all()
    np.testing.assert_allclose(np.cov(draws.T), cov, atol=4.5 * cov.max() * np.sqrt(2 / 400))


def test_draws_of_many_points_are_generated_together() -> None:
    program = (
        f"{FUNCTIONS} generated quantities {{ "
        f"vector[N] theta = laplace_latent_rng(counts, (y, g, mu), 1, {K}); "
        f"real l = {CALLS['counts']}; }}"
    )
    prior = " ".join(f"{name} ~ lognormal(0, 1);" for name in ("alpha", "rho", "phi")) + "mu ~ normal(0, 1);"
    fit = (
        ppl.compile_model(program.replace("generated", f"model {{ {prior} }} generated"))
        .condition(DATA)
        .variational(algorithm="meanfield", seed=1, iter=20, draws=50)
    )
    theta, marginal = fit.stan_variable("theta"), fit.stan_variable("l")
    assert theta.shape == (50, 6) and np.isfinite(theta).all()
    assert len(np.unique(theta[:, 0])) == 50
    assert np.isfinite(marginal).all()


@pytest.mark.parametrize("draws", [1, 5])
def test_the_mean_and_the_factor_of_its_covariance(draws: int) -> None:
    """Of a Gaussian likelihood they are exact; a singular covariance has a singular factor."""
    solve = f"laplace_latent_solve(gaussian, (z, mu, phi), 3, {K})"
    options = "generate_laplace_options(N)"
    singular = f"laplace_latent_solve_tol(gaussian, (z, mu, phi), 1, ones, (alpha, N), {options})"
    program = (
        f"{FUNCTIONS} generated quantities {{ tuple(vector[N], matrix[N, N]) a = {solve}, b = {singular}; }}"
    )
    posterior = ppl.compile_model(program).condition(DATA)
    for u in US[:draws]:
        found = posterior.param_constrain(u, include_gq=True)[4:].reshape(2, 42)
        alpha, rho, mu, phi = np.exp(u[0]), np.exp(u[1]), u[2], np.exp(u[3])
        for values, prior in zip(found, (covariance(alpha, rho), np.full((6, 6), alpha**2)), strict=True):
            mean, factor = values[:6], values[6:].reshape(6, 6).T
            gain = prior @ np.linalg.inv(prior + phi**2 * np.eye(6))
            np.testing.assert_allclose(mean, gain @ (np.array(DATA["z"]) - mu), atol=1e-9)
            np.testing.assert_allclose(factor @ factor.T, (np.eye(6) - gain) @ prior, atol=1e-9)
            assert (factor == np.tril(factor)).all() and (np.diag(factor) >= 0).all()


def test_a_dispersion_for_each_theta() -> None:
    """As the same likelihood written in the program, where g picks that of each row."""
    own = "real each(vector theta, array[] int y, array[] int g, vector phi) {"
    own += " return neg_binomial_2_log_lpmf(y | theta[g], phi[g]); }\n  real gaussian"
    functions = FUNCTIONS.replace("real gaussian", own)
    phi = "phi * exp(mu * linspaced_vector(N, 0, 1))"
    named = f"laplace_marginal_neg_binomial_2_log_lpmf(y | g, {phi}, rep_vector(0, N), 2, {K})"
    ours = posterior_of(f"laplace_marginal(each, (y, g, {phi}), 1, {K})", functions)
    theirs = posterior_of(named, functions)
    values, slopes = ours.log_density_gradients(US)
    np.testing.assert_allclose(theirs.log_density_gradients(US)[0], values, rtol=1e-9)
    np.testing.assert_allclose(theirs.log_density_gradients(US)[1], slopes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose([theirs.log_density_gradient(u)[1] for u in US], slopes, rtol=1e-7, atol=1e-9)


def test_generated_options_are_the_defaults() -> None:
    """And may be changed; a tuple of one argument holds the argument."""
    one = "real one(vector theta, vector z) { return -dot_self(z - theta); }\n  real gaussian"
    few = "tuple(vector[N], real, int, int, int, int) few = generate_laplace_options(z); few.3 = 1;"
    functions = FUNCTIONS.replace("real gaussian", one)
    functions = functions.replace("parameters {", f"transformed data {{ {few} }} parameters {{")
    options = "generate_laplace_options(rep_vector(0, N))"
    plain, same, stopped = (
        posterior_of(call, functions).log_density(U)
        for call in (
            "laplace_marginal(one, (z, ), 1, ones, (alpha, N))",
            f"laplace_marginal_tol(one, (z,), 1, ones, (alpha, N), {options})",
            f"laplace_marginal_tol(counts, (y, g, mu), 1, {K}, few)",
        )
    )
    assert plain == same and stopped == -np.inf


# --- Refusals --------------------------------------------------------------------------------------


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("complaint", "call"),
    [
        ("theta[1] shares terms of the log likelihood", f"laplace_marginal(pairs, (y, mu, phi), 1, {K})"),
        ("hessian_block_size is 4, which does not divide 6", tol("counts, (y, g, mu)", 4)),
        ("theta_init has 2 entries", tol("counts, (y, g, mu)", 1, "[1, 2]'")),
        ("found no maximum", f"laplace_marginal(positive, (z, mu, phi), 1, {K})"),
        (
            "the covariance is 6 by 5",
            "laplace_marginal(counts, (y, g, mu), 1, block, (cov(x, alpha, rho), 1, 1, N, 5))",
        ),
    ],
)
def test_what_does_not_fit_is_explained_at_its_place(complaint: str, call: str) -> None:
    functions = FUNCTIONS.replace(
        "  real gaussian", "  matrix some(matrix k, int n) { return block(k, 1, 1, 6, n); }\n  real gaussian"
    )
    call = call.replace("block, (cov(x, alpha, rho), 1, 1, N, 5)", "some, (cov(x, alpha, rho), 5)")
    with pytest.raises(ppl.InferenceError) as caught:
        posterior_of(call, functions).variational(algorithm="meanfield", iter=10, seed=1, init=0)
    assert complaint in str(caught.value)
    assert "target +=" in str(caught.value)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("PPL511", "laplace_marginal(counts, (y, g, mu), cov)"),
        ("PPL511", "laplace_marginal(counts, y, 1, cov, (x, alpha, rho))"),
        ("PPL511", f"laplace_marginal(counts, (y, g, mu), 1, {K}, generate_laplace_options(N))"),
        ("PPL511", f"laplace_marginal_tol(counts, (y, g, mu), 1, {K})"),
        ("PPL511", f"laplace_marginal_tol(counts, (y, g, mu), 1, {K}, (z, 1, 1.5, 1, 1, 1))"),
        ("PPL511", f"laplace_marginal(counts, (y, g, mu), 1.0, {K})"),
        ("PPL512", f"laplace_marginal(counts, (y, g), 1, {K})"),
        ("PPL512", "laplace_marginal(counts, (y, g, mu), 1, cov, (x, alpha))"),
        ("PPL512", f"laplace_marginal(cov, (x, alpha, rho), 1, {K})"),
        ("PPL511", f"laplace_marginal(mu, (y, g, mu), 1, {K})"),
        ("PPL511", f"laplace_marginal(1 + 1, (y, g, mu), 1, {K})"),
        ("PPL506", f"laplace_marginal_tol(counts, (y, g, mu), 1, {K}, (rep_vector(mu, N), 1, 200, 1, 0, 1))"),
        ("PPL506", "sum(laplace_latent_solve(counts, (y, g, mu), 1, cov, (x, 1, 1)).1)"),
        ("PPL506", f"sum(laplace_latent_solve(counts, (y, g, 1), 1, {K}).1)"),
        ("PPL512", f"laplace_marginal(named_lpdf, (z, mu), 1, {K})"),
        ("PPL512", f"laplace_marginal(of_complex, (z, mu), 1, {K})"),
        ("PPL513", f"laplace_marginal(either, (1, 1), 1, {K})"),
        ("PPL514", f"laplace_marginal(sums, (z, mu), 1, {K})"),
        ("PPL509", f"sum(laplace_latent_rng(counts, (y, g, mu), 1, {K}))"),
        ("PPL514", f"laplace_marginal(smooth, (z, mu), 1, {K})"),
        ("PPL514", f"laplace_marginal(outer, (z, mu), 1, {K})"),
        ("PPL514", f"laplace_marginal(solved, (z, mu), 1, {K})"),
        ("PPL514", f"laplace_marginal(twice, (x, y, g, mu), 1, {K})"),
        ("PPL506", f"laplace_marginal(known, (z, mu), 1, {K})"),
        ("PPL506", f"laplace_marginal(fixed, (z, mu), 1, {K})"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(code: str, call: str) -> None:
    more = """
  real smooth(vector theta, vector z, real mu) {
    vector[size(theta)] rate;
    for (i in 1:size(theta)) rate[i] = exp(theta[i]);
    return gamma_lcdf(exp(z) | 2, rate);
  }
  real outer(vector theta, vector z, real mu) { return -sum(square(z)) + smooth(2 * theta, z, mu); }
  vector root(vector v, vector theta) { return v - theta; }
  real solved(vector theta, vector z, real mu) { return sum(solve_newton(root, theta, theta)); }
  real twice(vector theta, array[] real x, array[] int y, array[] int g, real mu) {
    return laplace_marginal(counts, (y, g, mu + theta[1]), 1, cov, (x, 1, 1));
  }
  real named_lpdf(vector theta, vector z, real mu) { return normal_lpdf(z | theta, mu); }
  real of_complex(complex_vector theta, vector z, real mu) { return normal_lpdf(z | get_real(theta), mu); }
  real either(vector theta, int n, real mu) { return sum(theta); }
  real either(vector theta, real mu, int n) { return sum(theta); }
  real part(array[] real z, int a, int b) { return sum(z); }
  real sums(vector theta, vector z, real mu) { return sum(theta) + reduce_sum(part, to_array_1d(z), 1); }
  real known(vector theta, vector z, data real mu) { return normal_lpdf(z | theta, mu); }
  real fixed(data vector theta, vector z, real mu) { return normal_lpdf(z | theta, mu); }
}
data {"""
    with pytest.raises(ppl.ModelError) as caught:
        ppl.compile_model(
            f"{FUNCTIONS.replace('}' + chr(10) + 'data {', more)} model {{ target += {call}; }}"
        )
    assert caught.value.code == code, str(caught.value)


def test_the_place_of_what_has_no_third_derivative_is_in_the_likelihood() -> None:
    program = FUNCTIONS.replace("student_t_lpdf(z |", "student_t_lcdf(z |")
    with pytest.raises(ppl.ModelError, match="student_t_lcdf") as caught:
        posterior_of(CALLS["a likelihood with two tails"], program)
    line = 1 + program[: program.index("student_t_lcdf")].count("\n")
    assert caught.value.span.line == line


FORMER = {
    "of the program": (
        "target += laplace_marginal(counts, (y, g, mu), cov, (x, alpha, rho))",
        "target += laplace_marginal(counts, (y, g, mu), 1, cov, (x, alpha, rho))",
    ),
    "with settings": (
        "target += laplace_marginal_tol(pairs, (y, mu, phi), cov,\n  (x, alpha, rho), z, 1e-9, 200, 2, 1, 0)",
        "target += laplace_marginal_tol(pairs, (y, mu, phi), 2, cov,\n"
        "  (x, alpha, rho), (z, 1e-9, 200, 1, 0, 1))",
    ),
    "named": (
        "y ~ laplace_marginal_neg_binomial_2_log(g, phi, rep_vector(mu, N), cov, (x, alpha, rho))",
        "y ~ laplace_marginal_neg_binomial_2_log(g, phi, rep_vector(mu, N), 1, cov, (x, alpha, rho))",
    ),
    "named, with settings": (
        "y ~ laplace_marginal_tol_bernoulli_logit(g, z, cov, (x, alpha, rho), z, 1, 9, 1, 1, 0)",
        "y ~ laplace_marginal_tol_bernoulli_logit(g, z, 1, cov, (x, alpha, rho), (z, 1, 9, 1, 0, 1))",
    ),
}


@pytest.mark.parametrize(("former", "final"), FORMER.values(), ids=FORMER)
def test_the_form_before_2_39_has_the_final_one_as_its_fix(former: str, final: str) -> None:
    with pytest.raises(ppl.ModelError) as caught:
        ppl.compile_model(f"{FUNCTIONS} model {{ {former}; }}")
    assert (caught.value.code, caught.value.others) == ("PPL515", ())
    fix = caught.value.fix
    assert fix is not None and former.replace(fix.span.text, fix.text) == final
    ppl.compile_model(f"{FUNCTIONS} model {{ {final}; }}")


def test_jax_says_that_it_cannot() -> None:
    pytest.importorskip("jax")
    from ppl.jax_backend.not_traceable import NotTraceable
    from ppl.jax_backend.target import compiled_target

    with pytest.raises(NotTraceable):
        compiled_target(posterior_of(CALLS["counts"]))


def test_the_work_of_an_evaluation_counts_the_covariance() -> None:
    assert posterior_of(CALLS["counts"]).sizes.solved > 6 * 6


@pytest.mark.parametrize(
    "name",
    ["laplace_marginal", "laplace_marginal_tol", "laplace_latent_rng", "laplace_latent_solve_tol"],
)
def test_every_name_has_a_page(name: str) -> None:
    page = " ".join(laplace_page(name).split())
    assert page.startswith(f"{name}: ")
    assert ("theta_init" in page) == ("_tol" in name)
    assert f"{name}(f, (...), int hessian_block_size, K, (...)" in page
