"""Fields of which all coordinates meet elsewhere, and outer coordinates of which two modes are one region."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppl.kernel.advi.target import Target
from ppl.methods.nested import modes_beside
from ppl.methods.nested.modes_beside import are_one, highest
from ppl.methods.nested.structure import structure_of
from ppl.records import dataclass

WEIGHTS = 12
DESIGN = np.cos(np.outer(np.linspace(0, 3, 15), np.arange(WEIGHTS)))


@dataclass(frozen=True)
class Spectrum(Target):
    """A Gaussian process by weights of cosines, of which few count at a long length scale exp(t)."""

    y: np.ndarray

    @property
    def dim(self):
        return 1 + WEIGHTS

    @property
    def kinds(self):
        first = np.arange(self.dim) == 0
        return first, ~first, first

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        t, z = us[:, :1], us[:, 1:]
        falls = -0.25 * np.exp(2 * t) * np.arange(WEIGHTS) ** 2
        scale = np.exp(falls)
        off = self.y - (scale * z) @ DESIGN.T
        back = scale * (off @ DESIGN)
        value = -0.5 * ((off**2).sum(axis=1) + (z**2).sum(axis=1) + t[:, 0] ** 2)
        by_t = (back * z * 2 * falls).sum(axis=1, keepdims=True) - t
        return value, np.hstack([by_t, back - z])

    def explain(self, u):
        return ""


def test_its_slopes_are_differences():
    target, u = Spectrum(np.linspace(-1, 1, 15)), np.random.default_rng(1).normal(size=1 + WEIGHTS)
    steps = 1e-6 * np.eye(len(u))
    differences = (target.log_densities(u + steps) - target.log_densities(u - steps)) / 2e-6
    np.testing.assert_allclose(target.log_density_gradients(u[None])[1][0], differences, atol=1e-6)


@pytest.mark.parametrize("t", [0.5, 1.0, 1.5])
def test_weights_that_meet_at_short_length_scales_alone_are_one_field(t):
    rng = np.random.default_rng(2)
    u = np.concatenate([[t], rng.normal(size=WEIGHTS)])
    field = structure_of(Spectrum(np.linspace(-1, 1, 15)), u, rng)
    assert field is not None and field.is_complete
    assert len(field.latent) == WEIGHTS


@pytest.mark.parametrize(("apart", "one"), [(0.85, True), (2.0, False)])
def test_two_modes_are_one_region_where_the_valley_is_shallow(apart, one):
    def log_densities(outer):
        return np.logaddexp(*(-2 * (outer[:, 0] + side * apart) ** 2 for side in (-1, 1)))

    def peak(centre):
        marginal = SimpleNamespace(centre=np.array([centre]), log_densities=log_densities)
        return SimpleNamespace(marginal=marginal)

    assert are_one(peak(-apart), peak(apart), lower=0.0) == one


@pytest.mark.parametrize(("heights", "alone"), [((0.0, 1.0, 30.0), True), ((0.0, 29.0, 30.0), False)])
def test_low_modes_do_not_count_however_alike_they_are(heights, alone, monkeypatch):
    centres = (-5.0, 0.0, 5.0)

    def log_densities(outer):
        return np.logaddexp.reduce(
            [h - 2 * (outer[:, 0] - c) ** 2 for h, c in zip(heights, centres, strict=True)]
        )

    def marginal(centre):
        return SimpleNamespace(
            centre=np.array([centre]),
            inner=SimpleNamespace(is_costly=False),
            log_densities=log_densities,
            log_density=lambda u: log_densities(u[None])[0],
        )

    def peak(centre):
        return SimpleNamespace(marginal=marginal(centre), is_near=lambda u: abs(u[0] - centre) < 0.5)

    monkeypatch.setattr(modes_beside, "newton", lambda near, peak_: peak(round(near.centre[0])))
    found = highest(peak(-5.0), [marginal(0.1), None, marginal(4.9), marginal(-5.1)])
    assert (found.marginal.centre[0] if found else None) == (5.0 if alone else None)
