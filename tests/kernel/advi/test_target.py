import numpy as np
from toy_targets import HalfSpace, Quartic, correlated

from ppl.kernel.advi.target import blame


class BatchedQuartic(Quartic):
    def log_densities(self, us):
        return (self.slope * us - us**4 / 4).sum(axis=1)

    def log_density_gradients(self, us):
        return self.log_densities(us), self.slope - us**3

    def log_density(self, u):
        raise AssertionError("the batch is there to be used")

    def log_density_gradient(self, u):
        raise AssertionError("the batch is there to be used")


def test_log_densities_loop_or_use_the_batch():
    us = np.random.default_rng(0).normal(size=(4, 3))
    slope = np.array([1.0, 2.0, 3.0])
    plain = Quartic(slope).log_densities(us)
    assert plain.shape == (4,)
    np.testing.assert_allclose(BatchedQuartic(slope).log_densities(us), plain)
    values, gradients = Quartic(slope).log_density_gradients(us)
    np.testing.assert_allclose(values, plain)
    np.testing.assert_allclose(BatchedQuartic(slope).log_density_gradients(us)[1], gradients)


def test_blame_has_words_even_where_the_model_has_none():
    assert blame(correlated(2), np.zeros(2)).startswith("The model does not say which statement is to blame.")
    assert blame(HalfSpace(2, 1.0), np.zeros(2)) == "line 7: sqrt of -1."
