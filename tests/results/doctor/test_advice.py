"""What findings propose to write has the arguments of its distribution."""

from types import SimpleNamespace

import numpy as np

from ppl.results.doctor.advice import type_of
from ppl.results.doctor.counts import overdispersed
from ppl.results.doctor.evidence import Column
from ppl.results.doctor.shape import positive
from ppl.results.doctor.statement import Statement
from ppl.source import SourceText, Span

NOWHERE = Span(SourceText("", ""), 1, 1, 1, 1)
POSITIVE = {
    ("normal", "mu", "s"): "lognormal(mu, s)",
    ("student_t", "nu", "mu", "s"): "lognormal(mu, s)",
    ("exponential", "rate"): "gamma(alpha, beta)",
    ("skew_normal", "mu", "s", "alpha"): "gamma(alpha, beta)",
    ("lognormal", "mu", "s"): "gamma(alpha, beta)",
}
DISPERSED = {
    ("poisson", "mu"): "neg_binomial_2(mu, phi)",
    ("binomial", "n", "p"): "beta_binomial(n, kappa * p, kappa * (1 - p))",
    ("binomial", "n", "a + b"): "beta_binomial(n, kappa * (a + b), kappa * (1 - (a + b)))",
    ("neg_binomial_2_log", "eta", "phi"): "neg_binomial_2_log(eta + u, phi)",
}


def statement(distribution, *args):
    return Statement(NOWHERE, distribution, "y", args)


def test_skewed_positive_data():
    y = np.array([1.0, 2.0])
    for words, proposed in POSITIVE.items():
        outcome = SimpleNamespace(name="y", y=y, statement=statement(*words))
        assert f"`y ~ {proposed};`" in positive(outcome), words


def test_overdispersed_counts():
    for words, proposed in DISPERSED.items():
        advice = overdispersed(statement(*words))
        assert f"`y ~ {proposed};`" in getattr(advice, "hint", advice), words


def test_words_are_declared_as_the_numbers_of_their_levels():
    two, three = (Column(np.arange(6.0) % k + 1, False, True, levels=k) for k in (2, 3))
    assert type_of(two, "N", grouping=False) == "array[N] int<lower=0, upper=1>"
    assert type_of(three, "N", grouping=True) == "array[N] int<lower=1, upper=3>"
    assert two.has_order and not three.has_order
