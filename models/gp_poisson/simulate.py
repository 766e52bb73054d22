"""Writes gp_poisson.data.json: 500 counts at 50 sites along a line, ten a site."""

import json
from pathlib import Path

import numpy as np

S, COUNTS, MU, ALPHA, RHO = 50, 10, 0.5, 0.8, 1.0


def simulate(rng: np.random.Generator) -> dict[str, object]:
    x = np.sort(rng.uniform(0, 10, S)).round(3)
    covariance = ALPHA**2 * np.exp(-0.5 * ((x[:, None] - x) / RHO) ** 2) + 1e-6 * np.eye(S)
    rate = np.exp(MU + np.linalg.cholesky(covariance) @ rng.standard_normal(S))
    site = np.repeat(np.arange(S), COUNTS)
    y = rng.poisson(rate[site])
    return {"S": S, "x": x.tolist(), "N": len(y), "site": (site + 1).tolist(), "y": y.tolist()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("gp_poisson.data.json").write_text(text + "\n")
