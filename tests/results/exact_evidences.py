"""Programs of which the log evidence is known: by conjugacy, enumeration or quadrature."""

from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy import integrate, special, stats

Y = np.array([1.2, -0.4, 0.9, 2.1, 0.3, 1.6, -1.0, 0.7])
COUNTS = np.array([3, 5, 1, 4, 2, 6])
X = np.array([-1.5, -0.8, -0.1, 0.4, 1.1, 1.9])
WAITS = np.array([0.4, 1.7, 0.9, 2.8, 0.2, 1.1])
POINTS = np.array([[0.5, -0.2], [1.4, 0.8], [-0.3, 0.1]])
COVARIANCE = np.array([[1.0, 0.6], [0.6, 2.0]])
WON = np.array([0, 0, 1, 0, 1, 1])
SCHOOLS, ERRORS = (np.array(x, dtype=float) for x in ([28, 8, -3, 7, -1, 1], [15, 10, 16, 11, 9, 11]))


class Known(NamedTuple):
    """A program, its data, and the log evidence."""

    program: str
    data: dict
    log_evidence: float


def jointly_normal(y, mean, covariance):
    return float(stats.multivariate_normal(mean, covariance).logpdf(y))


def normal(y, mean, sd):
    """The log density; those of SciPy take a hundred times as long."""
    return -0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def over_the_line(log_density, low=-np.inf, high=np.inf):
    """The log of the integral of the exponential of a log density of one number."""
    peak = max(log_density(x) for x in np.linspace(max(low, -20) + 1e-9, min(high, 20) - 1e-9, 201))
    value, _ = integrate.quad(lambda x: np.exp(log_density(x) - peak), low, high, limit=500, epsabs=1e-13)
    return float(np.log(value) + peak)


def over_a_grid(log_density, *ranges, points=None):
    """The log of the integral by the trapezoidal rule, exact to rounding for smooth functions that vanish."""
    axes = [np.linspace(*ends, n) for ends, n in zip(ranges, points or [1201] * len(ranges), strict=True)]
    values = log_density(*np.meshgrid(*axes, indexing="ij", sparse=True))
    return float(special.logsumexp(values) + sum(np.log(axis[1] - axis[0]) for axis in axes))


def normal_mean():
    n = len(Y)
    return Known(
        "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(1, 3); y ~ normal(m, 2); }",
        {"N": n, "y": Y},
        jointly_normal(Y, np.full(n, 1.0), 4 * np.eye(n) + 9),
    )


def beta_binomial():
    program = """data { int n; int k; } parameters { real<lower=0, upper=1> p; }
    model { p ~ beta(2, 3); k ~ binomial(n, p); }"""
    return Known(program, {"n": 12, "k": 9}, float(stats.betabinom(12, 2, 3).logpmf(9)))


def gamma_poisson():
    program = """data { int N; array[N] int y; } parameters { real<lower=0> rate; }
    model { rate ~ gamma(2, 0.5); y ~ poisson(rate); }"""
    n, total = len(COUNTS), COUNTS.sum()
    value = 2 * np.log(0.5) - special.gammaln(2) + special.gammaln(2 + total)
    value -= (2 + total) * np.log(0.5 + n) + special.gammaln(COUNTS + 1).sum()
    return Known(program, {"N": n, "y": COUNTS}, float(value))


def regression():
    program = """data { int N; vector[N] x; vector[N] y; } parameters { real a; real b; }
    model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ normal(a + b * x, 0.5); }"""
    y = 0.5 + 0.8 * X + np.array([0.3, -0.2, 0.1, -0.4, 0.2, 0.0])
    covariance = 4 + np.outer(X, X) + 0.25 * np.eye(len(X))
    return Known(program, {"N": len(X), "x": X, "y": y}, jointly_normal(y, np.zeros(len(X)), covariance))


def normal_inverse_gamma():
    """A Student's t: y ~ t(2a, 0, b/a (I + 1 1' / k))."""
    program = """data { int N; vector[N] y; } parameters { real mu; real<lower=0> v; }
    model { v ~ inv_gamma(3, 2); mu ~ normal(0, sqrt(v / 0.5)); y ~ normal(mu, sqrt(v)); }"""
    n = len(Y)
    shape = 2 / 3 * (np.eye(n) + 1 / 0.5)
    return Known(program, {"N": n, "y": Y}, float(stats.multivariate_t(np.zeros(n), shape, df=6).logpdf(Y)))


