"""A control for Table 3: the three top levels beside the exact evidence of a corpus of six words."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from stochastic_search.enumeration import log_evidence, log_evidence_given
from stochastic_search.levels import PRIOR, case
from stochastic_search.topics import Corpus

from frame.result import Table

TOPICS, WORDS, STARTS = 2, 6, 5
CORPORA = {"alike": [[3, 0], [3, 0]], "mixed": [[2, 1], [1, 2]], "apart": [[3, 0], [0, 3]]}
"""Counts of two words in two documents."""


class Beside(NamedTuple):
    """The log evidence, exact, with a top level that has its prior and with a uniform one; what bounds it."""

    corpus: str
    b: float
    evidence: float
    dirichlet: float
    evidence_uniform: float
    uniform: float
    point: float


def beside(name: str, b: float, rounds: int, starts: int) -> Beside:
    """The best of each top level over so many starts."""
    corpus = Corpus(csr_matrix(CORPORA[name]))
    tried = [case(name, corpus, b, rounds, TOPICS, seed) for seed in range(starts)]
    return Beside(
        name,
        b,
        log_evidence(corpus, PRIOR, b, TOPICS),
        max(c.dirichlet for c in tried),
        log_evidence_given(corpus, np.full(TOPICS, 1 / TOPICS), b),
        max(c.uniform for c in tried),
        max(c.point for c in tried),
    )


def table(found: list[Beside]) -> Table:
    columns = ("corpus", "b", "evidence", "Dirichlet q", "evidence if uniform", "uniform", "point")
    caption = "Six words, two topics: the exact log evidence in nats beside the three of Table 3"
    return Table(caption, columns, found, dict.fromkeys(columns[2:], ".3f"))


def remark(found: list[Beside]) -> str:
    below = span([f.evidence - f.dirichlet for f in found])
    below_uniform = span([f.evidence_uniform - f.uniform for f in found])
    ahead = [f for f in found if f.evidence > f.evidence_uniform]
    turned = [f for f in ahead if f.dirichlet < f.uniform]
    point = max(f.point for f in found)
    no_bound = f" The figure of a point comes to {point:+.1f}, and no log probability of words is above 0."
    return (
        f"On six words, two documents of three, the evidence is a sum over {TOPICS**WORDS} assignments to "
        f"topics, each with a closed form; a bound is the best of {STARTS} starts. That of a Dirichlet q is "
        f"{below} nats below its evidence, that of a uniform level {below_uniform} below its own. The "
        f"evidence itself prefers the uniform level in {len(found) - len(ahead)} of {len(found)} cases; in "
        f"{len(turned)} of the other {len(ahead)} the bounds turn the order round."
        + (no_bound if point > 0 else "")
    )


def span(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"
