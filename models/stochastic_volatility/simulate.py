"""Writes stochastic_volatility.data.json: 500 returns at the values of ADVI (2017), section 3.1."""

import json
from pathlib import Path

import numpy as np

T, MU, PHI, SIGMA = 500, -1.025, 0.9, 0.6


def simulate(rng: np.random.Generator) -> dict[str, object]:
    h = np.empty(T)
    h[0] = rng.normal(MU, SIGMA / np.sqrt(1 - PHI**2))
    for t in range(1, T):
        h[t] = rng.normal(MU + PHI * (h[t - 1] - MU), SIGMA)
    y = rng.normal(0, np.exp(h / 2)).round(4)
    return {"T": T, "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=4)))
    Path(__file__).with_name("stochastic_volatility.data.json").write_text(text + "\n")
