"""Where there are too many dimensions for a Hessian, a start is made of L-BFGS's factors."""

import numpy as np
import pytest
from toy_targets import Gaussian, path_of

from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.families import family_of
from ppl.kernel.advi.outcome import silent
from ppl.methods.initialise import starting

DIM = 30
WIDE = np.random.default_rng(0).normal(size=(DIM, 3)) * [3.0, 2.0, 1.5]
TARGET = Gaussian(np.arange(DIM) / 10.0, np.eye(DIM) + WIDE @ WIDE.T)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(starting, "MOST_DENSE", 10)


def start(name):
    rng = np.random.default_rng(1)
    return starting.from_paths(TARGET, family_of(name, DIM, 6), [np.zeros(DIM)], rng, silent)


def test_the_wider_directions_are_those_of_the_dense_matrix():
    curvature = path_of(TARGET, np.zeros(DIM))[-1].curvature
    root = np.sqrt(curvature.alpha)
    values, vectors = np.linalg.eigh(curvature.dense() / np.outer(root, root) - np.eye(DIM))
    expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
    factor = curvature.widening()
    np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-8 * values.max())
    sizes = np.linalg.norm(factor, axis=0)
    assert (np.diff(sizes) <= 0).all()


def test_every_family_begins_near_the_gaussian_of_the_path(few):
    elbos = {}
    for name in ("meanfield", "lowrank", "fullrank"):
        begun = start(name)
        elbo = estimate_elbo(begun.target, begun.family, begun.params, 400, np.random.default_rng(2))
        elbos[name] = elbo.value
        assert begun.metric is None and begun.scaled
    assert elbos["meanfield"] < elbos["lowrank"] <= elbos["fullrank"] + 0.5
    assert elbos["fullrank"] > -5


def test_full_rank_begins_with_the_covariance_of_the_path(few):
    begun = start("fullrank")
    found = begun.family.covariance(begun.back(begun.params))
    widest = np.linalg.eigvalsh(TARGET.covariance)[-1]
    assert np.linalg.eigvalsh(found)[-1] == pytest.approx(widest, rel=0.2)


def test_the_best_so_far_is_told_after_each_path():
    reports = []
    points = [np.zeros(DIM), np.ones(DIM)]
    starting.from_paths(
        TARGET, family_of("meanfield", DIM, 6), points, np.random.default_rng(3), reports.append
    )
    assert [(p.phase, p.iteration, p.total) for p in reports] == [("Pathfinder", k, 2) for k in (0, 1, 2, 2)]
    assert reports[1].elbo <= reports[2].elbo == reports[-1].elbo


def test_a_density_that_is_flat_to_rounding_has_no_gaussian_of_its_hessian(monkeypatch):
    def refused(*_):
        raise np.linalg.LinAlgError("not positive definite")

    given = Gaussian(np.ones(2), np.eye(2)), np.zeros(2), np.ones(2)
    local, moved = starting._by_hessian(*given)
    np.testing.assert_allclose((local.mean, moved.mean), ([0, 0], [1, 1]), atol=1e-9)
    monkeypatch.setattr(starting.Gaussian, "with_precision", refused)
    assert starting._by_hessian(*given) == []
