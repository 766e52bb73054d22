"""Writes discrete_mixture.data.json: 300 numbers of three groups."""

import json
from pathlib import Path

import numpy as np


def simulate(rng: np.random.Generator) -> dict[str, object]:
    group = rng.choice(3, size=300, p=[0.5, 0.3, 0.2])
    y = rng.normal(np.array([-2.0, 1.0, 4.0])[group], np.array([0.6, 0.5, 1.0])[group])
    return {"N": 300, "K": 3, "y": y.round(3).tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("discrete_mixture.data.json").write_text(text + "\n")
