"""Writes election88.data.json: 600 made-up answers in the columns of the polls of 1988."""

import json
from pathlib import Path

import numpy as np

N, N_AGE, N_EDU, N_STATE, N_REGION = 600, 4, 4, 51, 5


def simulate(rng: np.random.Generator) -> dict[str, object]:
    region_of = rng.integers(1, N_REGION, N_STATE, endpoint=True)
    v_prev_of = rng.normal(0.55, 0.07, N_STATE).round(3)
    state_effect = rng.normal(0, 0.3, N_STATE)
    age_effect, edu_effect, region_effect = (rng.normal(0, 0.3, n) for n in (N_AGE, N_EDU, N_REGION))
    age_edu_effect = rng.normal(0, 0.2, N_AGE * N_EDU)

    age, edu, state = (rng.integers(1, n, N, endpoint=True) for n in (N_AGE, N_EDU, N_STATE))
    age_edu = N_EDU * (age - 1) + edu
    region, v_prev = region_of[state - 1], v_prev_of[state - 1]
    black, female = rng.binomial(1, 0.15, N), rng.binomial(1, 0.5, N)
    logit = (
        -3.5 - 0.1 * female - 1.7 * black - 0.2 * female * black + 7 * v_prev
        + age_effect[age - 1] + edu_effect[edu - 1] + age_edu_effect[age_edu - 1]
        + state_effect[state - 1] + region_effect[region - 1]
    )  # fmt: skip
    y = rng.binomial(1, 1 / (1 + np.exp(-logit)))
    columns = {"age": age, "edu": edu, "age_edu": age_edu, "state": state, "region_full": region}
    columns |= {"black": black, "female": female, "v_prev_full": v_prev, "y": y}
    sizes = {"N": N, "n_age": N_AGE, "n_edu": N_EDU, "n_age_edu": N_AGE * N_EDU, "n_state": N_STATE}
    return sizes | {"n_region_full": N_REGION} | {name: column.tolist() for name, column in columns.items()}


if __name__ == "__main__":
    text = json.dumps(simulate(np.random.default_rng(seed=1)))
    Path(__file__).with_name("election88.data.json").write_text(text + "\n")
