"""Writes gamma_poisson.data.json: counts of 15 users for 12 items, drawn from the model."""

import json
from pathlib import Path

import numpy as np

U, I, K = 15, 12, 3  # noqa: E741 - the paper's letter for items


def simulate(rng: np.random.Generator) -> dict[str, object]:
    theta = np.sort(rng.gamma(1, 1, (U, K)), axis=1)
    beta = rng.gamma(1, 1, (K, I))
    y = rng.poisson(theta @ beta)
    return {"U": U, "I": I, "K": K, "y": y.tolist(), "a0": 1, "b0": 1, "c0": 1, "d0": 1}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("gamma_poisson.data.json").write_text(text + "\n")
