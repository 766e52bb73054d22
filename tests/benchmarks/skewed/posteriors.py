"""Thirty posteriors: programs, their data and exact laws."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from tests.benchmarks.skewed.exact import Law, between, by_grid, frozen, positive, real


class Known(NamedTuple):
    """A program, its data, and the laws of some of its parameters."""

    program: str
    data: dict[str, Any]
    laws: Callable[[], dict[str, Law]]


def one(declaration: str, density: str, law: Any) -> Known:
    """Of a single parameter x by a line of the model."""
    return Known(f"parameters {{ {declaration} x; }} model {{ {density} }}", {}, lambda: {"x": frozen(law)})


def by_data(names: str, parameters: str, model: str, laws: Callable[..., Any], **data: Any) -> Known:
    """Of vectors y, s, ... or sizes of data, whose laws are functions of the same arrays."""
    text = f"data {{ {names} }} parameters {{ {parameters} }} model {{ {model} }}"
    return Known(text, data, partial(laws, **{name: np.asarray(value) for name, value in data.items()}))


N = "int N; vector[N] y;"
n = stats.norm.logpdf


def scale_of_three(N, y):
    def log_p(m, s):
        return n(m, 0, 5) + stats.cauchy.logpdf(s) + sum(n(each, m, s) for each in y)

    return by_grid(log_p, m=real(-20, 20, 4001), s=positive(1e-4, 1e4, 1601))


def weibull(N, y, c):
    def log_p(a, b):
        seen = (stats.weibull_min.logpdf(each, a, scale=b) for each in y)
        censored = stats.weibull_min.logsf(3.0, a, scale=b) * c
        return (
            stats.gamma.logpdf(a, 2, scale=1)
            + stats.lognorm.logpdf(b, 2, scale=np.exp(1))
            + sum(seen)
            + censored
        )

    return by_grid(log_p, a=positive(1e-3, 60), b=positive(1e-2, 1e6))


def gumbel(N, y):
    def log_p(m, b):
        return (
            n(m, 0, 10)
            + stats.expon.logpdf(b, scale=5)
            + sum(stats.gumbel_r.logpdf(each, m, b) for each in y)
        )

    return by_grid(log_p, m=real(-40, 50, 1801), b=positive(1e-2, 300))


def gev(N, y):
    """SciPy's shape is minus that of the program."""

    def log_p(s, xi):
        terms = (stats.genextreme.logpdf(each, -xi, 0, s) for each in y)
        return stats.expon.logpdf(s, scale=5) + n(xi, 0, 0.25) + sum(terms)

    return by_grid(log_p, s=positive(1e-2, 200), xi=between(-0.5, 0.5))


def gpd(N, y):
    def log_p(s, k):
        return (
            stats.expon.logpdf(s, scale=2) + n(k, 0, 0.5) + sum(stats.genpareto.logpdf(v, k, 0, s) for v in y)
        )

    return by_grid(log_p, s=positive(1e-3, 100), k=positive(1e-8, 20))


def correlated(N, x, y):
    def log_p(r):
        d = 1 - r**2
        return sum(
            -0.5 * np.log(d) - (a * a - 2 * r * a * b + b * b) / (2 * d) for a, b in zip(x, y, strict=True)
        )

    return by_grid(log_p, r=between(-1, 1, 20, 20001))


def meta(J, y, s):
    def log_p(m, t):
        return (
            n(m, 0, 5)
            + stats.halfcauchy.logpdf(t)
            + sum(n(a, m, np.hypot(t, b)) for a, b in zip(y, s, strict=True))
        )

    return by_grid(log_p, m=real(-25, 25, 2501), t=positive(1e-6, 1e5, 1601))


def counts(N, y):
    def log_p(m, phi):
        terms = (stats.nbinom.logpmf(each, phi, phi / (phi + m)) for each in y)
        return stats.gamma.logpdf(m, 2, scale=2) + stats.gamma.logpdf(phi, 1, scale=10) + sum(terms)

    return by_grid(log_p, m=positive(1e-2, 200), phi=positive(1e-6, 1e3))


def degrees(N, y):
    def log_p(nu):
        return stats.gamma.logpdf(nu, 2, scale=10) + sum(stats.t.logpdf(each, nu) for each in y)

    return by_grid(log_p, nu=positive(1e-5, 1e3, 20001))


def one_distance(y):
    return by_grid(lambda s: np.log(2) + stats.t.logpdf(s, 5) + n(y, 0, s), s=positive(1e-3, 1e5, 20001))


