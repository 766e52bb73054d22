"""One corpus with three top levels: a Dirichlet q by stochastic search, a point, and the uniform shares."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from stochastic_search.top_level import Terms, at_point, bound, climb, given_point
from stochastic_search.topics import Array, Corpus, Fitted, begin, below, entropy, fit

PRIOR = 1.0
TOPICS = 30
STEPS, DRAWS = 10, 20
"""Of stochastic search, in each round of coordinate ascent."""


class Case(NamedTuple):
    """A corpus at one concentration: bounds by what stands at the top level; its fit by a Dirichlet."""

    corpus: str
    documents: int
    b: float
    dirichlet: float
    point: float
    uniform: float
    terms: Terms
    c: Array

    @property
    def row(self) -> tuple[Any, ...]:
        bounds = self.dirichlet, self.point, self.uniform
        return self.corpus, self.documents, self.b, *bounds, entropy(self.c[None])


def case(name: str, corpus: Corpus, b: float, rounds: int, topics: int = TOPICS, seed: int = 1) -> Case:
    """All three begin where half as many rounds with a uniform top level end."""
    n = corpus.size[0]
    rng = np.random.default_rng(seed)

    def dirichlet(s: Array, t: int, c: Array) -> Array:
        return climb(Terms(PRIOR, b, n, s), c, STEPS, DRAWS, rng, first=t)

    def point(s: Array, t: int, p: Array) -> Array:
        return best_point(Terms(PRIOR, b, n, s), p)

    def unmoved(s: Array, t: int, p: Array) -> Array:
        return p

    begun = fit(corpus, b, begin(corpus, b, topics, seed), unmoved, rounds // 2)
    flat = replace(begun, top=begun.top / topics)
    searched = fit(corpus, b, begun, dirichlet, rounds)
    pointed, uniform = (fit(corpus, b, flat, update, rounds) for update in (point, unmoved))
    terms = terms_of(searched, b)
    return Case(
        name,
        n,
        b,
        below(corpus, searched) + bound(terms, searched.top),
        below(corpus, pointed) + at_point(terms_of(pointed, b), pointed.top),
        below(corpus, uniform) + given_point(terms_of(uniform, b), uniform.top),
        terms,
        searched.top,
    )


def terms_of(fitted: Fitted, b: float) -> Terms:
    return Terms(PRIOR, b, len(fitted.shares), fitted.sums)


def best_point(terms: Terms, p: Array) -> Array:
    """The p of the highest density, by L-BFGS on its logarithm."""

    def objective(v: Array) -> float:
        return -at_point(terms, softmax(v))

    found = minimize(objective, np.log(p), method="L-BFGS-B", options={"maxiter": 15})
    best: Array = softmax(found.x)
    return best