def dirichlet_multinomial():
    program = """data { array[4] int y; } parameters { simplex[4] p; }
    model { p ~ dirichlet([1, 2, 0.5, 3]'); y ~ multinomial(p); }"""
    counts, alpha = np.array([3, 2, 4, 7]), np.array([1, 2, 0.5, 3])
    known = stats.dirichlet_multinomial(alpha, counts.sum()).logpmf(counts)
    return Known(program, {"y": counts}, float(known))


def gaussian_process():
    program = """data { int N; array[N] real x; vector[N] y; } parameters { vector[N] f; }
    model { f ~ multi_normal(rep_vector(0, N), add_diag(gp_exp_quad_cov(x, 1.0, 0.8), 1e-6));
    y ~ normal(f, 0.3); }"""
    n = len(X)
    k = np.exp(-0.5 * (X[:, None] - X) ** 2 / 0.64) + 1e-6 * np.eye(n)
    y = np.sin(2 * X)
    return Known(program, {"N": n, "x": X, "y": y}, jointly_normal(y, np.zeros(n), k + 0.09 * np.eye(n)))


def multivariate_mean():
    program = """data { int N; array[N] vector[2] y; matrix[2, 2] S; } parameters { vector[2] m; }
    model { m ~ normal(0, 2); y ~ multi_normal(m, S); }"""
    n = len(POINTS)
    covariance = np.kron(np.eye(n), COVARIANCE) + np.kron(np.ones((n, n)), 4 * np.eye(2))
    known = jointly_normal(POINTS.ravel(), np.zeros(2 * n), covariance)
    return Known(program, {"N": n, "y": POINTS, "S": COVARIANCE}, known)


def exponential_gamma():
    program = """data { int N; vector[N] y; } parameters { real<lower=0> rate; }
    model { rate ~ gamma(3, 2); y ~ exponential(rate); }"""
    n, total = len(WAITS), WAITS.sum()
    value = 3 * np.log(2) - special.gammaln(3) + special.gammaln(3 + n) - (3 + n) * np.log(2 + total)
    return Known(program, {"N": n, "y": WAITS}, float(value))


def mixture():
    """The labels can be exchanged; the evidence is a sum over who is of which component."""
    program = """data { int N; vector[N] y; } parameters { vector[2] m; }
    model { m ~ normal(0, 3);
    for (n in 1:N) target += log_mix(0.4, normal_lpdf(y[n] | m[1], 1), normal_lpdf(y[n] | m[2], 1)); }"""
    y = np.array([-2.2, -1.7, 1.9, 2.6, -2.9, 2.3])

    def part(own):
        return jointly_normal(own, np.zeros(len(own)), np.eye(len(own)) + 9) if len(own) else 0.0

    terms = []
    for labels in map(np.array, product([0, 1], repeat=len(y))):
        shares = np.log([0.4, 0.6])[labels].sum()
        terms.append(shares + part(y[labels == 0]) + part(y[labels == 1]))
    return Known(program, {"N": len(y), "y": y}, float(special.logsumexp(terms)))


def two_modes():
    program = """parameters { vector[2] x; }
    model { target += 5 + log_mix(0.3, normal_lpdf(x | -2, 0.7), normal_lpdf(x | 2, 1)); }"""
    return Known(program, {}, 5.0)


def hierarchical():
    """Given tau, mu and the effects are integrated out; tau by quadrature."""
    program = """data { int J; vector[J] y; vector<lower=0>[J] s; }
    parameters { real mu; real<lower=0> tau; vector[J] theta; }
    model { mu ~ normal(0, 10); tau ~ exponential(0.2); theta ~ normal(mu, tau); y ~ normal(theta, s); }"""
    j = len(SCHOOLS)

    def given(tau):
        covariance = np.diag(ERRORS**2 + tau**2) + 100
        return jointly_normal(SCHOOLS, np.zeros(j), covariance) + np.log(0.2) - 0.2 * tau

    return Known(program, {"J": j, "y": SCHOOLS, "s": ERRORS}, over_the_line(given, 0, 200))


def truncated():
    """A prior that is cut off, and divided by what is left of it."""
    program = """data { int N; vector[N] y; } parameters { real<lower=0> s; }
    model { s ~ normal(0, 2) T[0, ]; y ~ normal(0, s); }"""

    def given(s):
        return np.log(2) + normal(s, 0, 2) + normal(Y, 0, s).sum()

    return Known(program, {"N": len(Y), "y": Y}, over_the_line(given, 0))


def logistic():
    program = """data { int N; vector[N] x; array[N] int y; } parameters { real b; }
    model { b ~ normal(0, 5); y ~ bernoulli_logit(b * x); }"""

    def given(b):
        return normal(b, 0, 5) - np.logaddexp(0, np.where(WON, -1, 1) * b * X).sum()

    return Known(program, {"N": len(X), "x": X, "y": WON}, over_the_line(given, -100, 100))