def separated(N, x, y):
    def log_p(a, b):
        terms = (special.log_expit((2 * w - 1) * (a + b * v)) for v, w in zip(x, y, strict=True))
        return n(a, 0, 5) + n(b, 0, 5) + sum(terms)

    return by_grid(log_p, a=real(-35, 35), b=real(-35, 35))


def banana():
    return by_grid(lambda x, z: n(x) + n(z, x**2, 0.5), x=real(-7, 7, 1401), z=real(-5, 55, 3001))


def cuts():
    """Counts 0, 1 and 8 of three categories; by the first cut and the distance to the second."""

    def log_p(a, d):
        p = [special.expit(a), special.expit(a + d) - special.expit(a), special.expit(-a - d)]
        return n(a, 0, 3) + n(a + d, 0, 3) + np.log(p[1]) + 8 * np.log(p[2])

    return {"c.1": by_grid(log_p, a=real(-25, 15), d=positive(1e-7, 100))["a"]}


def mixture(N, y):
    def log_p(w):
        return sum(np.logaddexp(np.log(w) + n(each), np.log1p(-w) + n(each, 1, 1)) for each in y)

    return by_grid(log_p, w=between(0, 1, 25, 20001))


def autoregression(N, y):
    def log_p(r, s):
        first = n(y[0], 0, s / np.sqrt(1 - r**2))
        steps = (n(b, r * a, s) for a, b in pairwise(y))
        return np.log(2) + n(s) + first + sum(steps)

    return by_grid(log_p, r=between(-1, 1, 22), s=positive(1e-3, 30))


def capture(k):
    """Of M animals k are seen at two visits together, the numbers of each known."""

    def log_p(m, p):
        chosen = special.gammaln(m + 1) - special.gammaln(m - k + 1)
        return (
            stats.lognorm.logpdf(m, 1, scale=np.exp(4))
            + chosen
            + 25 * np.log(p)
            + (2 * m - 25) * np.log1p(-p)
        )

    return by_grid(log_p, m=positive(1e-9, 1e5, 1601, least=float(k)), p=between(0, 1, 20))


def cauchy_place(N, y):
    return by_grid(lambda m: n(m, 0, 10) + sum(stats.cauchy.logpdf(v, m) for v in y), m=real(-40, 60, 40001))


def hurdles(N, y):
    def log_p(a, b):
        return (
            stats.expon.logpdf(a)
            + stats.expon.logpdf(b, scale=5)
            + sum(stats.beta.logpdf(v, a, b) for v in y)
        )

    return by_grid(log_p, a=positive(1e-4, 50), b=positive(1e-4, 300))


def rare(J, nt, nc, rt, rc):
    """Differences of rare events in trials, whose rates are integrated out by Gauss and Hermite's rule."""
    delta, (z, w) = np.linspace(-20, 20, 2001), np.polynomial.hermite_e.hermegauss(61)
    mu = np.linspace(-16, 6, 1101)
    likelihoods = []
    for a, b, c, d in zip(nt, nc, rt, rc, strict=True):
        own = n(mu, -3, 3) + d * special.log_expit(mu) + (b - d) * special.log_expit(-mu)
        eta = mu[:, None] + delta
        both = own[:, None] + c * special.log_expit(eta) + (a - c) * special.log_expit(-eta)
        likelihoods.append(special.logsumexp(both, axis=0))

    def log_p(m, t):
        at = m[..., None] + t[..., None] * z
        terms = [special.logsumexp(np.interp(at, delta, each), axis=-1, b=w) for each in likelihoods]
        return n(m, 0, 2) + n(t, 0, 1) + sum(terms)

    return by_grid(log_p, d=real(-9, 7, 161), tau=positive(1e-5, 6, 321))


