"""Writes dawid_skene.data.json: 60 items of three kinds, five raters, each item seen by four of them."""

import json
from pathlib import Path

import numpy as np


def simulate(rng: np.random.Generator) -> dict[str, object]:
    truth = rng.choice(3, size=60, p=[0.5, 0.3, 0.2])
    right = np.array([0.9, 0.8, 0.85, 0.7, 0.6])
    item, rater, y = [], [], []
    for i in range(60):
        for j in sorted(rng.choice(5, size=4, replace=False).tolist()):
            wrong = rng.random() > right[j]
            item.append(i + 1)
            rater.append(j + 1)
            y.append(int((truth[i] + (rng.integers(1, 3) if wrong else 0)) % 3 + 1))
    return {"I": 60, "J": 5, "K": 3, "N": len(y), "item": item, "rater": rater, "y": y}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("dawid_skene.data.json").write_text(text + "\n")
