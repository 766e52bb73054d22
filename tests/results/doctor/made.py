"""Outcomes made of arrays: data and replications of them, without a program."""

import numpy as np

from ppl.results.doctor.evidence import Column, ObservedOutcome
from ppl.results.doctor.statement import Statement
from ppl.source import SourceText, Span

DRAWS, N = 500, 120
SPAN = Span(SourceText("y ~ normal(mu, sigma);\n", "m.model"), 1, 1, 1, 23)
X = np.random.default_rng(5).normal(size=N)
G = np.repeat(np.arange(12), N // 12)
NORMAL = Statement(SPAN, "normal", "y", ("mu", "sigma"))


def rng():
    return np.random.default_rng(3)


def replicated(mean=0.0, sd=1.0):
    return rng().normal(mean, sd, (DRAWS, N))


def outcome(y, rep=None, **more):
    given = {"x": Column(X, False, False), "g": Column(G.astype(float), False, True)} | more.pop(
        "columns", {}
    )
    kept = {name: c for name, c in given.items() if c is not None}
    rows = tuple(f"y[{k}]" for k in range(1, N + 1))
    usual = {"rows": rows, "discrete": False, "statement": NORMAL, "log_ratios": np.zeros(DRAWS)}
    return ObservedOutcome(
        "y", y=y, replicated=replicated() if rep is None else rep, columns=kept, **usual | more
    )
