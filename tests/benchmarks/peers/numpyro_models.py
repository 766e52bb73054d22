"""The programs of problems.py in NumPyro, by hand, with the densities and constants of the Stan programs.

A truncated prior that Stan leaves unnormalised is left unnormalised here (`half`), so that ELBOs compare.
"""

import math

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import logsumexp

LOG_2 = math.log(2.0)


def half(name, distribution):
    """A prior cut at zero whose density is that of the whole line."""
    numpyro.factor(f"{name}_uncut", -LOG_2)
    return numpyro.sample(name, distribution)


def hier_normal_noncentred(J, group, y, **_):
    y_bar, y_sd = y.mean(), y.std(ddof=1)
    mu = y_bar + y_sd * numpyro.sample("mu_std", dist.Normal(0, 1))
    tau = half("tau", dist.HalfNormal(1))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([J]))
    sigma = numpyro.sample("sigma", dist.Exponential(1 / y_sd))
    numpyro.sample("y", dist.Normal((mu + tau * z)[group - 1], sigma), obs=y)


def logistic_glm(K, X, y, **_):
    alpha = numpyro.sample("alpha", dist.StudentT(4, 0, 2.5))
    beta = numpyro.sample("beta", dist.StudentT(4, 0, 2.5).expand([K]))
    numpyro.sample("y", dist.BernoulliLogits(alpha + X @ beta), obs=y)


def mixture_two_normals(y, **_):
    ordered = dist.transforms.OrderedTransform()
    first = numpyro.sample("mu_u", dist.ImproperUniform(dist.constraints.real_vector, (), (2,)))
    mu = ordered(first)
    numpyro.factor("mu_prior", dist.Normal(0, 2).log_prob(mu).sum() + ordered.log_abs_det_jacobian(first, mu))
    sigma = numpyro.sample("sigma", dist.HalfNormal(2).expand([2]))
    numpyro.factor("sigma_uncut", -2 * LOG_2)
    theta = numpyro.sample("theta", dist.Beta(5, 5))
    each = dist.Normal(mu, sigma).log_prob(y[:, None]) + jnp.log(jnp.stack([theta, 1 - theta]))
    numpyro.factor("y", logsumexp(each, axis=1).sum())


def irt_2pl(I, J, ii, jj, y, **_):  # noqa: E741
    alpha = numpyro.sample("alpha", dist.LogNormal(0.5, 1).expand([I]))
    mu = numpyro.sample("mu_beta", dist.Normal(0, 5))
    sigma = half("sigma_beta", dist.HalfCauchy(5))
    beta = numpyro.sample("beta", dist.Normal(mu, sigma).expand([I]))
    theta = numpyro.sample("theta", dist.Normal(0, 1).expand([J]))
    logits = alpha[ii - 1] * (theta[jj - 1] - beta[ii - 1])
    numpyro.sample("y", dist.BernoulliLogits(logits), obs=y)


def negbin_regression_loo(K, X, y, **_):
    alpha = numpyro.sample("alpha", dist.Normal(0, 3))
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([K]))
    phi = 1 / numpyro.sample("phi_inv", dist.Exponential(2))
    numpyro.sample("y", dist.NegativeBinomial2(jnp.exp(alpha + X @ beta), phi), obs=y)


def gp_regression(N, x, y, **_):
    rho = numpyro.sample("rho", dist.InverseGamma(5, 5))
    alpha = half("alpha", dist.HalfNormal(1))
    sigma = half("sigma", dist.HalfNormal(1))
    K = alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + sigma**2 * jnp.eye(N)
    L = jnp.linalg.cholesky(K)
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(N), scale_tril=L), obs=y)


def survival_weibull_censored(x, t, event, **_):
    shape = numpyro.sample("shape", dist.Gamma(2, 1))
    b0 = numpyro.sample("b0", dist.Normal(0, 2))
    b1 = numpyro.sample("b1", dist.Normal(0, 2))
    scale = jnp.exp(b0 + b1 * x)
    died = dist.Weibull(scale, shape).log_prob(t)
    numpyro.factor("t", jnp.where(event == 1, died, -((t / scale) ** shape)).sum())


def poisson_offset_overdispersed(N, K, X, exposure, y, **_):
    alpha = numpyro.sample("alpha", dist.Normal(0, 2))
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([K]))
    eps = numpyro.sample("eps", dist.Normal(0, 1).expand([N]))
    sigma = half("sigma", dist.HalfNormal(0.5))
    eta = alpha + X @ beta + jnp.log(exposure) + sigma * eps
    numpyro.sample("y", dist.Poisson(jnp.exp(eta)), obs=y)


def ar_k(K, T, y, **_):
    alpha = numpyro.sample("alpha", dist.Normal(0, 10))
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([K]))
    sigma = half("sigma", dist.HalfCauchy(1))
    lags = jnp.stack([y[K - k - 1 : T - k - 1] for k in range(K)], axis=1)
    numpyro.sample("y", dist.Normal(alpha + lags @ beta, sigma), obs=y[K:])


def linear_regression_ard(P, X, y, **_):
    alpha = numpyro.sample("alpha", dist.Gamma(1, 1).expand([P]))
    sigma2 = numpyro.sample("sigma2", dist.InverseGamma(1, 1))
    w = numpyro.sample("w", dist.Normal(0, jnp.sqrt(sigma2 / alpha)))
    numpyro.sample("y", dist.Normal(X @ w, jnp.sqrt(sigma2)), obs=y)


