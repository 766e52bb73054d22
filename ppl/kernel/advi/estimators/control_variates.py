"""Quadratic functions that stay close to a log density and whose expectation under q is in closed form.

Paisley, Blei and Jordan (2012), sections 4.1 and 5.1.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from ppl.errors import InferenceError
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.numerics.hessian import hessian
from ppl.kernel.advi.target import Array, Target, blame
from ppl.records import dataclass


@dataclass(frozen=True)
class Quadratic:
    """value + gradient'(u - centre) + (u - centre)' hessian (u - centre) / 2."""

    centre: Array
    value: float
    gradient: Array
    hessian: Array

    def values(self, u: Array) -> Array:
        """At each row of u (n, dim), (n,)."""
        off = u - self.centre
        return np.asarray(self.value + off @ self.gradient + 0.5 * ((off @ self.hessian) * off).sum(axis=1))

    def gradients(self, u: Array) -> Array:
        """In u, at each row of u (n, dim)."""
        return self.gradient + (u - self.centre) @ self.hessian

    def expected_gradient(self, family: Family, params: Array) -> Array:
        """Gradient in params (size,) of the expectation under q, exact for every family.

        What is averaged is quadratic in the noise, so points that share its mean and covariance will do: two
        on each axis (the spherical rule of degree 3; Stroud 1971).
        """
        n = family.noise_dim
        axes = sqrt(n * family.standard.variance) * np.eye(n)
        z = np.concatenate([axes, -axes])
        gradient: Array = family.pull_back(params, z, self.gradients(family.transform(params, z)))
        return gradient


# A control variate for a target near the q with these params.
ControlVariate = Callable[[Target, Family, Array], Quadratic]


def taylor(target: Target, family: Family, params: Array) -> Quadratic:
    """The delta method: the target's second-order Taylor expansion about the mean of q (Paisley section 5.1).

    Raises InferenceError, naming the statement to blame, where the target has no expansion there.
    """
    centre = family.mean(params)
    value, gradient = target.log_density_gradient(centre)
    matrix = hessian(target, centre, family.scales(params))
    if not (np.isfinite(value) and np.isfinite(gradient).all() and np.isfinite(matrix).all()):
        why = blame(target, centre)
        raise InferenceError(f"The log density has no Taylor expansion at the mean of q. {why}")
    return Quadratic(centre, value, gradient, matrix)
