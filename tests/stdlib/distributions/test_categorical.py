"""Categories of several outcomes and several rows of probabilities at once."""

import numpy as np
import pytest
from autograd import grad
from autograd import numpy as anp

from ppl.arrays import AUTOGRAD
from ppl.stdlib.distributions.categorical import log_density, logit_log_density

RNG = np.random.default_rng(1)
LOGITS = RNG.normal(size=(3, 5))
ROWS = {
    "every outcome with every row": (np.array([1, 5, 2, 2])[:, None], LOGITS),
    "each its own row": (np.array([1, 5, 2]), LOGITS),
    "outcomes of one row": (np.array([4, 4, 1]), LOGITS[0]),
    "one outcome of many rows": (np.array(3), LOGITS),
    "a row that is repeated": (np.array([[1], [2]]), LOGITS[:1]),
}


def plain(y, log_theta):
    """log theta[y] without a word on how, for autograd to differentiate."""
    one_hot = y[..., None] == np.arange(1, log_theta.shape[-1] + 1)
    return anp.sum(one_hot * log_theta, axis=-1)


@pytest.mark.parametrize(("y", "beta"), ROWS.values(), ids=ROWS)
def test_gradients_are_those_of_the_rows_written_out(y, beta):
    shape = np.broadcast_shapes(y.shape, beta.shape[:-1])
    weights = RNG.normal(size=shape)

    def weighed(values):
        return anp.sum(weights * values)

    def normalised(b):
        return b - anp.log(anp.sum(anp.exp(b), axis=-1, keepdims=True))

    theta = np.exp(normalised(beta))
    of_theta = grad(lambda t: weighed(log_density(AUTOGRAD, y, t)))(theta)
    np.testing.assert_allclose(of_theta, grad(lambda t: weighed(plain(y, anp.log(t))))(theta), rtol=1e-12)
    of_beta = grad(lambda b: weighed(logit_log_density(AUTOGRAD, y, b)))(beta)
    np.testing.assert_allclose(of_beta, grad(lambda b: weighed(plain(y, normalised(b))))(beta), atol=1e-12)