def which_rate():
    """A discrete parameter is summed out."""
    program = """data { int N; array[N] int y; } parameters { int<lower=1, upper=3> k; real<lower=0> rate; }
    model { k ~ categorical([0.5, 0.3, 0.2]'); rate ~ gamma(k, 1); y ~ poisson(rate); }"""
    n, total = len(COUNTS), COUNTS.sum()
    terms = []
    for k, share in zip((1, 2, 3), (0.5, 0.3, 0.2), strict=True):
        value = -special.gammaln(k) + special.gammaln(k + total) - (k + total) * np.log(1 + n)
        terms.append(np.log(share) + value - special.gammaln(COUNTS + 1).sum())
    return Known(program, {"N": n, "y": COUNTS}, float(special.logsumexp(terms)))


def heavy_tails():
    program = """data { int N; vector[N] y; } parameters { real m; }
    model { m ~ cauchy(0, 1); y ~ student_t(3, m, 1); }"""
    y = np.array([-2.0, 4.0, 0.3])

    def given(m):
        return stats.cauchy.logpdf(m) + stats.t.logpdf(y, 3, m).sum()

    return Known(program, {"N": 3, "y": y}, over_the_line(given))


def cut_at_a_bound():
    """A count of zero with a wide prior: one tail is a Gaussian's, the other overflows."""
    program = """parameters { real a; } model { a ~ normal(0, 10); 0 ~ poisson_log(a); }"""
    return Known(program, {}, over_the_line(lambda a: normal(a, 0, 10) - np.exp(a), -100, 20))


def exponential_of_an_exponential():
    """exp(-exp(exp(a))), far from the mode beyond any number."""
    program = """parameters { real a; } model { a ~ normal(0, 3); target += -exp(exp(a)); }"""

    def given(a):
        return normal(a, 0, 3) - np.exp(np.exp(min(a, 6.0)))

    return Known(program, {}, over_the_line(given, -40, 6))


def gompertz():
    """Waits with a hazard b exp(a t), some of them longer than was looked."""
    program = """data { int N; vector[N] t; vector[N] d; } parameters { real a; real<lower=0> b; }
    model { a ~ normal(0, 2); b ~ exponential(1);
    for (n in 1:N) target += d[n] * (log(b) + a * t[n]) - b * expm1(a * t[n]) / a; }"""
    died = np.array([1.0, 0, 1, 1, 1, 0])

    def given(a, log_b):
        found = normal(a, 0, 2) - np.exp(log_b) + log_b
        for t, d in zip(WAITS, died, strict=True):
            found = found + d * (log_b + a * t) - np.exp(log_b) * np.expm1(a * t) / a
        return found

    known = over_a_grid(given, (-14.0001, 10), (-30, 6))
    return Known(program, {"N": len(WAITS), "t": WAITS, "d": died}, known)


def weibull():
    """Censored waits by a covariate; scales overflow far from the mode."""
    program = """data { int N; vector[N] t; array[N] int d; vector[N] x; }
    parameters { real a; real b; real<lower=0> k; }
    model { a ~ normal(0, 5); b ~ normal(0, 5); k ~ gamma(1, 0.1);
    for (n in 1:N) target += d[n] == 1 ? weibull_lpdf(t[n] | k, exp(a + b * x[n]))
      : weibull_lccdf(t[n] | k, exp(a + b * x[n])); }"""
    died = np.array([1, 0, 1, 1, 0, 1])

    def given(a, b, log_k):
        k = np.exp(log_k)
        found = normal(a, 0, 5) + normal(b, 0, 5) + np.log(0.1) - 0.1 * k + log_k
        for t, d, x in zip(WAITS, died, X, strict=True):
            log_t = np.log(t) - a - b * x
            found = found + d * (log_k + (k - 1) * log_t - a - b * x) - np.exp(k * log_t)
        return found

    known = over_a_grid(given, (-20, 30), (-22, 22), (-6, 5), points=(241, 221, 81))
    return Known(program, {"N": len(WAITS), "t": WAITS, "d": died, "x": X}, known)


def at_both_bounds():
    """A beta density that is infinite at 0 and at 1."""
    program = "parameters { real<lower=0, upper=1> p; } model { p ~ beta(0.3, 0.4); 1 ~ binomial(2, p); }"
    return Known(program, {}, float(stats.betabinom(2, 0.3, 0.4).logpmf(1)))


