"""What is computed a part at a time is what it is all at once."""

import numpy as np
import pytest

from ppl.kernel.advi import parts
from ppl.kernel.advi.elbo import draws_with_density, points_with_density
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.parts import by_columns, by_rows, draws_within, row_parts
from ppl.kernel.advi.target import Target
from ppl.methods.diagnose.diagnostics import khat_of_means

rng = np.random.default_rng(1)
U = rng.standard_normal((60, 7))


@pytest.fixture(params=[1, 10, 100, 10**6], ids=lambda n: f"{n} numbers a part")
def part(request, monkeypatch):
    monkeypatch.setattr(parts, "NUMBERS_A_PART", request.param)


class Normal(Target):
    """A standard normal that has no density above 2."""

    dim = 7

    def log_density(self, u):
        return -0.5 * float(u @ u) if u.max() < 2 else -np.inf

    def log_density_gradient(self, u):
        return self.log_density(u), -u

    def explain(self, u):
        return ""


def test_rows_and_columns(part):
    np.testing.assert_array_equal(by_rows(lambda u: (u**2).sum(axis=1), U), (U**2).sum(axis=1))
    np.testing.assert_allclose(by_columns(lambda u: u.std(axis=0), U), U.std(axis=0), rtol=1e-13)
    ratios = U[:, 0].copy()
    whole = khat_of_means(ratios, U)
    assert whole.shape == (7,) and np.isfinite(whole).all()


def test_nothing_is_nothing(part):
    assert by_rows(lambda u: u.sum(axis=1), U[:0]).shape == (0,)
    assert by_columns(lambda u: u.sum(axis=0), U[:, :0]).shape == (0,)
    assert list(row_parts(0, 7)) == []


def test_points_are_finite_and_all_there(part):
    family = MeanField(7)
    params = family.start(np.zeros(7))
    u, log_p, dropped = points_with_density(Normal(), family, params, 200, np.random.default_rng(2), 100)
    assert u.shape == (200, 7) and dropped > 0
    np.testing.assert_allclose(log_p, -0.5 * (u**2).sum(axis=1))
    assert len(np.unique(u[:, 0])) == 200


def test_points_in_one_part_are_the_draws_as_ever():
    family = MeanField(7)
    params = family.start(np.zeros(7))
    u, *_ = points_with_density(Normal(), family, params, 50, np.random.default_rng(2), 100)
    same = draws_with_density(Normal(), family, params, 50, np.random.default_rng(2), 100)
    np.testing.assert_array_equal(u, same.u)


def test_draws_that_weigh_q_are_fewer_in_many_dimensions():
    assert draws_within(8192, 2048, 100) == 8192
    assert draws_within(8192, 20_000, 100) == 838
    assert draws_within(8192, 10**6, 100) == 100
    assert draws_within(50, 10**6, 100) == 50
    assert draws_within(8192, 0, 100) == 8192
