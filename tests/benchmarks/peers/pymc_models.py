"""The small programs of problems.py in PyMC, by hand."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt


def hier_normal_noncentred(J, group, y, **_):
    y_bar, y_sd = y.mean(), y.std(ddof=1)
    mu = y_bar + y_sd * pm.Normal("mu_std")
    tau = pm.HalfNormal("tau", 1)
    z = pm.Normal("z", shape=J)
    sigma = pm.Exponential("sigma", 1 / y_sd)
    pm.Normal("y", (mu + tau * z)[group - 1], sigma, observed=y)


def logistic_glm(K, X, y, **_):
    alpha = pm.StudentT("alpha", nu=4, mu=0, sigma=2.5)
    beta = pm.StudentT("beta", nu=4, mu=0, sigma=2.5, shape=K)
    pm.Bernoulli("y", logit_p=alpha + X @ beta, observed=y)


def mixture_two_normals(y, **_):
    ordered = pm.distributions.transforms.ordered
    mu = pm.Normal("mu", 0, 2, shape=2, transform=ordered, initval=np.array([-1.0, 1.0]))
    sigma = pm.HalfNormal("sigma", 2, shape=2)
    theta = pm.Beta("theta", 5, 5)
    pm.NormalMixture("y", w=pt.stack([theta, 1 - theta]), mu=mu, sigma=sigma, observed=y)


def irt_2pl(I, J, ii, jj, y, **_):  # noqa: E741
    alpha = pm.LogNormal("alpha", 0.5, 1, shape=I)
    beta = pm.Normal("beta", pm.Normal("mu_beta", 0, 5), pm.HalfCauchy("sigma_beta", 5), shape=I)
    theta = pm.Normal("theta", shape=J)
    pm.Bernoulli("y", logit_p=alpha[ii - 1] * (theta[jj - 1] - beta[ii - 1]), observed=y)


def negbin_regression_loo(K, X, y, **_):
    eta = pm.Normal("alpha", 0, 3) + X @ pm.Normal("beta", 0, 1, shape=K)
    pm.NegativeBinomial("y", mu=pt.exp(eta), alpha=1 / pm.Exponential("phi_inv", 2), observed=y)


def gp_regression(N, x, y, **_):
    rho = pm.InverseGamma("rho", 5, 5)
    alpha = pm.HalfNormal("alpha", 1)
    sigma = pm.HalfNormal("sigma", 1)
    K = alpha**2 * pt.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + sigma**2 * pt.eye(N)
    pm.MvNormal("y", mu=np.zeros(N), cov=K, observed=y)


def survival_weibull_censored(x, t, event, **_):
    shape = pm.Gamma("shape", 2, 1)
    scale = pt.exp(pm.Normal("b0", 0, 2) + pm.Normal("b1", 0, 2) * x)
    died = pm.logp(pm.Weibull.dist(shape, scale), t)
    pm.Potential("t", pt.where(pt.eq(event, 1), died, -((t / scale) ** shape)).sum())


def poisson_offset_overdispersed(N, K, X, exposure, y, **_):
    alpha = pm.Normal("alpha", 0, 2)
    beta = pm.Normal("beta", 0, 1, shape=K)
    noise = pm.HalfNormal("sigma", 0.5) * pm.Normal("eps", shape=N)
    pm.Poisson("y", pt.exp(alpha + X @ beta + np.log(exposure) + noise), observed=y)


def ar_k(K, T, y, **_):
    lags = np.stack([y[K - k - 1 : T - k - 1] for k in range(K)], axis=1)
    mu = pm.Normal("alpha", 0, 10) + lags @ pm.Normal("beta", 0, 1, shape=K)
    pm.Normal("y", mu, pm.HalfCauchy("sigma", 1), observed=y[K:])


def linear_regression_ard(P, X, y, **_):
    alpha = pm.Gamma("alpha", 1, 1, shape=P)
    sigma2 = pm.InverseGamma("sigma2", 1, 1)
    w = pm.Normal("w", 0, pt.sqrt(sigma2 / alpha), shape=P)
    pm.Normal("y", X @ w, pt.sqrt(sigma2), observed=y)


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
}
