"""Writes zero_inflated_poisson.data.json: 200 counts at rate 3, a third of them zero whatever the rate."""

import json
from pathlib import Path

import numpy as np


def simulate(rng: np.random.Generator) -> dict[str, object]:
    never = rng.random(200) < 0.35
    return {"N": 200, "y": np.where(never, 0, rng.poisson(3.0, 200)).tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("zero_inflated_poisson.data.json").write_text(text + "\n")
