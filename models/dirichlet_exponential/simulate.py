"""Writes dirichlet_exponential.data.json: counts of 15 users for 12 items, drawn from the model."""

import json
from pathlib import Path

import numpy as np

U, I, K = 15, 12, 3  # noqa: E741 - the paper's letter for items
ALPHA0, LAMBDA0 = 1000, 0.1


def simulate(rng: np.random.Generator) -> dict[str, object]:
    theta = rng.dirichlet(np.full(K, ALPHA0), U)
    beta = rng.exponential(1 / LAMBDA0, (K, I))
    y = rng.poisson(theta @ beta)
    return {"U": U, "I": I, "K": K, "y": y.tolist(), "alpha0": ALPHA0, "lambda0": LAMBDA0}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("dirichlet_exponential.data.json").write_text(text + "\n")