POSTERIORS = {
    "beta_no_event": one("real<lower=0, upper=1>", "x ~ beta(0.5, 10.5);", stats.beta(0.5, 10.5)),
    "beta_all_events": one("real<lower=0, upper=1>", "x ~ beta(13, 1);", stats.beta(13, 1)),
    "beta_both_ends": one("real<lower=0, upper=1>", "x ~ beta(0.4, 0.6);", stats.beta(0.4, 0.6)),
    "rate_no_event": one("real<lower=0>", "x ~ gamma(0.5, 3.5);", stats.gamma(0.5, scale=1 / 3.5)),
    "rate_next_to_none": one("real<lower=0>", "x ~ gamma(0.15, 1);", stats.gamma(0.15)),
    "inverse_gamma": one("real<lower=0>", "x ~ inv_gamma(4.5, 3);", stats.invgamma(4.5, scale=3)),
    "log_normal": one("real<lower=0>", "x ~ lognormal(0, 1);", stats.lognorm(1)),
    "pareto": one("real<lower=1>", "x ~ pareto(1, 4.5);", stats.pareto(4.5)),
    "truncated_above": one("real<upper=-1>", "x ~ std_normal();", stats.truncnorm(-np.inf, -1)),
    "truncated_both": one(
        "real<lower=0, upper=1>", "x ~ normal(1.5, 0.3);", stats.truncnorm(-5, -5 / 3, 1.5, 0.3)
    ),
    "half_normal": one("real<lower=0>", "x ~ normal(0.3, 1);", stats.truncnorm(-0.3, np.inf, 0.3)),
    "exponential_at_a_bound": one(
        "real<lower=0, upper=1>", "target += -12 * x;", stats.truncexpon(12, scale=1 / 12)
    ),
    "log_gamma": one("real", "target += 0.3 * x - exp(x);", stats.loggamma(0.3)),
    "skew_normal": one("real", "x ~ skew_normal(0, 1, 8);", stats.skewnorm(8)),
    "student_t": one("real", "x ~ student_t(5, 0, 1);", stats.t(5)),
    "folded": one(
        "real<lower=0>",
        "target += log_sum_exp(normal_lpdf(x | 1, 0.7), normal_lpdf(-x | 1, 0.7));",
        stats.foldnorm(1 / 0.7, scale=0.7),
    ),
    "dirichlet_tiny": Known(
        "parameters { simplex[3] p; } model { p ~ dirichlet([0.3, 1.3, 4.3]'); }",
        {},
        lambda: {f"p.{k + 1}": frozen(stats.beta(a, 5.9 - a)) for k, a in enumerate((0.3, 1.3, 4.3))},
    ),
    "funnel": Known(
        "parameters { real v; real x; } model { v ~ normal(0, 2); x ~ normal(0, exp(v / 2)); }",
        {},
        lambda: {"v": frozen(stats.norm(0, 2))},
    ),
    "banana": Known(
        "parameters { real x; real z; } model { x ~ std_normal(); z ~ normal(square(x), 0.5); }", {}, banana
    ),
    "ordered_cuts": Known(
        "parameters { ordered[2] c; } model { c ~ normal(0, 3); 2 ~ ordered_logistic(0, c); "
        "for (i in 1:8) 3 ~ ordered_logistic(0, c); }",
        {},
        cuts,
    ),
    "scale_of_three": by_data(
        N,
        "real m; real<lower=0> s;",
        "m ~ normal(0, 5); s ~ cauchy(0, 1); y ~ normal(m, s);",
        scale_of_three,
        N=3,
        y=[1.0, 1.2, 0.7],
    ),
    "weibull_censored": by_data(
        N + " int c;",
        "real<lower=0> a; real<lower=0> b;",
        "a ~ gamma(2, 1); b ~ lognormal(1, 2); y ~ weibull(a, b); target += c * weibull_lccdf(3 | a, b);",
        weibull,
        N=4,
        y=[0.3, 1.1, 2.4, 2.9],
        c=6,
    ),
    "gumbel": by_data(
        N,
        "real m; real<lower=0> b;",
        "m ~ normal(0, 10); b ~ exponential(0.2); y ~ gumbel(m, b);",
        gumbel,
        N=5,
        y=[1.0, 2.2, 0.1, 6.5, 1.7],
    ),
    "gev_at_its_bound": by_data(
        N,
        "real<lower=0> s; real<lower=-0.5, upper=0.5> xi;",
        "s ~ exponential(0.2); xi ~ normal(0, 0.25); vector[N] l = log1p(xi * y / s); "
        "target += -N * log(s) - sum((1 + 1 / xi) * l + exp(-l / xi));",
        gev,
        N=8,
        y=[-2.1, 0.4, 3.0, 1.1, 7.9, -1.0, 0.2, 14.0],
    ),
    "generalised_pareto": by_data(
        N,
        "real<lower=0> s; real<lower=0> k;",
        "s ~ exponential(0.5); k ~ normal(0, 0.5); "
        "target += -N * log(s) - (1 + 1 / k) * sum(log1p(k * y / s));",
        gpd,
        N=8,
        y=[0.1, 0.3, 0.4, 0.9, 1.2, 1.9, 3.8, 11.0],
    ),
    "correlation_near_1": by_data(
        "int N; vector[N] x; vector[N] y;",
        "real<lower=-1, upper=1> r;",
        "target += -0.5 * N * log1m(square(r)) - (dot_self(x) - 2 * r * dot_product(x, y) + dot_self(y)) / "
        "(2 * (1 - square(r)));",
        correlated,
        N=6,
        x=[-1.2, -0.5, 0.1, 0.4, 0.9, 1.4],
        y=[-1.1, -0.6, 0.2, 0.3, 1.0, 1.3],
    ),
    "meta_of_three": by_data(
        "int J; vector[J] y; vector[J] s;",
        "real m; real<lower=0> t; vector[J] d;",
        "m ~ normal(0, 5); t ~ cauchy(0, 1); d ~ normal(m, t); y ~ normal(d, s);",
        meta,
        J=3,
        y=[0.4, 0.1, 0.9],
        s=[0.4, 0.3, 0.5],
    ),
    "meta_of_rare_events": by_data(
        "int J; array[J] int nt; array[J] int nc; array[J] int rt; array[J] int rc;",
        "real d; real<lower=0> tau; vector[J] mu; vector[J] delta;",
        "d ~ normal(0, 2); tau ~ normal(0, 1); mu ~ normal(-3, 3); delta ~ normal(d, tau); "
        "rc ~ binomial_logit(nc, mu); rt ~ binomial_logit(nt, mu + delta);",
        rare,
        J=4,
        nt=[40, 30, 60, 25],
        nc=[38, 33, 60, 20],
        rt=[0, 1, 0, 0],
        rc=[2, 1, 3, 0],
    ),
    "overdispersed_counts": by_data(
        "int N; array[N] int y;",
        "real<lower=0> m; real<lower=0> phi;",
        "m ~ gamma(2, 0.5); phi ~ gamma(1, 0.1); y ~ neg_binomial_2(m, phi);",
        counts,
        N=5,
        y=[0, 3, 1, 0, 9],
    ),
    "degrees_of_freedom": by_data(
        N,
        "real<lower=0> nu;",
        "nu ~ gamma(2, 0.1); y ~ student_t(nu, 0, 1);",
        degrees,
        N=6,
        y=[0.1, -0.9, 1.4, 3.2, -0.3, 0.6],
    ),
    "scale_by_one": by_data(
        "real y;", "real<lower=0> s;", "s ~ student_t(5, 0, 1); y ~ normal(0, s);", one_distance, y=0.1
    ),
    "separated": by_data(
        "int N; vector[N] x; array[N] int y;",
        "real a; real b;",
        "a ~ normal(0, 5); b ~ normal(0, 5); y ~ bernoulli_logit(a + b * x);",
        separated,
        N=6,
        x=[-1.5, -1.0, -0.2, 0.3, 1.1, 1.7],
        y=[0, 0, 0, 1, 1, 1],
    ),
    "mixture_weight": by_data(
        N,
        "real<lower=0, upper=1> w;",
        "for (i in 1:N) target += log_mix(w, normal_lpdf(y[i] | 0, 1), normal_lpdf(y[i] | 1, 1));",
        mixture,
        N=4,
        y=[-0.5, 0.1, -1.2, 0.4],
    ),
    "autoregression_near_1": by_data(
        N,
        "real<lower=-1, upper=1> r; real<lower=0> s;",
        "s ~ normal(0, 1); y[1] ~ normal(0, s / sqrt(1 - square(r))); y[2:N] ~ normal(r * y[1:(N - 1)], s);",
        autoregression,
        N=8,
        y=[2.0, 2.1, 1.8, 1.9, 2.3, 2.2, 2.0, 2.4],
    ),
    "capture": by_data(
        "int k;",
        "real<lower=k> m; real<lower=0, upper=1> p;",
        "m ~ lognormal(4, 1); "
        "target += lgamma(m + 1) - lgamma(m - k + 1) + 25 * log(p) + (2 * m - 25) * log1m(p);",
        capture,
        k=22,
    ),
    "cauchy_place": by_data(
        N, "real m;", "m ~ normal(0, 10); y ~ cauchy(m, 1);", cauchy_place, N=2, y=[0.0, 3.0]
    ),
    "beta_shapes": by_data(
        N,
        "real<lower=0> a; real<lower=0> b;",
        "a ~ exponential(1); b ~ exponential(0.2); y ~ beta(a, b);",
        hurdles,
        N=3,
        y=[0.001, 0.03, 0.2],
    ),
}
