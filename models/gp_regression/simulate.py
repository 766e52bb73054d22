"""Writes gp_regression.data.json: 60 noisy values of a function of two inputs."""

import json
from pathlib import Path

import numpy as np

N, D, SIGMA = 60, 2, 0.2


def simulate(rng: np.random.Generator) -> dict[str, object]:
    x = rng.uniform(-2, 2, (N, D)).round(3)
    y = rng.normal(np.sin(2 * x[:, 0]) + np.cos(x[:, 1]), SIGMA).round(3)
    return {"N": N, "D": D, "x": x.tolist(), "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("gp_regression.data.json").write_text(text + "\n")
