"""Writes cormack_jolly_seber.data.json: 120 animals, marked on one of six occasions, seven in all."""

import json
from pathlib import Path

import numpy as np

PHI, P = 0.75, 0.6


def simulate(rng: np.random.Generator) -> dict[str, object]:
    y = np.zeros((120, 7), dtype=int)
    for i in range(120):
        t = i % 6
        y[i, t] = 1
        while t < 6 and rng.random() < PHI:
            t += 1
            y[i, t] = rng.random() < P
    return {"I": 120, "T": 7, "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("cormack_jolly_seber.data.json").write_text(text + "\n")