def none_of_forty():
    program = """parameters { real<lower=0, upper=1> p; } model { 0 ~ binomial(40, p); }"""
    return Known(program, {}, float(-np.log(41)))


def half_cauchy_scale():
    """Two observations tell a scale little, whose prior has a heavy tail."""
    program = """data { vector[2] y; } parameters { real<lower=0> s; }
    model { target += log(2); s ~ cauchy(0, 5); y ~ normal(0, s); }"""
    y = np.array([0.3, -0.8])

    def given(log_s):
        s = np.exp(log_s)
        return log_s + np.log(2) + stats.cauchy.logpdf(s, 0, 5) + normal(y[0], 0, s) + normal(y[1], 0, s)

    return Known(program, {"y": y}, over_the_line(given, -20, 60))


def shrunk():
    """A coefficient with the horseshoe's prior: a normal whose scale is half-Cauchy."""
    program = """parameters { real b; real<lower=0> l; }
    model { target += log(2); l ~ cauchy(0, 1); b ~ normal(0, l); 2.5 ~ normal(b, 1); }"""

    def given(log_l):
        width = np.exp(log_l)
        return log_l + np.log(2) + stats.cauchy.logpdf(width) + normal(2.5, 0, np.hypot(1, width))

    return Known(program, {}, over_the_line(given, -40, 60))


def banana():
    program = "parameters { real x; real y; } model { x ~ normal(0, 1); y ~ normal(square(x), 0.3); }"
    return Known(program, {}, 0.0)


def funnel():
    """Neal's: the scale of nine effects without data."""
    program = """parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }"""
    return Known(program, {}, 0.0)


def skewed():
    """A log-normal and an inverse gamma, on the whole line."""
    program = """parameters { real x; real<lower=0> y; }
    model { x ~ skew_normal(0, 1, 8); y ~ inv_gamma(0.8, 1); target += -3; }"""
    return Known(program, {}, -3.0)


def cauchy_in_the_plane():
    program = "parameters { vector[2] x; } model { x ~ multi_student_t(1.2, [0, 1]', [[1, 0.5], [0.5, 2]]); }"
    return Known(program, {}, 0.0)


def exchangeable(count):
    """A program whose components share a prior: of three of them six modes are images of one another."""
    densities = ", ".join(f"normal_lpdf(y[n] | m[{k + 1}], 0.5)" for k in range(count))
    return f"""data {{ int N; vector[N] y; }} parameters {{ vector[{count}] m; }}
    model {{ m ~ normal(0, 5);
    for (n in 1:N) target += log_sum_exp({{{densities}}}) - log({count}); }}"""


def labels(count, y):
    """By the partitions of y into what each label has, of which no two are the same but for their order."""
    y = np.array(y)

    def part(own):
        return jointly_normal(own, np.zeros(len(own)), 0.25 * np.eye(len(own)) + 25)

    def terms(left, labels):
        if not left:
            yield 0.0
        for size in range(len(left) if labels else 0):
            for others in combinations(left[1:], size):
                own = [left[0], *others]
                first = np.log(labels) + part(y[own])
                yield from (first + rest for rest in terms([n for n in left if n not in own], labels - 1))

    total = special.logsumexp([*terms([*range(len(y))], count)]) - len(y) * np.log(count)
    return Known(exchangeable(count), {"N": len(y), "y": y}, float(total))


def three_labels():
    return labels(3, [-4.2, -3.7, -4.0, 0.1, 0.4, 3.8, 4.3])


def ordered_cuts():
    """A vector in increasing order has one of 3! parts of the space."""
    program = "parameters { ordered[3] c; } model { c ~ normal(0, 2); }"
    return Known(program, {}, float(-np.log(6)))


def correlation():
    program = """data { int N; array[N] vector[2] y; } parameters { cholesky_factor_corr[2] L; }
    model { L ~ lkj_corr_cholesky(2); y ~ multi_normal_cholesky(rep_vector(0, 2), L); }"""

    def given(z):
        r = np.tanh(z)
        found = np.log1p(-(r**2)) + np.log(1 - r**2) - np.log(4 / 3)
        square = POINTS[:, 0] ** 2 - 2 * r * POINTS[:, 0] * POINTS[:, 1] + POINTS[:, 1] ** 2
        return found + (-np.log(2 * np.pi) - 0.5 * np.log1p(-(r**2)) - 0.5 * square / (1 - r**2)).sum()

    return Known(program, {"N": len(POINTS), "y": POINTS}, over_the_line(given, -12, 12))


