"""The exact evidence of a finite HDP on a corpus of a few words, by every assignment of words to topics."""

from collections.abc import Callable
from itertools import product
from math import prod

import numpy as np
from scipy.special import gammaln, logsumexp
from stochastic_search.topics import WORD_PRIOR, Array, Corpus

Assigned = tuple[Array, Array]
"""Counts: of topics in each document (documents, K), and of words in each topic (K, words)."""


def assignments(corpus: Corpus, k: int) -> list[Assigned]:
    """All K^N of them."""
    counts = corpus.counts.tocoo()
    document = np.repeat(counts.row, counts.data)
    word = np.repeat(counts.col, counts.data)
    (n, words), found = corpus.size, []
    for topic in product(range(k), repeat=len(word)):
        of_document, of_topic = np.zeros((n, k)), np.zeros((k, words))
        np.add.at(of_document, (document, np.array(topic)), 1)
        np.add.at(of_topic, (np.array(topic), word), 1)
        found.append((of_document, of_topic))
    return found


def log_evidence(corpus: Corpus, a: float, b: float, k: int) -> float:
    """log p(words), with p ~ Dirichlet(a / K) at the top level and the words in an order, in nats."""
    top = np.full(k, a / k)
    return over(corpus, k, lambda counts: log_averaged(counts, top, b))


def log_evidence_given(corpus: Corpus, p: Array, b: float) -> float:
    """log p(words | p), for a top level that is fixed."""
    return over(corpus, len(p), lambda counts: float(log_polya(counts, b * p).sum()))


def over(corpus: Corpus, k: int, log_documents: Callable[[Array], float]) -> float:
    """The log of the sum over assignments, `log_documents` being what a document's topics add."""
    topic = np.full(corpus.size[1], WORD_PRIOR)
    terms = [log_documents(n) + log_polya(m, topic).sum() for n, m in assignments(corpus, k)]
    return float(logsumexp(terms))


def log_polya(counts: Array, alpha: Array) -> Array:
    """The log probability of draws in an order, their shares from Dirichlet(alpha), one a row."""
    total, n = alpha.sum(), counts.sum(axis=1)
    return gammaln(total) - gammaln(total + n) + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=1)


def log_averaged(counts: Array, top: Array, b: float) -> float:
    """The same of rows with Dirichlet(b p), averaged over p ~ Dirichlet(top).

    Gamma(b p + n) / Gamma(b p) = b p (b p + 1) ... (b p + n - 1) is a polynomial in p, and so is the product
    over documents; the moments of a Dirichlet have a closed form.
    """
    total, n = top.sum(), counts.sum(axis=1)
    polynomials = [rising(column, b) for column in counts.T]
    terms = []
    for powers in product(*(range(len(c)) for c in polynomials)):
        coefficient = prod(c[m] for c, m in zip(polynomials, powers, strict=True))
        if coefficient > 0:
            m = np.array(powers)
            moment = gammaln(total) - gammaln(total + m.sum()) + (gammaln(top + m) - gammaln(top)).sum()
            terms.append(np.log(coefficient) + moment)
    return float(logsumexp(terms) + (gammaln(b) - gammaln(b + n)).sum())


def rising(counts: Array, b: float) -> Array:
    """Coefficients in p, from the constant up, of the product over counts n of b p ... (b p + n - 1)."""
    found = np.ones(1)
    for n in counts:
        for j in range(int(n)):
            found = np.convolve(found, [j, b])
    return found
