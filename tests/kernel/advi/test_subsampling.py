import numpy as np
import pytest
from regressions import LogisticRows
from toy_targets import correlated, numeric_gradient

from ppl.errors import InferenceError
from ppl.kernel.advi import subsampling
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.subsampling import ALL_ROWS, Minibatches, minibatch, permuted, rows_in_order, rows_of

N, DIM = 103, 3


@pytest.fixture
def target():
    rng = np.random.default_rng(0)
    return LogisticRows(rng.normal(size=(N, DIM)), rng.integers(0, 2, size=N).astype(float))


U = np.array([0.3, -1.0, 0.5])


@pytest.mark.parametrize("size", [1, 7, 10, 50, 103, 500])
def test_an_epoch_averages_to_the_full_gradient(target, size):
    batches = Minibatches(size, seed=4)
    epoch = batches.per_epoch(N)
    weights = [len(batches.rows(N, k)) / N for k in range(epoch, 2 * epoch)]
    gradients = [batches.view(target, k).log_density_gradient(U)[1] for k in range(epoch, 2 * epoch)]
    values = [batches.view(target, k).log_density(U) for k in range(epoch, 2 * epoch)]
    assert sum(weights) == pytest.approx(1)
    np.testing.assert_allclose(weights @ np.array(gradients), target.log_density_gradient(U)[1], atol=1e-10)
    assert weights @ np.array(values) == pytest.approx(target.log_density(U), abs=1e-10)


def test_every_row_comes_once_an_epoch_and_the_last_batch_is_what_is_left():
    batches = Minibatches(10, seed=1)
    rows = [batches.rows(N, k) for k in range(batches.per_epoch(N))]
    assert [len(batch) for batch in rows] == [10] * 10 + [3]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(N))


def test_each_epoch_has_its_own_order_and_an_iteration_always_the_same_rows():
    batches = Minibatches(10, seed=1)
    first, second = batches.rows(N, 0), batches.rows(N, batches.per_epoch(N))
    assert set(first) != set(second)
    np.testing.assert_array_equal(first, Minibatches(10, seed=1).rows(N, 0))
    assert set(first) != set(Minibatches(10, seed=2).rows(N, 0))


@pytest.mark.parametrize("n_rows", [1, 2, 3, 64, 1000, 4097])
def test_an_order_by_formula_has_every_row_once(n_rows):
    found = permuted(np.arange(n_rows), n_rows, seed=1, epoch=0)
    np.testing.assert_array_equal(np.sort(found), np.arange(n_rows))


def test_an_order_by_formula_is_as_random_as_a_shuffle(monkeypatch):
    """Counts of 100,000 first rows in 1,000 cells, and the correlation of neighbours, of 10^9 rows."""
    monkeypatch.setattr(subsampling, "MOST_SHUFFLED", 100)
    n_rows, first = 10**9, 100_000
    rows = rows_in_order(n_rows, 3, 0, slice(0, first))
    assert len(np.unique(rows)) == first
    counts = np.histogram(rows, bins=1000, range=(0, n_rows))[0]
    assert 860 < ((counts - 100) ** 2 / 100).sum() < 1140  # chi-square with 999 degrees of freedom, 3 sds
    assert abs(np.corrcoef(rows[1:], rows[:-1])[0, 1]) < 0.01
    other = rows_in_order(n_rows, 3, 1, slice(0, first))
    assert len(np.intersect1d(rows, other)) < 40  # 10 are expected
    np.testing.assert_array_equal(rows_in_order(n_rows, 3, 0, slice(500, 600)), rows[500:600])


def test_the_last_batch_of_an_order_by_formula_is_what_is_left(monkeypatch):
    monkeypatch.setattr(subsampling, "MOST_SHUFFLED", 100)
    batches = Minibatches(10, seed=1)
    rows = [batches.rows(N, k) for k in range(batches.per_epoch(N))]
    assert [len(batch) for batch in rows] == [10] * 10 + [3]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(N))


def test_scaled_coordinates_pass_the_rows_on(target):
    scaled = Scaled(target, np.ones(DIM), np.full(DIM, 0.5))
    rows = np.arange(5)
    assert rows_of(scaled) == N
    view = minibatch(scaled, rows)
    assert view.log_density(U) == pytest.approx(
        target.minibatch(rows).log_density(scaled.to_u(U)) + scaled.log_jacobian
    )
    numeric = numeric_gradient(view.log_density, U)
    np.testing.assert_allclose(view.log_density_gradient(U)[1], numeric, rtol=1e-6, atol=1e-6)


def test_all_rows_is_the_target_itself(target):
    assert ALL_ROWS.view(target, 7) is target


def test_a_target_without_rows_and_an_empty_batch_are_refused():
    with pytest.raises(InferenceError, match="not a sum over rows"):
        Minibatches(10, seed=1).view(correlated(2), 0)
    with pytest.raises(InferenceError, match="at least 1 row"):
        Minibatches(0, seed=1)
