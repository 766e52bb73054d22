"""Writes latent_class.data.json: 200 people of three classes, six questions."""

import json
from pathlib import Path

import numpy as np

YES = np.array(
    [[0.9, 0.9, 0.8, 0.2, 0.1, 0.3], [0.2, 0.3, 0.7, 0.9, 0.8, 0.6], [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]]
)


def simulate(rng: np.random.Generator) -> dict[str, object]:
    c = rng.choice(3, size=200, p=[0.4, 0.35, 0.25])
    y = (rng.random((200, 6)) < YES[c]).astype(int)
    return {"N": 200, "J": 6, "C": 3, "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("latent_class.data.json").write_text(text + "\n")
