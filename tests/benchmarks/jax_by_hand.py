"""The densities of the large models in JAX, written by hand: what a gradient could cost.

Each takes the data and gives a log density of the unconstrained vector, Jacobian included, in the layout and
with the constants of the program, so that its value can be compared.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.stats as st
from jax.nn import log_sigmoid, softplus
from jax.scipy.special import gammaln, logsumexp

LogDensity = Callable[[Any], Any]
LOG_2 = math.log(2.0)


def logistic(X: Any, y: Any, **_: Any) -> LogDensity:
    def log_density(u: Any) -> Any:
        eta = u[0] + X @ u[1:]
        return st.t.logpdf(u, 4, 0, 2.5).sum() + (y * eta - softplus(eta)).sum()

    return log_density


def ard(D: int, x: Any, y: Any, **_: Any) -> LogDensity:
    def log_density(u: Any) -> Any:
        w, log_sigma, log_alpha = u[:D], u[D], u[D + 1 :]
        sigma, alpha = jnp.exp(log_sigma), jnp.exp(log_alpha)
        prior = -2 * log_sigma - 1 / sigma - alpha.sum()
        return (
            prior
            + st.norm.logpdf(w, 0, sigma / jnp.sqrt(alpha)).sum()
            + st.norm.logpdf(y, x @ w, sigma).sum()
            + log_sigma
            + log_alpha.sum()
        )

    return log_density


def polls(**d: Any) -> LogDensity:
    names = ("age", "edu", "age_edu", "state", "region_full")
    codes = [jnp.asarray(d[name]) - 1 for name in names]
    sizes = [d[f"n_{name}"] for name in names]
    fixed = jnp.stack([d["female"], d["black"], d["female"] * d["black"], d["v_prev_full"]], axis=1)
    y = d["y"]

    def log_density(u: Any) -> Any:
        eta = u[0] + fixed @ u[1:5]
        log_jacobian = jnp.sum(jnp.log(100.0) + log_sigmoid(u[5:10]) + log_sigmoid(-u[5:10]))
        sigma = 100 / (1 + jnp.exp(-u[5:10]))
        prior, start = st.norm.logpdf(u[:5], 0, 100).sum(), 10
        for k in range(5):
            a = u[start : start + sizes[k]]
            start += sizes[k]
            prior += st.norm.logpdf(a, 0, sigma[k]).sum()
            eta = eta + a[codes[k]]
        return prior + log_jacobian + (y * eta - softplus(eta)).sum()

    return log_density


def two_normals(y: Any, **_: Any) -> LogDensity:
    def log_density(u: Any) -> Any:
        mu = jnp.stack([u[0], u[0] + jnp.exp(u[1])])
        sigma, theta = jnp.exp(u[2:4]), 1 / (1 + jnp.exp(-u[4]))
        prior = st.norm.logpdf(mu, 0, 2).sum() + st.norm.logpdf(sigma, 0, 2).sum()
        prior += st.beta.logpdf(theta, 5, 5) + u[1] + u[2] + u[3] + log_sigmoid(u[4]) + log_sigmoid(-u[4])
        weights = jnp.log(jnp.stack([theta, 1 - theta]))
        return prior + logsumexp(weights + st.norm.logpdf(y[:, None], mu, sigma), axis=1).sum()

    return log_density


def hidden_states(T: int, K: int, y: Any, **_: Any) -> LogDensity:
    stay = 1.0 + 4.0 * jnp.eye(K)

    def log_density(u: Any) -> Any:
        simplexes = u[: (K + 1) * (K - 1)].reshape(K + 1, K - 1)
        log_x, log_jacobian = jax.vmap(softmax_simplex, in_axes=(0, None))(simplexes, K)
        log_gamma, log_rho = log_x[:K], log_x[K]
        rise, log_sigma = u[-2 * K : -K], u[-K:]
        mu, sigma = jnp.cumsum(rise.at[1:].set(jnp.exp(rise[1:]))), jnp.exp(log_sigma)
        fits = st.norm.logpdf(y[:, None], mu, sigma)

        def step(la: Any, fit: Any) -> Any:
            return logsumexp(la[:, None] + log_gamma, axis=0) + fit, None

        la, _ = jax.lax.scan(step, log_rho + fits[0], fits[1:])
        prior = K * (gammaln(K + 4.0) - gammaln(5.0)) + ((stay - 1) * log_gamma).sum()
        prior += st.norm.logpdf(mu, 0, 2).sum() + st.norm.logpdf(log_sigma, -0.5, 0.5).sum()
        return prior + log_jacobian.sum() + rise[1:].sum() + logsumexp(la)

    return log_density


def volatility(T: int, y: Any, **_: Any) -> LogDensity:
    def log_density(u: Any) -> Any:
        mu, phi, sigma, z = u[0], 2 / (1 + jnp.exp(-u[1])) - 1, jnp.exp(u[2]), u[3:]
        h = z * sigma
        h = h.at[0].divide(jnp.sqrt(1 - phi**2))
        _, h = jax.lax.scan(lambda c, e: (phi * c + e, phi * c + e), 0.0, h)
        h = mu + h
        prior = st.beta.logpdf((phi + 1) / 2, 20, 1.5) + st.cauchy.logpdf(sigma, 0, 2)
        prior += st.cauchy.logpdf(mu, 0, 5) + st.norm.logpdf(z).sum()
        log_jacobian = LOG_2 + log_sigmoid(u[1]) + log_sigmoid(-u[1]) + u[2]
        return prior + log_jacobian + st.norm.logpdf(y, 0, jnp.exp(h / 2)).sum()

    return log_density


def curve(N: int, x: Any, y: Any, **_: Any) -> LogDensity:
    squares = (x[:, None] - x) ** 2

    def log_density(u: Any) -> Any:
        rho, alpha, sigma = jnp.exp(u)
        L = jnp.linalg.cholesky(alpha**2 * jnp.exp(-0.5 * squares / rho**2) + sigma**2 * jnp.eye(N))
        z = jax.scipy.linalg.solve_triangular(L, y, lower=True)
        fit = -0.5 * z @ z - jnp.log(jnp.diag(L)).sum() - 0.5 * N * jnp.log(2 * jnp.pi)
        prior = 5 * jnp.log(5.0) - gammaln(5.0) - 6 * u[0] - 5 / rho + st.norm.logpdf(jnp.exp(u[1:])).sum()
        return fit + prior + u.sum()

    return log_density


def factors(U: int, I: int, K: int, y: Any, alpha0: float, lambda0: float, **_: Any) -> LogDensity:  # noqa: E741
    constant = (
        U * (gammaln(K * alpha0) - K * gammaln(alpha0)) + K * I * math.log(lambda0) - gammaln(y + 1.0).sum()
    )

    def log_density(u: Any) -> Any:
        free, log_beta = u[: U * (K - 1)].reshape(U, K - 1), u[U * (K - 1) :].reshape(I, K)
        log_theta, log_jacobian = jax.vmap(softmax_simplex, in_axes=(0, None))(free, K)
        beta = jnp.exp(log_beta)
        rate = jnp.exp(log_theta) @ beta.T
        prior = (alpha0 - 1) * log_theta.sum() - lambda0 * beta.sum()
        fit = (y * jnp.log(rate) - rate).sum()
        return constant + prior + log_jacobian.sum() + log_beta.sum() + fit

    return log_density


def gaussian_mixture(N: int, D: int, K: int, y: Any, **_: Any) -> LogDensity:
    """Of all rows, or of the `rows` given, which then stand for all."""

    def log_density(u: Any, rows: Any = None) -> Any:
        seen = y if rows is None else y[rows]
        log_theta, log_jacobian = softmax_simplex(u[: K - 1], K)
        mu, log_sigma = u[K - 1 : K - 1 + K * D].reshape(K, D), u[K - 1 + K * D :].reshape(K, D)
        each = st.norm.logpdf(seen[:, None], mu, jnp.exp(log_sigma)).sum(-1)
        prior = gammaln(float(K)) + st.norm.logpdf(mu).sum() + st.norm.logpdf(log_sigma).sum()
        return prior + log_jacobian + N / len(seen) * logsumexp(log_theta + each, axis=1).sum()

    return log_density


def softmax_simplex(u: Any, K: int) -> tuple[Any, Any]:
    """Stan 2.37's simplex: the softmax of a sum-to-zero vector.  Log of the simplex and of the Jacobian."""
    n = jnp.arange(1, K)
    w = u / jnp.sqrt(n * (n + 1.0))
    tail = jnp.append(jnp.cumsum(w[::-1])[::-1], 0.0)
    z = tail - jnp.append(0.0, n * w)
    log_x = jax.nn.log_softmax(z)
    return log_x, log_x.sum() + 0.5 * jnp.log(float(K))


BY_HAND: Mapping[str, Callable[..., LogDensity]] = {
    "logistic_10000x100": logistic,
    "logistic_1000000x20": logistic,
    "ard_10000x250": ard,
    "polls_11566": polls,
    "mixture_1000": two_normals,
    "hmm_400": hidden_states,
    "volatility_500": volatility,
    "gp_300": curve,
    "factors_1965x560": factors,
    "mixture_250000x64": gaussian_mixture,
}
