"""Writes logistic_regression.data.json: 200 answers to nine inputs, coefficients drawn from the prior."""

import json
from pathlib import Path

import numpy as np

N, D = 200, 9


def simulate(rng: np.random.Generator) -> dict[str, object]:
    alpha, beta = rng.normal(0, 1), rng.normal(0, 1, D)
    x = rng.normal(0, 1, (N, D)).round(3)
    y = rng.binomial(1, 1 / (1 + np.exp(-alpha - x @ beta)))
    return {"N": N, "D": D, "x": x.tolist(), "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("logistic_regression.data.json").write_text(text + "\n")