def change_point():
    """Where a rate changes is summed out; both rates are integrated out."""
    program = """data { int N; array[N] int y; }
    parameters { int<lower=1, upper=N> t; real<lower=0> a; real<lower=0> b; }
    model { a ~ gamma(2, 1); b ~ gamma(2, 1); for (n in 1:N) y[n] ~ poisson(n <= t ? a : b); }"""
    y = np.array([1, 0, 2, 1, 5, 4, 7, 3])

    def part(own):
        n, total = len(own), own.sum()
        return special.gammaln(2 + total) - (2 + total) * np.log(1 + n) - special.gammaln(own + 1).sum()

    terms = [part(y[:t]) + part(y[t:]) for t in range(1, len(y) + 1)]
    return Known(program, {"N": len(y), "y": y}, float(special.logsumexp(terms)))


def rows_of_groups():
    """Twenty groups of four rows; given both sds all else is normal."""
    program = """data { int N; int J; array[N] int g; vector[N] y; }
    parameters { real mu; real<lower=0> tau; real<lower=0> s; vector[J] b; }
    model { mu ~ normal(0, 5); tau ~ exponential(1); s ~ exponential(1); b ~ normal(mu, tau);
    y ~ normal(b[g], s); }"""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(20), 4)
    y = 1 + 0.6 * rng.standard_normal(20)[groups] + 0.8 * rng.standard_normal(80)
    same = (groups[:, None] == groups).astype(float)

    def given(log_tau, log_s):
        tau, s = np.exp(log_tau), np.exp(log_s)
        covariance = s**2 * np.eye(80) + tau**2 * same + 25
        factor = np.linalg.cholesky(covariance)
        z = np.linalg.solve(factor, y)
        half = np.log(np.diag(factor)).sum() + 0.5 * z @ z + 40 * np.log(2 * np.pi)
        return log_tau + log_s - tau - s - half

    known = over_a_grid(np.vectorize(given), (-12, 2.5), (-1, 0.6), points=(301, 81))
    return Known(program, {"N": 80, "J": 20, "g": groups + 1, "y": y}, known)


def counts_of_groups():
    """Effects of groups of counts: a one-dimensional integral each, given their mean and sd."""
    program = """data { int J; array[J] int y; } parameters { real mu; real<lower=0> tau; vector[J] b; }
    model { mu ~ normal(1, 1); tau ~ exponential(1); b ~ normal(mu, tau); y ~ poisson_log(b); }"""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    log_weights = np.log(np.maximum(weights, 1e-300)) - 0.5 * np.log(2 * np.pi)

    def given(mu, log_tau):
        tau = np.exp(log_tau)
        b = mu + tau * nodes
        rows = COUNTS[:, None] * b - np.exp(b) - special.gammaln(COUNTS + 1)[:, None]
        return normal(mu, 1, 1) + log_tau - tau + special.logsumexp(rows + log_weights, axis=1).sum()

    known = over_a_grid(np.vectorize(given), (-6, 8), (-12, 3), points=(141, 151))
    return Known(program, {"J": len(COUNTS), "y": COUNTS}, known)


def many_gammas():
    """Forty skewed coordinates."""
    program = "parameters { vector<lower=0>[40] y; } model { target += 7; y ~ gamma(0.7, 1); }"
    return Known(program, {}, 7.0)


def without_constants():
    """`_lupdf` and `target +=` of what a density leaves out: it has all of them here."""
    program = """data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
    model { target += normal_lupdf(m | 0, 3); target += exponential_lupdf(s | 1); y ~ normal(m, s); }"""

    def given(m, log_s):
        return normal(m, 0, 3) - np.exp(log_s) + log_s + sum(normal(y, m, np.exp(log_s)) for y in Y)

    return Known(program, {"N": len(Y), "y": Y}, over_a_grid(given, (-10, 10), (-3, 4)))


KNOWN = (
    normal_mean,
    beta_binomial,
    gamma_poisson,
    regression,
    normal_inverse_gamma,
    dirichlet_multinomial,
    gaussian_process,
    multivariate_mean,
    exponential_gamma,
    mixture,
    two_modes,
    hierarchical,
    truncated,
    logistic,
    which_rate,
    heavy_tails,
)

HARDER = (
    cut_at_a_bound,
    exponential_of_an_exponential,
    gompertz,
    weibull,
    at_both_bounds,
    none_of_forty,
    half_cauchy_scale,
    shrunk,
    banana,
    funnel,
    skewed,
    cauchy_in_the_plane,
    three_labels,
    ordered_cuts,
    correlation,
    change_point,
    rows_of_groups,
    counts_of_groups,
    many_gammas,
    without_constants,
)
