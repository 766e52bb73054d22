"""Writes hidden_markov.data.json: 400 numbers of a chain of three states."""

import json
from pathlib import Path

import numpy as np

MOVE = np.array([[0.9, 0.07, 0.03], [0.05, 0.9, 0.05], [0.02, 0.08, 0.9]])


def simulate(rng: np.random.Generator) -> dict[str, object]:
    z = [0]
    for _ in range(399):
        z.append(int(rng.choice(3, p=MOVE[z[-1]])))
    y = rng.normal(np.array([-2.0, 0.0, 2.5])[z], 0.8)
    return {"T": 400, "K": 3, "y": y.round(3).tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("hidden_markov.data.json").write_text(text + "\n")
