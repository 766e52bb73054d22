"""Writes sup_ppca_ard.data.json: noisy points of a plane in ten dimensions, and a response to them."""

import json
from pathlib import Path

import numpy as np

N, D, M, TRUE_M, SIGMA = 50, 10, 5, 2, 0.3


def simulate(rng: np.random.Generator) -> dict[str, object]:
    z = rng.normal(0, 1, (N, TRUE_M))
    w_x, w_y = rng.normal(0, 1, (D, TRUE_M)), rng.normal(0, 1, TRUE_M)
    x = rng.normal(z @ w_x.T, SIGMA).round(3)
    y = rng.normal(z @ w_y, SIGMA).round(3)
    return {"N": N, "D": D, "M": M, "x": x.tolist(), "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("sup_ppca_ard.data.json").write_text(text + "\n")