def ard(D, x, y, **_):
    alpha = numpyro.sample("alpha", dist.Gamma(1, 1).expand([D]))
    sigma = numpyro.sample("sigma", dist.InverseGamma(1, 1))
    w = numpyro.sample("w", dist.Normal(0, sigma / jnp.sqrt(alpha)))
    numpyro.sample("y", dist.Normal(x @ w, sigma), obs=y)


def polls(y, black, female, v_prev_full, **d):
    names = ("0", "female", "black", "female_black", "v_prev")
    b = [numpyro.sample(f"beta_{name}", dist.Normal(0, 100)) for name in names]
    eta = b[0] + b[1] * female + b[2] * black + b[3] * female * black + b[4] * v_prev_full
    for name in ("age", "edu", "age_edu", "state", "region_full"):
        sigma = numpyro.sample(f"sigma_{name}", dist.Uniform(0, 100))
        numpyro.factor(f"sigma_{name}_flat", jnp.log(100.0))
        a = numpyro.sample(f"a_{name}", dist.Normal(0, sigma).expand([d[f"n_{name}"]]))
        eta = eta + a[d[name] - 1]
    numpyro.sample("y", dist.BernoulliLogits(eta), obs=y)


def hmm_forward_gaussian(K, y, **_):
    prior = jnp.ones((K, K)) + 4 * jnp.eye(K)
    gamma = numpyro.sample("gamma", dist.Dirichlet(prior).to_event(1))
    rho = numpyro.sample("rho", dist.ImproperUniform(dist.constraints.simplex, (), (K,)))
    ordered = dist.transforms.OrderedTransform()
    first = numpyro.sample("mu_u", dist.ImproperUniform(dist.constraints.real_vector, (), (K,)))
    mu = ordered(first)
    numpyro.factor("mu_prior", dist.Normal(0, 2).log_prob(mu).sum() + ordered.log_abs_det_jacobian(first, mu))
    sigma = numpyro.sample("sigma", dist.LogNormal(-0.5, 0.5).expand([K]))
    emission = dist.Normal(mu, sigma).log_prob(y[:, None])

    def step(la, e):
        return logsumexp(la[:, None] + jnp.log(gamma), axis=0) + e, None

    la, _ = jax.lax.scan(step, jnp.log(rho) + emission[0], emission[1:])
    numpyro.factor("y", logsumexp(la))


def stochastic_volatility(T, y, **_):
    mu = numpyro.sample("mu", dist.Cauchy(0, 5))
    phi = numpyro.sample("phi", dist.Uniform(-1, 1))
    numpyro.factor("phi_prior", dist.Beta(20, 1.5).log_prob((phi + 1) / 2) + LOG_2)
    sigma = half("sigma", dist.HalfCauchy(2))
    z = numpyro.sample("h_std", dist.Normal(0, 1).expand([T])) * sigma

    def step(h, e):
        h = mu + phi * (h - mu) + e
        return h, h

    first = mu + z[0] / jnp.sqrt(1 - phi**2)
    _, rest = jax.lax.scan(step, first, z[1:])
    numpyro.sample("y", dist.Normal(0, jnp.exp(jnp.append(first, rest) / 2)), obs=y)


def factors(U, K, I, y, alpha0, lambda0, **_):  # noqa: E741
    theta = numpyro.sample("theta", dist.Dirichlet(jnp.full(K, alpha0)).expand([U]))
    beta = numpyro.sample("beta", dist.Exponential(lambda0).expand([K, I]))
    numpyro.sample("y", dist.Poisson(theta @ beta), obs=y)


def gaussian_mixture(N, D, K, y, alpha0, minibatch=None, **_):
    theta = numpyro.sample("theta", dist.Dirichlet(jnp.full(K, alpha0)))
    mu = numpyro.sample("mu", dist.Normal(0, 1).expand([K, D]))
    sigma = numpyro.sample("sigma", dist.LogNormal(0, 1).expand([K, D]))
    with numpyro.plate("rows", N, subsample_size=minibatch):
        batch = numpyro.subsample(y, event_dim=1)
        z = (batch[:, None] - mu) / sigma
        each = -0.5 * (z**2).sum(-1) - jnp.log(sigma).sum(-1) - 0.5 * D * jnp.log(2 * jnp.pi)
        numpyro.factor("y", logsumexp(jnp.log(theta) + each, axis=1))


MODELS = {
    f.__name__: f
    for f in (
        hier_normal_noncentred,
        logistic_glm,
        mixture_two_normals,
        irt_2pl,
        negbin_regression_loo,
        gp_regression,
        survival_weibull_censored,
        poisson_offset_overdispersed,
        ar_k,
        linear_regression_ard,
    )
} | {
    "logistic_10000x100": logistic_glm,
    "logistic_1000000x20": logistic_glm,
    "ard_10000x250": ard,
    "polls_11566": polls,
    "mixture_1000": mixture_two_normals,
    "hmm_400": hmm_forward_gaussian,
    "volatility_500": stochastic_volatility,
    "gp_300": gp_regression,
    "factors_1965x560": factors,
    "mixture_250000x64": gaussian_mixture,
}
