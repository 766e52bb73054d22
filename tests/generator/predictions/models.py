"""Small regressions at random: families, predictors with missing values or measurements, groups, new rows.

At most three parameters beside effects and latent predictors, so that a grid gives the posterior.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.records import dataclass, field

Rng = np.random.Generator
Array = NDArray[np.float64]

FAMILIES = {
    "normal": "normal(eta, s)",
    "student_t": "student_t(5, eta, s)",
    "gamma": "gamma(2 + s, (2 + s) * exp(-eta))",
    "bernoulli": "bernoulli_logit(eta)",
    "binomial": "binomial_logit(6, eta)",
    "poisson": "poisson_log(eta)",
    "neg_binomial": "neg_binomial_2_log(eta, 1 + s)",
}
"""Outcomes given the predictor and a scale."""
INTS = {"bernoulli": 1, "binomial": 6, "poisson": None, "neg_binomial": None}
"""Families of ints, and their upper bounds."""
PREDICTORS = ("none", "known", "missing", "measured", "vector")
MEAN, SD, NOISE, SHARED = 0.3, 0.8, 0.6, 0.5
"""Of predictors: mean, deviation, that of a measurement, the correlation of two entries of a vector."""


@dataclass(frozen=True)
class Rows:
    """Rows of data: `g` counts groups from 1; `x` (rows,) or (rows, 2) and `y` are nan where not given."""

    g: NDArray[np.int_]
    x: Array
    y: Array

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Regression:
    """Its parts, the rows of the fit, new rows to predict, and rows of a test set."""

    family: str
    predictor: str
    groups: int
    free: tuple[str, ...]
    """The parameters of the grid: of a, b, s, tau; others have the values of `fixed`."""
    loop: bool
    fixed: dict[str, float] = field(default_factory=lambda: {"a": 0.2, "b": 0.7, "s": 0.7, "tau": 0.8})
    seen: Any = None
    new: Any = None
    test: Any = None

    @property
    def eta(self) -> str:
        x = {"none": "", "vector": " + b * (x[n, 1] + x[n, 2])"}.get(self.predictor, " + b * x[n]")
        return "a" + x + (" + theta[g[n]]" if self.groups else "")

    @property
    def text(self) -> str:
        """The program."""
        top = INTS.get(self.family, 0)
        y = f"array[N] int<lower=0{f', upper={top}' if top else ''}> y;"
        if self.family not in INTS:
            y = f"vector{'<lower=0>' if self.family == 'gamma' else ''}[N] y;"
        x = {"none": "", "vector": "array[N] vector[2] x;", "measured": "vector[N] seen;"}
        known = {"a": "real a;", "b": "real b;", "s": "real<lower=0> s;", "tau": "real<lower=0> tau;"}
        data = ["int N;", y, x.get(self.predictor, "vector[N] x;")]
        parameters, model = [], []
        for name in ("a", "b", "s", "tau"):
            if name in self.free:
                parameters.append(known[name])
                model.append(f"{name} ~ normal({MEANS[name]}, {SDS[name]});")
            else:
                data.append(f"real {name};")
        if self.groups:
            data += ["int J;", "array[N] int<lower=1, upper=J> g;"]
            parameters.append("vector[J] theta;")
            model.append("theta ~ normal(0, tau);")
        if self.predictor == "missing":
            model.append(f"x ~ normal({MEAN}, {SD});")
        if self.predictor == "measured":
            parameters.append("vector[N] x;")
            model += [f"x ~ normal({MEAN}, {SD});", f"seen ~ normal(x, {NOISE});"]
        if self.predictor == "vector":
            c = SHARED * SD**2
            model.append(f"x ~ multi_normal([{MEAN}, {MEAN}]', [[{SD**2}, {c}], [{c}, {SD**2}]]);")
        law = FAMILIES[self.family]
        if self.loop:
            model.append(f"for (n in 1:N) y[n] ~ {law.replace('eta', f'({self.eta})')};")
        else:
            model.append(f"{{ vector[N] eta; for (n in 1:N) eta[n] = {self.eta}; y ~ {law}; }}")
        blocks = {"data": data, "parameters": parameters, "model": model}
        return " ".join(f"{name} {{ {' '.join(lines)} }}" for name, lines in blocks.items())

    def data(self, rows: Rows) -> dict[str, Any]:
        """The rows as data of the program, without the values that are missing altogether."""
        out: dict[str, Any] = {"N": len(rows)}
        out |= {name: self.fixed[name] for name in ("a", "b", "s", "tau") if name not in self.free}
        if self.groups:
            out |= {"g": rows.g, "J": max(self.groups, int(rows.g.max()))}
        predictor = "seen" if self.predictor == "measured" else "x"
        for name, values in (("y", rows.y), (predictor, rows.x)):
            if not np.isnan(values).all() and (name == "y" or self.predictor != "none"):
                out[name] = as_data(values, name == "y" and self.family in INTS)
        return out


MEANS = {"a": 0, "b": 0.5, "s": 0.7, "tau": 0.7}
SDS = {"a": 1, "b": 0.5, "s": 0.3, "tau": 0.3}
"""Normal priors; those of s and tau are cut off at 0."""


def as_data(values: Array, whole: bool) -> Any:
    """Lists with None where values are missing."""
    if values.ndim > 1:
        return [as_data(row, whole) for row in values]
    return [None if np.isnan(v) else int(v) if whole else float(v) for v in values]


def regression(seed: int) -> Regression:
    """A model with simulated data."""
    rng = np.random.default_rng(seed)
    family, predictor = rng.choice([*FAMILIES]), rng.choice(PREDICTORS)
    groups = int(rng.choice([0, 0, 3, 4]))
    names = ["a", *(["b"] if predictor != "none" else [])]
    names += ["s"] if family in ("normal", "student_t", "gamma", "neg_binomial") else []
    names += ["tau"] if groups else []
    free = tuple(sorted(rng.permutation(names)[: rng.integers(1, 4)]))
    model = Regression(str(family), str(predictor), groups, free, bool(rng.random() < 0.5))
    truth = dict(model.fixed)
    for name in free:
        value = rng.normal(MEANS[name], SDS[name])
        truth[name] = float(abs(value) if name in ("s", "tau") else value)
    effects = rng.normal(0, truth["tau"], groups + 3) if groups else np.zeros(1)
    n = int(rng.integers(5, 11))

    def rows(n: int, top: int) -> Rows:
        g = rng.integers(1, top + 1, n) if groups else np.ones(n, int)
        x, seen = predictors(model.predictor, n, rng)
        eta = truth["a"] + truth["b"] * x + (effects[g - 1] if groups else 0)
        return Rows(g, seen, outcomes(model.family, eta, truth["s"], rng))

    seen = rows(n, groups)
    new, test = rows(int(rng.integers(3, 6)), groups + 2), rows(int(rng.integers(2, 4)), groups + 2)
    lost = rng.random() < 0.5
    return complete(model, seen, new, test, lost, rng)


def complete(model: Regression, seen: Rows, new: Rows, test: Rows, lost: bool, rng: Rng) -> Regression:
    """The model with its rows, some values of them missing."""
    y_missing = 0.2 if lost and model.family not in ("poisson", "neg_binomial") else 0.0
    parts = {
        "seen": with_missing(model, seen, y_missing, 0.25, rng),
        "new": with_missing(model, new, 0.6, 0.4, rng),
        "test": with_missing(model, test, 0.0, 0.3, rng),
    }
    parts["new"].y[0] = np.nan
    return Regression(**{**vars(model), **parts})


def predictors(kind: str, n: int, rng: Rng) -> tuple[Array, Array]:
    """Of each row what the outcome depends on, and what is seen of it."""
    x = rng.normal(MEAN, SD, n)
    if kind == "none":
        return np.zeros(n), np.zeros(n)
    if kind == "measured":
        return x, x + rng.normal(0, NOISE, n)
    if kind == "vector":
        other = MEAN + SHARED * (x - MEAN) + rng.normal(0, SD * np.sqrt(1 - SHARED**2), n)
        return x + other, np.stack([x, other], axis=1)
    return x, x


def outcomes(family: str, eta: Array, s: float, rng: Rng) -> Array:
    match family:
        case "normal":
            return rng.normal(eta, s)
        case "student_t":
            return eta + s * rng.standard_t(5, len(eta))
        case "gamma":
            return rng.gamma(2 + s, np.exp(eta) / (2 + s))
        case "bernoulli" | "binomial":
            return rng.binomial(INTS[family], 1 / (1 + np.exp(-eta))).astype(float)
        case "poisson":
            return rng.poisson(np.exp(eta)).astype(float)
    return rng.poisson(np.exp(eta) * rng.gamma(1 + s, 1 / (1 + s), len(eta))).astype(float)


def with_missing(model: Regression, rows: Rows, of_y: float, of_x: float, rng: Rng) -> Rows:
    """The rows with values missing at random; of predictors only where the program models them."""
    y = np.where(rng.random(len(rows)) < of_y, np.nan, rows.y)
    if model.predictor in ("none", "known"):
        return Rows(rows.g, rows.x, y)
    x = np.where(rng.random(rows.x.shape) < of_x, np.nan, rows.x)
    return Rows(rows.g, x, y)
