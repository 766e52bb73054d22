"""Default fits of programs with latent variables, beside chains of NUTS: CPU seconds, verdict, errors.

    python -m tests.benchmarks.latent [NAME ...]
    python -m tests.benchmarks.latent --sbc 200 [NAME ...]

Data are simulated with one seed; for simulation-based calibration (`--sbc`) they are drawn from the prior.
Errors are of 1,000 draws against four chains of `ppl sample` (`--no-nuts` leaves them out): of means in sds,
of sds as a share, of the 5% and 95% quantiles in sds.
"""

import argparse
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import expit

import ppl
from ppl.records import dataclass

SEED = 3
Data = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A program and what makes its data."""

    program: str
    data: Callable[[Generator], Data]


def rasch(rng: Generator, persons: int = 1000, items: int = 5) -> Data:
    theta, b = rng.normal(0, 1.2, persons), rng.normal(0, 1, items)
    p, k = np.repeat(np.arange(persons), items), np.tile(np.arange(items), persons)
    y = rng.binomial(1, expit(theta[p] - b[k]))
    return {"J": persons, "I": items, "N": len(y), "p": p + 1, "k": k + 1, "y": y}


def regression(rng: Generator, groups: int = 200, rows: int = 1000, columns: int = 20) -> Data:
    g, x = rng.integers(0, groups, rows), rng.normal(size=(rows, columns))
    eta = 0.5 + x @ rng.normal(0, 0.5, columns) + rng.normal(0, 0.8, groups)[g]
    return {"J": groups, "N": rows, "K": columns, "g": g + 1, "X": x, "y": rng.binomial(1, expit(eta))}


def counts(rng: Generator, n: int = 237) -> Data:
    x = rng.normal(size=n)
    return {"N": n, "x": x, "y": rng.poisson(np.exp(1 + 0.4 * x + rng.normal(0, 0.5, n)))}


def radon(rng: Generator, counties: int, rows: int) -> Data:
    g, x = rng.integers(0, counties, rows), rng.binomial(1, 0.2, rows)
    a, b = rng.normal(1.5, 0.3, counties), rng.normal(-0.7, 0.3, counties)
    return {"N": rows, "J": counties, "g": g + 1, "x": x, "y": a[g] + b[g] * x + rng.normal(0, 0.75, rows)}


def waves(rng: Generator, n: int = 100) -> Data:
    x = np.linspace(0, 10, n)
    return {"N": n, "x": x, "y": rng.poisson(np.exp(np.sin(x)))}


def slopes(rng: Generator, groups: int = 60, rows: int = 1200) -> Data:
    g, x = rng.integers(0, groups, rows), rng.normal(size=rows)
    a = rng.normal(0, 1, groups)
    b = 1 + 0.5 * a + rng.normal(0, 0.7, groups)
    return {"J": groups, "N": rows, "g": g + 1, "x": x, "y": rng.binomial(1, expit(a[g] + b[g] * x))}


def three_slopes(rng: Generator, groups: int = 60, rows: int = 900) -> Data:
    """An intercept and three slopes for each group, of which the last hardly varies."""
    g = rng.integers(0, groups, rows)
    x = np.column_stack([np.ones(rows), rng.normal(size=(rows, 3))])
    b = rng.normal([1, 0.5, -0.5, 0.2], [0.8, 0.5, 0.3, 0.05], (groups, 4))
    return {"J": groups, "N": rows, "g": g + 1, "X": x, "y": (x * b[g]).sum(axis=1) + rng.normal(size=rows)}


def pairs(rng: Generator, groups: int = 100) -> Data:
    g = np.repeat(np.arange(groups), 2)
    return {"J": groups, "N": len(g), "g": g + 1, "y": rng.binomial(1, expit(rng.normal(0, 4, groups))[g])}


def zeros(rng: Generator, n: int = 60) -> Data:
    return {"J": n, "y": rng.poisson(np.exp(rng.normal(-2.5, 1, n)))}


def outliers(rng: Generator, groups: int = 30) -> Data:
    return {"J": groups, "y": rng.standard_t(3, groups)[:, None] + rng.normal(0, 1, (groups, 4))}


def flat(rng: Generator, groups: int = 12) -> Data:
    """Groups that do not differ: the sd of their effects is at its boundary."""
    return {"J": groups, "y": rng.normal(0, 1, (groups, 5))}


def nested(rng: Generator, patients: int = 59, visits: int = 4) -> Data:
    g = np.repeat(np.arange(patients), visits)
    x, t = (np.repeat(each, visits) for each in (rng.normal(size=patients), rng.binomial(1, 0.5, patients)))
    v = np.tile(np.linspace(-0.3, 0.3, visits), patients)
    effects = rng.normal(0, 0.5, patients)[g] + rng.normal(0, 0.36, len(g))
    y = rng.poisson(np.exp(1.6 + 0.9 * x - 0.3 * t - 0.3 * v + effects))
    return {"J": patients, "N": len(g), "g": g + 1, "x": x, "v": v, "t": t, "y": y}


def crossed(rng: Generator, n: int = 60, each: int = 6) -> Data:
    """Matings of n females with n males, `each` of a female."""
    f = np.repeat(np.arange(n), each)
    m = (7 * f + 11 * np.tile(np.arange(each), n)) % n
    x = rng.binomial(1, 0.5, len(f))
    y = rng.binomial(1, expit(0.6 - 1.2 * x + rng.normal(0, 1.1, n)[f] + rng.normal(0, 1, n)[m]))
    return {"J": n, "N": len(f), "f": f + 1, "m": m + 1, "x": x, "y": y}


def autoregression(rng: Generator, n: int, phi: float, sd: float) -> np.ndarray:
    x = rng.normal(0, sd / np.sqrt(1 - phi**2), n)
    for k in range(1, n):
        x[k] = phi * x[k - 1] + rng.normal(0, sd)
    return x


def counts_in_time(rng: Generator, n: int = 200) -> Data:
    return {"T": n, "y": rng.poisson(np.exp(1 + autoregression(rng, n, 0.8, 0.4)))}


def level(rng: Generator, n: int = 200) -> Data:
    return {"T": n, "y": np.cumsum(rng.normal(0, 0.5, n)) + rng.normal(0, 1, n)}


def returns(rng: Generator, n: int = 500) -> Data:
    return {"T": n, "y": np.exp((autoregression(rng, n, 0.97, 0.2) - 1) / 2) * rng.normal(size=n)}


def areas(rng: Generator, rows: int = 8, columns: int = 7) -> Data:
    """Counts in the areas of a grid, of which neighbours are alike."""
    n, place = rows * columns, np.arange(rows * columns).reshape(rows, columns)
    a = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    b = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    precision = 0.05 * np.eye(n)
    np.add.at(precision, (np.r_[a, b], np.r_[a, b]), 1.0)
    np.add.at(precision, (np.r_[a, b], np.r_[b, a]), -1.0)
    phi = np.linalg.solve(np.linalg.cholesky(precision).T, rng.normal(size=n))
    x, exposed = rng.normal(size=n), rng.uniform(2, 15, n)
    y = rng.poisson(exposed * np.exp(0.1 + 0.3 * x + 0.4 * phi))
    return {"N": n, "M": len(a), "a": a + 1, "b": b + 1, "E": exposed, "x": x, "y": y}


GROUPED = "data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] x; vector[N] y; }"
CASES = {
    "rasch 1000 x 5": Case(
        """data { int J; int I; int N; array[N] int p; array[N] int k; array[N] int y; }
        parameters { vector[J] theta; vector[I] b; real<lower=0> sigma; }
        model { theta ~ normal(0, sigma); b ~ normal(0, 2); sigma ~ normal(0, 2);
          y ~ bernoulli_logit(theta[p] - b[k]); }""",
        rasch,
    ),
    "20 coefficients": Case(
        """data { int J; int N; int K; array[N] int g; matrix[N, K] X; array[N] int y; }
        parameters { real m; vector[K] b; real<lower=0> s; vector[J] z; }
        model { m ~ normal(0, 2); b ~ normal(0, 1); s ~ normal(0, 1); z ~ std_normal();
          y ~ bernoulli_logit(m + X * b + s * z[g]); }""",
        regression,
    ),
    "poisson 237": Case(
        """data { int N; vector[N] x; array[N] int y; }
        parameters { real a; real b; real<lower=0> s; vector[N] e; }
        model { a ~ normal(0, 5); b ~ normal(0, 2); s ~ normal(0, 1); e ~ normal(0, 1);
          y ~ poisson_log(a + b * x + s * e); }""",
        counts,
    ),
    "radon 85, slopes": Case(
        GROUPED
        + """parameters { vector[J] a; vector[J] b; real ma; real mb; real<lower=0> sa; real<lower=0> sb;
          real<lower=0> s; }
        model { ma ~ normal(0, 5); mb ~ normal(0, 5); sa ~ normal(0, 1); sb ~ normal(0, 1); s ~ normal(0, 1);
          a ~ normal(ma, sa); b ~ normal(mb, sb); y ~ normal(a[g] + b[g] .* x, s); }""",
        lambda rng: radon(rng, 85, 919),
    ),
    "radon 389": Case(
        GROUPED
        + """parameters { vector[J] a; real b; real ma; real<lower=0> sa; real<lower=0> s; }
        model { ma ~ normal(0, 5); b ~ normal(0, 5); sa ~ normal(0, 1); s ~ normal(0, 1);
          a ~ normal(ma, sa); y ~ normal(a[g] + b * x, s); }""",
        lambda rng: radon(rng, 389, 12_573),
    ),
    "logistic, slopes": Case(
        """data { int J; int N; array[N] int g; vector[N] x; array[N] int y; }
        parameters { vector[2] mu; vector<lower=0>[2] s; cholesky_factor_corr[2] L; matrix[2, J] z; }
        transformed parameters { matrix[2, J] b = rep_matrix(mu, J) + diag_pre_multiply(s, L) * z; }
        model { mu ~ normal(0, 2); s ~ normal(0, 2); L ~ lkj_corr_cholesky(2); to_vector(z) ~ normal(0, 1);
          for (n in 1:N) y[n] ~ bernoulli_logit(b[1, g[n]] + b[2, g[n]] * x[n]); }""",
        slopes,
    ),
    "three slopes": Case(
        """data { int J; int N; array[N] int g; matrix[N, 4] X; vector[N] y; }
        parameters { vector[4] mu; vector<lower=0>[4] s; matrix[4, J] b; real<lower=0> sigma; }
        model { mu ~ normal(0, 2); s ~ normal(0, 1); sigma ~ normal(0, 2);
          for (j in 1:J) b[, j] ~ normal(mu, s);
          for (n in 1:N) y[n] ~ normal(X[n] * b[, g[n]], sigma); }""",
        three_slopes,
    ),
    "three slopes, correlated": Case(
        """data { int J; int N; array[N] int g; matrix[N, 4] X; vector[N] y; }
        parameters { vector[4] mu; vector<lower=0>[4] s; cholesky_factor_corr[4] L; matrix[4, J] z;
          real<lower=0> sigma; }
        transformed parameters { matrix[4, J] b = rep_matrix(mu, J) + diag_pre_multiply(s, L) * z; }
        model { mu ~ normal(0, 2); s ~ normal(0, 1); sigma ~ normal(0, 2); L ~ lkj_corr_cholesky(2);
          to_vector(z) ~ normal(0, 1);
          for (n in 1:N) y[n] ~ normal(X[n] * b[, g[n]], sigma); }""",
        three_slopes,
    ),
    "binary pairs": Case(
        """data { int J; int N; array[N] int g; array[N] int y; }
        parameters { real mu; real<lower=0> s; vector[J] z; }
        model { mu ~ normal(0, 3); s ~ normal(0, 5); z ~ normal(0, 1);
          y ~ bernoulli_logit(mu + s * z[g]); }""",
        pairs,
    ),
    "mostly zeros": Case(
        """data { int J; array[J] int y; }
        parameters { real mu; real<lower=0> s; vector[J] e; }
        model { mu ~ normal(0, 3); s ~ normal(0, 2); e ~ normal(mu, s); y ~ poisson_log(e); }""",
        zeros,
    ),
    "student effects": Case(
        """data { int J; matrix[J, 4] y; }
        parameters { real mu; real<lower=0> s; vector[J] e; real<lower=0> sy; }
        model { mu ~ normal(0, 3); s ~ normal(0, 2); sy ~ normal(0, 2); e ~ student_t(3, mu, s);
          for (j in 1:J) y[j] ~ normal(e[j], sy); }""",
        outliers,
    ),
    "sd at zero": Case(
        """data { int J; matrix[J, 5] y; }
        parameters { real mu; real<lower=0> s; vector[J] e; }
        model { mu ~ normal(0, 3); s ~ normal(0, 2); e ~ normal(mu, s);
          for (j in 1:J) y[j] ~ normal(e[j], 1); }""",
        flat,
    ),
    "patients and visits": Case(
        """data { int J; int N; array[N] int g; vector[N] x; vector[N] v; vector[N] t; array[N] int y; }
        parameters { real m; vector[4] b; real<lower=0> s1; real<lower=0> s2; vector[J] z1; vector[N] z2; }
        model { m ~ normal(1.5, 2.5); b ~ normal(0, 2); s1 ~ student_t(3, 0, 2.5); s2 ~ student_t(3, 0, 2.5);
          z1 ~ std_normal(); z2 ~ std_normal();
          y ~ poisson_log(m + b[1] * x + b[2] * t + b[3] * (x .* t) + b[4] * v + s1 * z1[g] + s2 * z2); }""",
        nested,
    ),
    "crossed": Case(
        """data { int J; int N; array[N] int f; array[N] int m; vector[N] x; array[N] int y; }
        parameters { real a; real b; real<lower=0> sf; real<lower=0> sm; vector[J] u; vector[J] v; }
        model { a ~ normal(0, 2); b ~ normal(0, 2); sf ~ normal(0, 2); sm ~ normal(0, 2);
          u ~ std_normal(); v ~ std_normal(); y ~ bernoulli_logit(a + b * x + sf * u[f] + sm * v[m]); }""",
        crossed,
    ),
    "counts in time 200": Case(
        """data { int T; array[T] int y; }
        parameters { real mu; real<lower=0, upper=1> phi; real<lower=0> s; vector[T] x; }
        model { mu ~ normal(0, 2); phi ~ beta(2, 2); s ~ normal(0, 1); x[1] ~ normal(0, s / sqrt(1 - phi^2));
          x[2:T] ~ normal(phi * x[1:(T - 1)], s); y ~ poisson_log(mu + x); }""",
        counts_in_time,
    ),
    "walk by steps 60": Case(
        """
        data { int T; vector[T] y; }
        parameters { real<lower=0, upper=1> phi; real<lower=0> q; real<lower=0> r; vector[T] z; }
        transformed parameters {
          vector[T] state;
          state[1] = q * z[1];
          for (t in 2:T) state[t] = phi * state[t - 1] + q * z[t];
        }
        model { q ~ std_normal(); r ~ std_normal(); z ~ std_normal(); y ~ normal(state, r); }
        """,
        lambda rng: level(rng, 60),
    ),
    "gaussian process 100": Case(
        """
        data { int N; array[N] real x; array[N] int y; }
        parameters { real<lower=0> rho; real<lower=0> alpha; real a; vector[N] z; }
        transformed parameters {
          vector[N] f;
          {
            matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho);
            for (n in 1:N) K[n, n] += 1e-6;
            f = cholesky_decompose(K) * z;
          }
        }
        model {
          rho ~ inv_gamma(5, 5); alpha ~ std_normal(); a ~ std_normal(); z ~ std_normal();
          y ~ poisson_log(a + f);
        }
        """,
        waves,
    ),
    "local level 200": Case(
        """data { int T; vector[T] y; }
        parameters { real<lower=0> s; real<lower=0> w; vector[T] m; }
        model { s ~ normal(0, 2); w ~ normal(0, 1); m[1] ~ normal(0, 3);
          for (t in 2:T) m[t] ~ normal(m[t - 1], w); y ~ normal(m, s); }""",
        level,
    ),
    "volatility 500": Case(
        """data { int T; vector[T] y; }
        parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> s; vector[T] h; }
        model { phi ~ uniform(-1, 1); s ~ cauchy(0, 5); mu ~ cauchy(0, 10);
          h[1] ~ normal(mu, s / sqrt(1 - phi^2)); h[2:T] ~ normal(mu + phi * (h[1:(T - 1)] - mu), s);
          y ~ normal(0, exp(h / 2)); }""",
        returns,
    ),
    "areas 56": Case(
        """data { int N; int M; array[M] int a; array[M] int b; vector[N] E; vector[N] x; array[N] int y; }
        parameters { real m; real c; real<lower=0> s; vector[N] phi; }
        model { m ~ normal(0, 1); c ~ normal(0, 1); s ~ normal(0, 1);
          target += -0.5 * dot_self(phi[a] - phi[b]) - 0.005 * dot_self(phi);
          y ~ poisson_log(log(E) + m + c * x + s * phi); }""",
        areas,
    ),
    # Morris and others 2019, "Bayesian hierarchical spatial models: the BYM2 model in Stan"
    "areas 56, BYM2": Case(
        """data { int N; int M; array[M] int a; array[M] int b; vector[N] E; vector[N] x; array[N] int y; }
        parameters { real m; real c; real<lower=0> s; real<lower=0, upper=1> rho;
          vector[N] theta; vector[N] phi; }
        model { m ~ normal(0, 1); c ~ normal(0, 1); s ~ normal(0, 1);
          rho ~ beta(0.5, 0.5); theta ~ std_normal();
          target += -0.5 * dot_self(phi[a] - phi[b]);
          sum(phi) ~ normal(0, 0.001 * N);
          vector[N] effects = s * (sqrt(1 - rho) * theta + sqrt(rho / 0.5) * phi);
          y ~ poisson_log(log(E) + m + c * x + effects); }""",
        areas,
    ),
}


HARD = ("binary pairs", "mostly zeros", "student effects", "sd at zero")
"""Programs for which Laplace's approximation is wrong."""


