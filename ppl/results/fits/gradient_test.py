"""The gradient against finite differences, parameter by parameter: the method `diagnose` of CmdStan."""

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.floats import Floats
from ppl.records import dataclass

DIFFERENCE_STEPS = (1e-2, 1e-3, 1e-4, 1e-5)
"""Relative steps of the differences; the pair of neighbours that agrees best gives the estimate."""


@dataclass(frozen=True)
class Component:
    """One coordinate of the gradient at `value`, by automatic differentiation and by differences.

    `noise` is how far the differences of neighbouring steps are apart: less cannot be told from rounding.
    """

    name: str
    value: float
    gradient: float
    difference: float
    noise: float

    @property
    def error(self) -> float:
        """How far the two are apart, relative to the gradient where that is above 1."""
        return abs(self.gradient - self.difference) / max(1.0, abs(self.difference))

    def within(self, tolerance: float) -> bool:
        """Whether the two agree to `tolerance`, or as well as the differences can tell; nan never does."""
        allowed = tolerance + 10 * self.noise / max(1.0, abs(self.difference))
        return bool(self.error <= allowed)


@dataclass(frozen=True)
class GradientTest:
    """The log density at a point, its gradient's components, and why it is not finite ("" when it is)."""

    log_density: float
    components: tuple[Component, ...]
    explanation: str = ""

    def failures(self, tolerance: float) -> tuple[Component, ...]:
        """Components where gradient and difference disagree."""
        return tuple(c for c in self.components if not c.within(tolerance))


def gradient_test(posterior: LogDensity, u: Floats) -> GradientTest:
    """Compare the gradient of the log density at `u` (dim,) with central differences of fourth order.

    Example:
        >>> gradient_test(posterior, np.zeros(posterior.param_unc_num())).failures(1e-6)
        ()
    """
    value, gradient = posterior.log_density_gradient(u)
    explanation = posterior.explain(u) if not np.isfinite([value, *gradient]).all() else ""
    components = (
        Component(name, float(u[k]), float(gradient[k]), *_difference(posterior, u, k))
        for k, name in enumerate(posterior.param_unc_names())
    )
    return GradientTest(value, tuple(components), explanation)


def _difference(posterior: LogDensity, u: Floats, k: int) -> tuple[float, float]:
    """The derivative along coordinate k from the best pair of steps, and how far that pair is apart."""
    scale = max(1.0, abs(float(u[k])))
    with np.errstate(all="ignore"):
        differences = np.array([_central(posterior, u, k, step * scale) for step in DIFFERENCE_STEPS])
        gaps = np.abs(np.diff(differences))
    if np.isnan(gaps).all():
        return float(differences[-1]), float("nan")
    best = int(np.nanargmin(gaps))
    return float(differences[best + 1]), float(gaps[best])


def _central(posterior: LogDensity, u: Floats, k: int, h: float) -> float:
    """(f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h."""

    def at(steps: int) -> float:
        point = u.copy()
        point[k] += steps * h
        return posterior.log_density(point)

    return (at(-2) - 8 * at(-1) + 8 * at(1) - at(2)) / (12 * h)
