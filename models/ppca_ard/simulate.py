"""Writes ppca_ard.data.json: noisy points of a plane in ten dimensions."""

import json
from pathlib import Path

import numpy as np

N, D, M, TRUE_M, SIGMA = 50, 10, 5, 2, 0.3


def simulate(rng: np.random.Generator) -> dict[str, object]:
    z = rng.normal(0, 1, (N, TRUE_M))
    w = rng.normal(0, 1, (D, TRUE_M))
    x = rng.normal(z @ w.T, SIGMA).round(3)
    return {"N": N, "D": D, "M": M, "x": x.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("ppca_ard.data.json").write_text(text + "\n")
