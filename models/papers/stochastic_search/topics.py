"""A topic model with two levels of shares, all but the top one by coordinate ascent."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import gammaln, psi
from sklearn.datasets import load_svmlight_file

Array = NDArray[np.float64]
WORD_PRIOR = 0.1


class Corpus(NamedTuple):
    """Counts (documents, words)."""

    counts: csr_matrix

    @property
    def size(self) -> tuple[int, int]:
        n, words = self.counts.shape
        return int(n), int(words)


def simulated(documents: int, words: int = 500, topics: int = 10, length: int = 80, seed: int = 1) -> Corpus:
    """From the model itself, with as many topics in use and b = 5."""
    rng = np.random.default_rng(seed)
    topic = rng.dirichlet(np.full(words, WORD_PRIOR), size=topics)
    top = rng.dirichlet(np.full(topics, 2.0))
    shares = rng.dirichlet(5 * top, size=documents)
    return Corpus(csr_matrix(rng.multinomial(length, shares @ topic)))


def reviews(data: Path, documents: int, words: int = 1000) -> Corpus:
    """Film reviews, counts of the commonest words but the fifty commonest of all.

    The file has (1 + log count) times an inverse document frequency, over the length of the row; so the least
    entry of a row once that frequency is taken out is that of a count of 1, and the counts come back.
    """
    weights, _ = load_svmlight_file(str(data / "text_polarity/polarity_train.svm.gz"))
    held_out, _ = load_svmlight_file(
        str(data / "text_polarity/polarity_test.svm.gz"), n_features=weights.shape[1]
    )
    frequency = weights.getnnz(axis=0) + held_out.getnnz(axis=0)
    n = weights.shape[0] + held_out.shape[0]
    rows = csr_matrix(weights[:documents].multiply(1 / (np.log((1 + n) / (1 + frequency)) + 1)))
    least = np.array([row.data.min() for row in rows])
    counts = rows.copy()
    counts.data = np.rint(np.exp(rows.data / np.repeat(least, np.diff(rows.indptr)) - 1))
    return Corpus(csr_matrix(counts[:, np.sort(np.argsort(-frequency)[50 : 50 + words])]))


@dataclass(frozen=True, eq=False)
class Fitted:
    """q of the documents' shares, Dirichlet (documents, K), and of the topics, Dirichlet (K, words)."""

    shares: Array
    topics: Array
    top: Array

    @property
    def sums(self) -> Array:
        """Sums over documents of the expected log shares, (K,)."""
        return expected_log(self.shares).sum(axis=0)


def expected_log(alphas: Array) -> Array:
    """Of the entries of Dirichlet draws, one Dirichlet a row."""
    log: Array = psi(alphas) - psi(alphas.sum(axis=1, keepdims=True))
    return log


# From the sums of expected log shares, the round and the parameters of the top level so far to its next ones.
TopLevel = Callable[[Array, int, Array], Array]


def begin(corpus: Corpus, b: float, k: int, seed: int = 1) -> Fitted:
    """Topics near the mean of all words, and shares near equal."""
    (n, words), total = corpus.size, corpus.counts.sum()
    scatter = np.random.default_rng(seed).gamma(100.0, 0.01, size=(k, words))
    topics = WORD_PRIOR + scatter * total / (k * words)
    return Fitted(np.full((n, k), b / k + total / (n * k)), topics, np.ones(k))


def fit(corpus: Corpus, b: float, begun: Fitted, update: TopLevel, rounds: int) -> Fitted:
    """Coordinate ascent; `top` (K,) is what `update` works on, and the mean p is top / sum(top)."""
    n, words = corpus.size
    shares, topics, top = begun.shares, begun.topics, begun.top
    document = np.repeat(np.arange(n), np.diff(corpus.counts.indptr))
    word, count = corpus.counts.indices, corpus.counts.data
    for t in range(rounds):
        log_share, log_topic = expected_log(shares), expected_log(topics)
        joint = np.exp(log_share)[document] * np.exp(log_topic).T[word]
        norm = joint.sum(axis=1)
        share_of = csr_matrix((count / norm, (np.arange(len(count)), document)), shape=(len(count), n))
        word_of = csr_matrix((count / norm, (np.arange(len(count)), word)), shape=(len(count), words))
        shares = b * top / top.sum() + share_of.T @ joint
        topics = WORD_PRIOR + (word_of.T @ joint).T
        top = update(expected_log(shares).sum(axis=0), t, top)
    return Fitted(shares, topics, top)


def below(corpus: Corpus, fitted: Fitted) -> float:
    """The bound in nats but for the top level's part.

    Words given shares and topics, with the best q of each word's topic; topics; entropy of the shares.
    """
    shares, topics = fitted.shares, fitted.topics
    document = np.repeat(np.arange(len(shares)), np.diff(corpus.counts.indptr))
    log_share, log_topic = expected_log(shares), expected_log(topics)
    joint = (np.exp(log_share)[document] * np.exp(log_topic).T[corpus.counts.indices]).sum(axis=1)
    likelihood = corpus.counts.data @ np.log(joint)
    words = topics.shape[1]
    prior = (
        gammaln(words * WORD_PRIOR) - words * gammaln(WORD_PRIOR) + (WORD_PRIOR - 1) * log_topic.sum(axis=1)
    )
    # The shares' own -1 in (b p - 1) E log theta; the rest of that term is the top level's.
    return float(likelihood + prior.sum() + entropy(topics) + entropy(shares) - log_share.sum())


def entropy(alphas: Array) -> float:
    """Of independent Dirichlets, one a row, summed."""
    log_beta = gammaln(alphas).sum(axis=1) - gammaln(alphas.sum(axis=1))
    return float((log_beta - ((alphas - 1) * expected_log(alphas)).sum(axis=1)).sum())
