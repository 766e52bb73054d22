"""Labels in another order: many of them, some that overlap, with signs of their own or in common."""

from itertools import permutations

import numpy as np
import pytest

from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Axis, Target
from ppl.methods.moves.images import images_of
from ppl.methods.moves.labels import Labels
from ppl.records import dataclass


def labels(size):
    return Labels((Axis(np.arange(size)[:, None], np.eye(size)),), np.arange(size), np.arange(size))


def test_the_nearest_order_is_the_best_of_all():
    products = np.random.default_rng(1).normal(size=(30, 5, 5))
    orders = np.array([*permutations(range(5))])
    each = products[:, np.arange(5), orders].sum(axis=2)
    np.testing.assert_array_equal(labels(5).nearest(products), orders[each.argmax(axis=1)])


def test_random_orders_have_each_label_equally_often_at_each_place():
    orders = labels(7).at_random(700, np.random.default_rng(1))
    assert (np.sort(orders, axis=1) == np.arange(7)).all()
    assert all((np.bincount(place) == 100).all() for place in orders.T)
    assert len(np.unique(orders, axis=0)) > 400


@dataclass(frozen=True)
class Powers(Target):
    """Sums of powers of `count` products a[k] * b, near those of 1, 2, ...; a and b have either sign."""

    count: int

    @property
    def dim(self):
        return self.count + 1

    def axes(self, most):
        return (Axis(np.arange(self.count)[:, None], np.eye(self.count)),) if self.count <= most else ()

    def log_density_gradients(self, us):
        a, b = us[:, :-1], us[:, -1:]
        slopes, log_p = -us.copy(), -0.5 * (us**2).sum(axis=1)
        for power in range(1, self.count + 1):
            off = ((a * b) ** power).sum(axis=1, keepdims=True) - (
                np.arange(1.0, self.count + 1) ** power
            ).sum()
            log_p = log_p - 0.5 * off[:, 0] ** 2
            step = off * power * (a * b) ** (power - 1)
            slopes -= np.concatenate([step * b, (step * a).sum(axis=1, keepdims=True)], axis=1)
        return log_p, slopes

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


def images(at, sd=0.1):
    """For a q about a = at, b = 1."""
    mean = np.array([*at, 1.0])
    return images_of(Powers(len(at)), Gaussian(mean, np.full(len(mean), sd)), np.random.default_rng(1))


def test_signs_that_labels_have_in_common_and_their_orders_are_found_together():
    found, rng = images([-3.0, 1.0, 2.0]), np.random.default_rng(2)
    assert [part.tolist() for part in found.components] == [[0, 1, 2, 3]]
    assert found.log_count == pytest.approx(np.log(12)) and found.labellings == 6
    u = rng.normal(size=(200, 4))
    np.testing.assert_allclose(found.put_back(found.at_random(u, rng)), found.put_back(u))
    assert found.are_own(u).mean() == pytest.approx(1 / 12, abs=0.06)


def test_of_labels_that_overlap_q_has_all_orders():
    found = images([1.0, 1.05, 3.0, 5.0])
    assert found.labels[0].groups.tolist() == [0, 0, 1, 2] and found.labellings == 24
    assert found.log_count == pytest.approx(np.log(12 * 2))  # and the sign
    q = np.array([1.0, 1.05, 3.0, 5.0, 1.0]) + 0.1 * np.random.default_rng(3).normal(size=(100, 5))
    np.testing.assert_array_equal(found.put_back(q), q)
    np.testing.assert_array_equal(found.put_back(q[:, [0, 2, 3, 1, 4]]), q)


def test_orders_of_sixty_labels_are_not_listed():
    found, u = images(2.0 * np.arange(60)), np.random.default_rng(4).normal(size=(5, 61))
    assert found.log_count == pytest.approx(np.log(2) + np.log(np.arange(1.0, 61)).sum())
    np.testing.assert_allclose(found.put_back(u[:, [*range(59, -1, -1), 60]]), found.put_back(u))
