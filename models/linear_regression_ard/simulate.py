"""Writes linear_regression_ard.data.json: ten regressors, of which the last five are idle."""

import json
from pathlib import Path

import numpy as np

N, D, SIGMA = 200, 10, 0.5


def simulate(rng: np.random.Generator) -> dict[str, object]:
    w = np.concatenate([rng.normal(0, 1, D // 2), np.zeros(D - D // 2)])
    x = rng.normal(0, 1, (N, D)).round(3)
    y = rng.normal(x @ w, SIGMA).round(3)
    return {"N": N, "D": D, "x": x.tolist(), "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("linear_regression_ard.data.json").write_text(text + "\n")