def errors(draws: np.ndarray, reference: np.ndarray) -> str:
    """The largest over the columns of draws (n, k): means and quantiles in sds, sds as a share."""
    vary = reference.std(axis=0) > 0  # unlike the first entry of a Cholesky factor of correlations
    draws, reference = draws[:, vary], reference[:, vary]
    sd = reference.std(axis=0)
    mean = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / sd
    share = np.abs(draws.std(axis=0) / sd - 1)
    ends = (0.05, 0.95)
    tails = np.abs(np.quantile(draws, ends, axis=0) - np.quantile(reference, ends, axis=0)) / sd
    return " | ".join(f"{each.max():.2f}" for each in (mean, share, tails))


HEADS = (
    "program",
    "parameters",
    "CPU s",
    "verdict",
    "draws",
    "mean",
    "sd",
    "quantiles",
    "NUTS, CPU s",
    "its verdict",
)


def lines(names: list[str], nuts: bool) -> Iterator[str]:
    yield f"| {' | '.join(HEADS)} |"
    yield "|---" * len(HEADS) + "|"
    for name in names or CASES:
        case = CASES[name]
        posterior = ppl.compile_model(case.program).condition(case.data(np.random.default_rng(SEED)))
        began = process_time()
        fit = posterior.variational(seed=1, draws=1000)
        took = process_time() - began
        off, chains = " | | ", " | "
        if nuts:
            began, count = process_time(), len(posterior.param_names())
            sampled = posterior.sample(seed=2, cores=1)
            chains = f"{process_time() - began:.1f} | {sampled.level}"
            off = errors(fit.draws()[:, :count], sampled.draws()[:, :count])
        about = f"{posterior.param_unc_num()} | {took:.2f} | {fit.verdict.level} | {fit.verdict.made}"
        yield f"| {name} | {about} | {off} | {chains} |"


def calibration(names: list[str], simulations: int) -> Iterator[str]:
    """What the ranks of the truth among 99 draws of default fits say, by simulation-based calibration."""
    yield "| program | CPU s a simulation | failed | ranks |"
    yield "|---|---|---|---|"
    for name in names or HARD:
        case = CASES[name]
        data, began = case.data(np.random.default_rng(SEED)), process_time()
        found = ppl.compile_model(case.program).sbc(data, simulations=simulations, cores=1)
        took = (process_time() - began) / simulations
        yield f"| {name} | {took:.1f} | {len(found.failed)} | {found.judgement} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--no-nuts", action="store_true")
    parser.add_argument("--sbc", type=int, metavar="SIMULATIONS")
    args = parser.parse_args()
    for line in calibration(args.names, args.sbc) if args.sbc else lines(args.names, not args.no_nuts):
        print(line, flush=True)


if __name__ == "__main__":
    main()
