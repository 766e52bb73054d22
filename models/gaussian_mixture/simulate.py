"""Writes gaussian_mixture.data.json: 150 points of the plane in three groups, standardised."""

import json
from pathlib import Path

import numpy as np

N, K = 150, 3
MEANS = np.array([[-4.0, 0.0], [0.0, 4.0], [4.0, -2.0]])
SDS = np.array([[1.0, 0.7], [0.6, 1.0], [0.8, 0.8]])


def simulate(rng: np.random.Generator) -> dict[str, object]:
    group = rng.integers(0, K, N)
    y = rng.normal(MEANS[group], SDS[group])
    y = ((y - y.mean(axis=0)) / y.std(axis=0)).round(3)
    return {"N": N, "D": 2, "K": K, "y": y.tolist(), "alpha0": 1000}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("gaussian_mixture.data.json").write_text(text + "\n")
