"""How far a hundred daily updates end from the fit to all days, and what each takes of that fit's time.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.updates --runs 40 --out updates.jsonl
    python -m tests.benchmarks.updates --table updates.jsonl

A logistic regression with 6 coefficients, and one with effects of 20 groups, whose
mean and sd are parameters. Every run has data of its own. A run is a line of the
output; one begun again does what is not there yet.
"""

import argparse
import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import ppl
from tests.benchmarks.clock import head, row

REGRESSION = """
data { int N; int K; matrix[N, K] x; array[N] int<lower=0, upper=1> y; }
parameters { real a; vector[K] b; }
model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ bernoulli_logit(a + x * b); }
"""
HIERARCHICAL = """
data {
  int N; int K; int J; matrix[N, K] x; array[N] int<lower=1, upper=J> g; array[N] int<lower=0, upper=1> y;
}
parameters { real m; real<lower=0> s; vector[J] e; vector[K] b; }
model {
  m ~ normal(0, 2); s ~ normal(0, 1); e ~ normal(m, s); b ~ normal(0, 1);
  y ~ bernoulli_logit(e[g] + x * b);
}
"""
PROGRAMS = {"regression": REGRESSION, "hierarchical": HIERARCHICAL}
GROUPS, COEFFICIENTS = 20, 5
WITHIN = 0.2
"""Sds of the whole fit by which means may differ."""


def simulated(name: str, rows: int, days: int, seed: int) -> list[dict[str, Any]]:
    """The data of each day."""
    rng = np.random.default_rng([seed, len(name)])
    b, effects = rng.normal(0, 0.5, COEFFICIENTS), rng.normal(0.3, 0.7, GROUPS)
    found = []
    for _ in range(days):
        x, g = rng.normal(size=(rows, COEFFICIENTS)), rng.integers(1, GROUPS + 1, rows)
        level = effects[g - 1] if name == "hierarchical" else 0.3
        y = rng.binomial(1, 1 / (1 + np.exp(-level - x @ b)))
        day = {"N": rows, "K": COEFFICIENTS, "x": x, "y": y}
        found.append({**day, "J": GROUPS, "g": g} if name == "hierarchical" else day)
    return found


def of_all(days: list[dict[str, Any]]) -> dict[str, Any]:
    """One set of data with all rows."""
    rows = {key: np.concatenate([day[key] for day in days]) for key in ("x", "y", "g") if key in days[0]}
    return {**days[0], **rows, "N": sum(day["N"] for day in days)}


def measured(name: str, rows: int, days: int, seed: int) -> dict[str, Any]:
    """The updated fit beside the whole one: means in sds of the whole, sds as ratios, CPU seconds."""
    model, data = ppl.compile_model(PROGRAMS[name]), simulated(name, rows, days, seed)
    fit, seconds = model.condition(data[0]).variational(seed=seed), []
    for day in data[1:]:
        began = process_time()
        fit = fit.update(day)
        seconds.append(process_time() - began)
    began = process_time()
    whole = model.condition(of_all(data)).variational(seed=seed)
    of_whole = process_time() - began
    u, v = fit.draws_u, whole.draws_u
    worst = max(fit.verdict.updates, key=lambda quality: quality.khat)
    return {
        "name": name,
        "rows": rows,
        "days": days,
        "seed": seed,
        "apart": float(np.abs((u.mean(axis=0) - v.mean(axis=0)) / v.std(axis=0)).max()),
        "wider": [float(r) for r in np.quantile(u.std(axis=0) / v.std(axis=0), [0, 0.5, 1])],
        "level": fit.level.value,
        "khat": worst.khat,
        "share": min(quality.ess / quality.n for quality in fit.verdict.updates),
        "update": float(np.median(seconds)),
        "whole": of_whole,
        "of_whole": whole.level.value,
    }


def table(lines: list[dict[str, Any]]) -> list[str]:
    """One row a program and number of rows a day."""
    columns = ("program", "rows a day", "runs", "within 0.2 sd", "largest", "median", "sd ratio")
    found = list(head(*columns, "good", "largest k-hat", "update, s", "whole, s", "share"))
    for name, rows in sorted({(line["name"], line["rows"]) for line in lines}):
        own = [line for line in lines if (line["name"], line["rows"]) == (name, rows)]
        apart = np.array([line["apart"] for line in own])
        update, whole = (float(np.median([line[key] for line in own])) for key in ("update", "whole"))
        wider = np.array([line["wider"] for line in own])
        found.append(
            row(
                name,
                rows,
                len(own),
                int((apart < WITHIN).sum()),
                f"{apart.max():.2f}",
                f"{np.median(apart):.2f}",
                f"{wider.min():.2f} to {wider.max():.2f}",
                sum(line["level"] == "good" for line in own),
                f"{max(line['khat'] for line in own):.2f}",
                f"{update:.2f}",
                f"{whole:.2f}",
                f"{np.median([line['update'] / line['whole'] for line in own]):.3f}",
            )
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--days", type=int, default=101)
    parser.add_argument("--only", choices=PROGRAMS, nargs="*", default=list(PROGRAMS))
    parser.add_argument("--out", type=Path, default=Path("updates.jsonl"))
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    if given.table:
        print("\n".join(table([json.loads(line) for line in given.table.read_text().splitlines()])))
        return
    text = given.out.read_text() if given.out.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    done = {(line["name"], line["rows"], line["days"], line["seed"]) for line in lines}
    for seed in range(1, given.runs + 1):
        for name in given.only:
            if (name, given.rows, given.days, seed) not in done:
                with given.out.open("a") as file:
                    file.write(json.dumps(measured(name, given.rows, given.days, seed)) + "\n")


if __name__ == "__main__":
    main()
