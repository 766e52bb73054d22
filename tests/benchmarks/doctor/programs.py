"""Programs, and data of each that are simulated with a misfit or without one.

Every data set has columns that its program may leave out: `x`, `z` and `w` normal, `site` one of 12 groups.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ppl.floats import Floats
from ppl.records import dataclass

ROWS, SITES, GROUPS = 200, 12, 10

CONTINUOUS = (
    "wrong family",
    "group",
    "interaction",
    "wrong link",
    "outliers",
    "impossible prior",
    "autocorrelation",
    "unequal variance",
)
COUNTS = (
    "overdispersion",
    "zero inflation",
    "group",
    "interaction",
    "wrong link",
    "impossible prior",
    "autocorrelation",
)
BINARY = ("group", "interaction", "wrong link", "impossible prior", "autocorrelation")


@dataclass(frozen=True)
class Program:
    """The model's text; `draw(rng, eta, noise)` makes data of the linear predictor (rows,) that has the
    misfits of the mean, `noise` naming one of the distribution; `slopes` are those of x and z, `size` that of
    effects that are left out.
    """

    declared: str
    parameters: str
    model: str
    misfits: tuple[str, ...]
    draw: Callable[[np.random.Generator, Floats, str], Floats]
    slopes: tuple[float, float] = (0.8, 0.0)
    size: float = 1.0
    start: float = 1.0
    impossible: tuple[str, str] = ("a ~ normal(0, 3)", "a ~ normal(40, 1)")
    grouped: bool = False
    trend: float = 0.0

    def text(self, misfit: str) -> str:
        model = self.model.replace(*self.impossible) if misfit == "impossible prior" else self.model
        return (
            f"data {{\n  int<lower=0> N;\n{self.declared}}}\nparameters {{\n{self.parameters}}}\n"
            f"model {{\n{model}}}\n"
        )

    def data(self, misfit: str, seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        x, z, w = rng.normal(size=(3, ROWS))
        site, g = rng.integers(1, SITES + 1, ROWS), rng.integers(1, GROUPS + 1, ROWS)
        t = np.linspace(-1, 1, ROWS)
        eta = self.start + self.slopes[0] * x + self.slopes[1] * z + self.trend * t
        if self.grouped:
            eta = eta + 0.7 * rng.normal(size=GROUPS)[g - 1]
        match misfit:
            case "group":
                eta = eta + self.size * rng.normal(size=SITES)[site - 1]
            case "interaction":
                eta = eta + 0.8 * self.size * x * z
            case "wrong link":
                c = (eta - eta.mean()) / eta.std()
                eta = eta + 0.6 * self.size * (c**2 - 1)
            case "autocorrelation":
                e, state = rng.normal(size=ROWS), np.zeros(ROWS)
                for k in range(1, ROWS):
                    state[k] = 0.8 * state[k - 1] + 0.6 * e[k]
                eta = eta + self.size * state
        y = self.draw(rng, eta, "unequal variance:" if misfit == "unequal variance" else misfit)
        if misfit == "unequal variance":
            y = eta + (y - eta) * np.exp(0.7 * x)
        if misfit == "outliers":
            rows = rng.choice(ROWS, ROWS // 25, replace=False)
            y[rows] = y[rows] + 8 * (y - eta).std() * rng.choice([-1, 1], len(rows))
        return {
            "N": ROWS,
            "G": GROUPS,
            "x": x,
            "z": z,
            "w": w,
            "site": site,
            "g": g,
            "t": t,
            "X": np.stack([x, z, w], axis=1),
            "n": np.full(ROWS, 10),
            "y": y,
        }


def noise(rng: np.random.Generator, kind: str, sd: float = 1.0) -> Floats:
    """Errors of sd `sd`: normal, or exponential where the family is wrong."""
    normal, skewed = rng.normal(size=ROWS), rng.exponential(size=ROWS) - 1
    return sd * (skewed if kind == "wrong family" else normal)


def gaussian(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    return eta + noise(rng, kind)


def student(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    return eta + (noise(rng, kind) if kind == "wrong family" else rng.standard_t(5, ROWS))


def rates(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    """The rates of counts, with the misfits of their distribution."""
    rate = np.exp(eta)
    if kind == "overdispersion":
        rate = rate * rng.gamma(1.5, 1 / 1.5, ROWS)
    return np.where(rng.uniform(size=ROWS) < 0.25, 0.0, rate) if kind == "zero inflation" else rate


def poisson(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    return rng.poisson(rates(rng, eta, kind))


def negative_binomial(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    return rng.poisson(rates(rng, eta, kind) * rng.gamma(5, 1 / 5, ROWS))


def binomial(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    p = 1 / (1 + np.exp(-eta))
    p = rng.beta(3 * p, 3 * (1 - p)) if kind == "overdispersion" else p
    y = rng.binomial(10, p)
    return np.where(rng.uniform(size=ROWS) < 0.25, 0, y) if kind == "zero inflation" else y


def bernoulli(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    return rng.binomial(1, 1 / (1 + np.exp(-eta)))


def lognormal(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    return np.exp(eta + noise(rng, kind, 0.6))


def gamma(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    wrong = rng.lognormal(-0.72, 1.2, ROWS)
    return np.exp(eta) * (wrong if kind == "wrong family" else rng.gamma(3, 1 / 3, ROWS))


def autoregressive(rng: np.random.Generator, eta: Floats, kind: str) -> Floats:
    e, y = noise(rng, kind), np.zeros(ROWS)
    for k in range(ROWS):
        y[k] = eta[k] + (0.5 * y[k - 1] if k else 0.0) + e[k]
    return y


X, Z, Y = "  vector[N] x;\n", "  vector[N] z;\n", "  vector[N] y;\n"
COUNT, BIT = "  array[N] int<lower=0> y;\n", "  array[N] int<lower=0, upper=1> y;\n"
G = "  int<lower=1> G;\n  array[N] int<lower=1, upper=G> g;\n"
A, B, C, S = "  real a;\n", "  real b;\n", "  real c;\n", "  real<lower=0> s;\n"
U = "  real<lower=0> s_u;\n  vector[G] u;\n"
PA, PB, PC = (f"  {name} ~ normal(0, 3);\n" for name in "abc")
PS, PU = "  s ~ exponential(1);\n", "  s_u ~ normal(0, 1);\n  u ~ normal(0, s_u);\n"
LOW = ("a ~ normal(0, 3)", "a ~ normal(-12, 0.5)")
OF_TIME = tuple(
    m for m in CONTINUOUS if m not in ("autocorrelation", "wrong link", "unequal variance", "outliers")
)
NO_LINK = tuple(m for m in CONTINUOUS if m not in ("wrong link", "unequal variance"))
POSITIVE = tuple(m for m in CONTINUOUS if m not in ("outliers", "unequal variance"))

PROGRAMS: Mapping[str, Program] = {
    "normal, two": Program(
        X + Z + Y,
        A + B + C + S,
        PA + PB + PC + PS + "  y ~ normal(a + b * x + c * z, s);\n",
        CONTINUOUS,
        gaussian,
        (0.8, -0.5),
    ),
    "normal, line": Program(
        X + Y, A + B + S, PA + PB + PS + "  y ~ normal(a + b * x, s);\n", CONTINUOUS, gaussian
    ),
    "normal, mean": Program(Y, A + S, PA + PS + "  y ~ normal(a, s);\n", NO_LINK, gaussian, (0.0, 0.0)),
    "normal, loop": Program(
        X + Y,
        A + B + S,
        PA + PB + PS + "  for (n in 1 : N) {\n    real mu = a + b * x[n];\n    y[n] ~ normal(mu, s);\n  }\n",
        CONTINUOUS,
        gaussian,
    ),
    "normal, groups": Program(
        X + G + Y,
        A + B + S + U,
        PA + PB + PS + PU + "  y ~ normal(a + b * x + u[g], s);\n",
        CONTINUOUS,
        gaussian,
        grouped=True,
    ),
    "normal, groups in a loop": Program(
        X + G + Y,
        A + B + S + U,
        PA + PB + PS + PU + "  for (n in 1 : N) y[n] ~ normal(a + b * x[n] + u[g[n]], s);\n",
        CONTINUOUS,
        gaussian,
        grouped=True,
    ),
    "normal, matrix": Program(
        "  matrix[N, 3] X;\n" + Y,
        A + "  vector[3] b;\n" + S,
        PA + PB + PS + "  y ~ normal(a + X * b, s);\n",
        CONTINUOUS,
        gaussian,
        (0.8, -0.5),
    ),
    "normal, trend": Program(
        "  vector[N] t;\n" + Y,
        A + B + S,
        PA + PB + PS + "  y ~ normal(a + b * t, s);\n",
        CONTINUOUS,
        gaussian,
        (0.0, 0.0),
        trend=1.5,
    ),
    "normal, lag": Program(
        X + Y,
        A + B + "  real<lower=-1, upper=1> rho;\n" + S,
        PA + PB + PS + "  y[1] ~ normal(a + b * x[1], s);\n"
        "  for (k in 2 : N) y[k] ~ normal(a + b * x[k] + rho * y[k - 1], s);\n",
        OF_TIME,
        autoregressive,
    ),
    "student, line": Program(
        X + Y,
        A + B + S + "  real<lower=2> nu;\n",
        PA + PB + PS + "  nu ~ gamma(2, 0.1);\n  y ~ student_t(nu, a + b * x, s);\n",
        tuple(m for m in CONTINUOUS if m != "outliers"),
        student,
    ),
    "lognormal, line": Program(
        X + Y, A + B + S, PA + PB + PS + "  y ~ lognormal(a + b * x, s);\n", POSITIVE, lognormal, size=0.6
    ),
    "gamma, line": Program(
        X + Y, A + B + S, PA + PB + PS + "  y ~ gamma(s, s / exp(a + b * x));\n", POSITIVE, gamma, size=0.6
    ),
    "poisson, line": Program(
        X + COUNT,
        A + B,
        PA + PB + "  y ~ poisson_log(a + b * x);\n",
        COUNTS,
        poisson,
        (0.4, 0.0),
        0.5,
        impossible=LOW,
    ),
    "poisson, rates": Program(
        X + COUNT,
        A + B,
        PA + PB + "  y ~ poisson(exp(a + b * x));\n",
        COUNTS,
        poisson,
        (0.4, 0.0),
        0.5,
        impossible=LOW,
    ),
    "poisson, two": Program(
        X + Z + COUNT,
        A + B + C,
        PA + PB + PC + "  for (n in 1 : N) y[n] ~ poisson_log(a + b * x[n] + c * z[n]);\n",
        COUNTS,
        poisson,
        (0.4, -0.3),
        0.5,
        impossible=LOW,
    ),
    "poisson, groups": Program(
        X + G + COUNT,
        A + B + U,
        PA + PB + PU + "  y ~ poisson_log(a + b * x + u[g]);\n",
        COUNTS,
        poisson,
        (0.4, 0.0),
        0.5,
        impossible=LOW,
        grouped=True,
    ),
    "negative binomial, line": Program(
        X + COUNT,
        A + B + "  real<lower=0> phi;\n",
        PA + PB + "  phi ~ exponential(0.1);\n  y ~ neg_binomial_2_log(a + b * x, phi);\n",
        tuple(m for m in COUNTS if m != "overdispersion"),
        negative_binomial,
        (0.4, 0.0),
        0.6,
        impossible=LOW,
    ),
    "binomial, line": Program(
        X + "  array[N] int<lower=0> n;\n" + COUNT,
        A + B,
        PA + PB + "  y ~ binomial_logit(n, a + b * x);\n",
        COUNTS,
        binomial,
        (0.8, 0.0),
        0.7,
        impossible=LOW,
    ),
    "logistic, line": Program(
        X + BIT,
        A + B,
        PA + PB + "  y ~ bernoulli_logit(a + b * x);\n",
        BINARY,
        bernoulli,
        (1.0, 0.0),
        1.5,
        0.0,
        impossible=LOW,
    ),
    "logistic, two": Program(
        X + Z + BIT,
        A + B + C,
        PA + PB + PC + "  for (n in 1 : N) y[n] ~ bernoulli_logit(a + b * x[n] + c * z[n]);\n",
        BINARY,
        bernoulli,
        (1.0, -1.0),
        1.5,
        0.0,
        impossible=LOW,
    ),
}
HELD_OUT = frozenset([*PROGRAMS][1::2])
"""Programs that no threshold was tuned on, named before the first run."""
KINDS: Mapping[str, frozenset[str]] = {
    "wrong family": frozenset({"PPL033", "PPL034"}),
    "overdispersion": frozenset({"PPL031"}),
    "zero inflation": frozenset({"PPL030"}),
    "group": frozenset({"PPL024"}),
    "interaction": frozenset({"PPL027"}),
    "wrong link": frozenset({"PPL028"}),
    "outliers": frozenset({"PPL032"}),
    "impossible prior": frozenset({"PPL020", "PPL021"}),
    "autocorrelation": frozenset({"PPL026"}),
    "unequal variance": frozenset({"PPL029"}),
}
"""The codes that name each misfit."""
TWIN = "none"
"""The misfit of a right model."""
