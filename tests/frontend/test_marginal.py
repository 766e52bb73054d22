"""What is advised for an int parameter compiles, and its density is the sum over the values."""

import re

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import ppl
from ppl.errors import ModelError
from ppl.frontend.check import analyse
from ppl.source import SourceText

MIXTURE = """\
data {
  int N;
  int K;
  vector[N] y;
  simplex[K] theta;
}
parameters {
  vector[K] mu;
  array[N] int<lower=1, upper=K> z;
}
model {
  mu ~ normal(0, 1);
  for (n in 1:N) {
    z[n] ~ categorical(theta);
    y[n] ~ normal(mu[z[n]], 1);
  }
}
"""
SHARED = """\
data {
  int N;
  array[N] int y;
}
parameters {
  real<lower=0> rate;
  int<lower=0, upper=40> lag;
}
model {
  lag ~ poisson(3);
  for (n in 1:N) {
    y[n] ~ poisson(rate + lag);
  }
}
"""


def advice(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        analyse(SourceText(text))
    assert caught.value.code == "PPL701" and caught.value.hint is not None
    return caught.value.hint


def rewritten(text: str, remove: str) -> str:
    """The program with the advice in place of the declaration and of the statements that it stands for."""
    body = advice(text).split("\n", 1)[1]
    kept = re.sub(remove, "", text)
    return kept.replace("model {", "model {\n" + body)


def test_each_entry_of_an_array_is_summed_out() -> None:
    text = rewritten(MIXTURE, r"  array.* z;\n|  for \(n in 1:N\) \{\n(.*\n){2}  \}\n")
    y, theta, mu = np.array([0.3, -1.0, 2.0]), np.array([0.2, 0.8]), np.array([0.5, -0.7])
    posterior = ppl.compile_model(text).condition({"N": 3, "K": 2, "y": y, "theta": theta})
    each = logsumexp(np.log(theta) + stats.norm.logpdf(y[:, None], mu), axis=1)
    assert posterior.log_density(mu) == pytest.approx(stats.norm.logpdf(mu).sum() + each.sum())


def test_one_variable_is_summed_over_all_its_statements() -> None:
    text = rewritten(SHARED, r"  int<.* lag;\n|  lag ~.*\n|  for \(n in 1:N\) \{\n(.*\n)  \}\n")
    y, lag = np.array([4, 7, 2]), np.arange(41)
    posterior = ppl.compile_model(text).condition({"N": 3, "y": y})
    terms = stats.poisson.logpmf(lag, 3) + stats.poisson.logpmf(y[:, None], 2.0 + lag).sum(0)
    assert posterior.log_density(np.log([2.0]), jacobian=False) == pytest.approx(logsumexp(terms))


def test_states_that_depend_on_each_other_are_not_summed_one_by_one() -> None:
    chain = MIXTURE.replace("categorical(theta)", "categorical(theta[z[n - 1]] * theta)")
    assert "hmm_marginal" in advice(chain)


def test_without_bounds_there_is_nothing_to_sum_over() -> None:
    assert "both bounds" in advice(SHARED.replace("<lower=0, upper=40>", "<lower=0>"))
