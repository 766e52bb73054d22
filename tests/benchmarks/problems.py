"""The programs and data that speed is measured on.

The small ones are those of tests/conformance/programs; the large ones are simulated here, with a seed, in the
sizes of the papers.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ppl.records import dataclass

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "conformance" / "programs"
MODELS = ROOT / "models"

Data = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A program and its data: a file, or a function that simulates them.

    `algorithm` is the family that is fitted; `peers` are those that can be asked to fit it.
    """

    name: str
    program: Path
    data: Path | Callable[[], Data]
    algorithm: str = "meanfield"
    peers: tuple[str, ...] = ("stan", "numpyro", "pymc")
    minibatch: int | None = None

    def data_file(self, folder: Path) -> Path:
        """The data as a JSON file, written into `folder` when they are simulated."""
        if isinstance(self.data, Path):
            return self.data
        path = folder / f"{self.name}.data.json"
        if not path.exists():
            path.write_text(json.dumps({k: np.asarray(v).tolist() for k, v in self.data().items()}))
        return path

    def values(self) -> Data | Path:
        return self.data if isinstance(self.data, Path) else self.data()


def logistic(rows: int, columns: int) -> Data:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, columns))
    beta = rng.standard_normal(columns) / np.sqrt(columns)
    return {"N": rows, "K": columns, "X": X, "y": rng.binomial(1, 1 / (1 + np.exp(-X @ beta - 0.2)))}


def sparse_regression(rows: int, columns: int) -> Data:
    """Half the regressors idle, as in ADVI appendix F.1."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((rows, columns))
    w = np.where(np.arange(columns) < columns // 2, rng.standard_normal(columns), 0.0)
    return {"N": rows, "D": columns, "x": x, "y": x @ w + 0.5 * rng.standard_normal(rows)}


def mixture(rows: int, columns: int, components: int) -> Data:
    rng = np.random.default_rng(3)
    mu = rng.standard_normal((components, columns))
    y = mu[rng.integers(components, size=rows)] + 0.5 * rng.standard_normal((rows, columns))
    return {"N": rows, "D": columns, "K": components, "y": y, "alpha0": 1.0}


def two_normals(rows: int) -> Data:
    rng = np.random.default_rng(4)
    first = rng.random(rows) < 0.4
    return {"N": rows, "y": np.where(first, rng.normal(-1, 0.6, rows), rng.normal(1.2, 0.9, rows))}


def polls() -> Data:
    """The rows of ADVI appendix F.2 in the columns of models/election88."""
    rng = np.random.default_rng(5)
    rows, sizes = 11_566, {"age": 4, "edu": 4, "age_edu": 16, "state": 51, "region_full": 5}
    codes = {name: rng.integers(1, size + 1, rows) for name, size in sizes.items()}
    codes["age_edu"] = (codes["age"] - 1) * 4 + codes["edu"]
    black, female = rng.binomial(1, 0.1, rows), rng.binomial(1, 0.5, rows)
    v_prev = rng.normal(0.55, 0.07, 51)[codes["state"] - 1]
    effects = [0.3 * rng.standard_normal(sizes[name])[codes[name] - 1] for name in sizes]
    eta = -3.5 - 0.1 * female - 1.7 * black + 7 * v_prev + sum(effects)
    counts = {f"n_{name}": size for name, size in sizes.items()}
    return {
        "N": rows,
        **counts,
        **codes,
        "black": black,
        "female": female,
        "v_prev_full": v_prev,
        "y": rng.binomial(1, 1 / (1 + np.exp(-eta))),
    }


def counts(rows: int, columns: int, factors: int) -> Data:
    """Counts like the grey levels of small pictures, from a non-negative factorisation."""
    rng = np.random.default_rng(6)
    rates = rng.dirichlet(np.ones(factors), rows) @ rng.gamma(2.0, 40.0, (factors, columns))
    return {
        "U": rows,
        "I": columns,
        "K": factors,
        "y": rng.poisson(rates),
        "alpha0": 1000.0,
        "lambda0": 0.1,
    }


def volatility(steps: int) -> Data:
    rng = np.random.default_rng(7)
    h = np.zeros(steps)
    for t in range(1, steps):
        h[t] = 0.9 * h[t - 1] + 0.6 * rng.standard_normal()
    return {"T": steps, "y": np.exp((h - 1.025) / 2) * rng.standard_normal(steps)}


def curve(rows: int) -> Data:
    rng = np.random.default_rng(8)
    x = np.sort(rng.uniform(-3, 3, rows))
    return {"N": rows, "x": x, "y": np.sin(2 * x) + 0.3 * rng.standard_normal(rows)}


def hidden_states(steps: int) -> Data:
    rng = np.random.default_rng(9)
    state = np.zeros(steps, dtype=int)
    for t in range(1, steps):
        state[t] = state[t - 1] if rng.random() < 0.9 else 1 - state[t - 1]
    return {"T": steps, "K": 2, "y": np.array([-1.0, 1.5])[state] + 0.5 * rng.standard_normal(steps)}


def _small(name: str, algorithm: str = "meanfield") -> Problem:
    return Problem(name, PROGRAMS / f"{name}.stan", PROGRAMS / f"{name}.data.json", algorithm)


def _conformance(name: str) -> Path:
    return PROGRAMS / f"{name}.stan"


SMALL = tuple(
    _small(name)
    for name in (
        "hier_normal_noncentred",
        "logistic_glm",
        "mixture_two_normals",
        "irt_2pl",
        "negbin_regression_loo",
        "gp_regression",
        "survival_weibull_censored",
        "poisson_offset_overdispersed",
        "ar_k",
        "linear_regression_ard",
    )
)

LARGE = (
    Problem("logistic_10000x100", _conformance("logistic_glm"), lambda: logistic(10_000, 100)),
    Problem(
        "logistic_1000000x20",
        _conformance("logistic_glm"),
        lambda: logistic(1_000_000, 20),
        peers=("numpyro",),
    ),
    Problem(
        "ard_10000x250",
        MODELS / "linear_regression_ard" / "linear_regression_ard.model",
        lambda: sparse_regression(10_000, 250),
    ),
    Problem("polls_11566", MODELS / "election88" / "election88.model", polls),
    Problem("mixture_1000", _conformance("mixture_two_normals"), lambda: two_normals(1_000)),
    Problem("hmm_400", _conformance("hmm_forward_gaussian"), lambda: hidden_states(400)),
    Problem(
        "volatility_500", _conformance("stochastic_volatility"), lambda: volatility(500), algorithm="fullrank"
    ),
    Problem("gp_300", _conformance("gp_regression"), lambda: curve(300)),
    Problem(
        "factors_1965x560",
        MODELS / "dirichlet_exponential" / "dirichlet_exponential.model",
        lambda: counts(1_965, 560, 10),
        peers=("numpyro",),
    ),
    Problem(
        "mixture_250000x64",
        MODELS / "gaussian_mixture" / "gaussian_mixture.model",
        lambda: mixture(250_000, 64, 30),
        peers=("numpyro",),
        minibatch=500,
    ),
)

PROBLEMS = {p.name: p for p in (*SMALL, *LARGE)}
