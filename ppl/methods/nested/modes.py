"""The modes of latent coordinates at many values of the outer ones, and Laplace's approximation there."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI


class ModeLimits(NamedTuple):
    """How near modes are looked for."""

    near: float = 1e-3
    """A mode is found where the next step is shorter, in sds: differences of the heights there are taken."""

    about: float = 0.7
    """The same where only the place of a mode is wanted."""

    overrated: float = 2.0
    """How many times what a full step seems to gain, twice, may be gained until the mode."""


MODES = ModeLimits()


class Modes(NamedTuple):
    """Of n outer points: the modes of the field (n, k).

    `half_log_dets` (n,) are log determinants of the precisions there, halved, `values` (n,) log densities of
    the whole, -inf at points given up, `found` (n,) which are modes.
    """

    at: Floats
    half_log_dets: Floats
    values: Floats
    found: NDArray[np.bool_]

    @property
    def log_marginals(self) -> Floats:
        """The log density of the outer coordinates, (n,), by Laplace's approximation; -inf without modes."""
        return np.where(self.found, self.about_here, -np.inf)

    @property
    def about_here(self) -> Floats:
        """The same by the curvature where the search for modes ended, (n,)."""
        return np.asarray(self.values - self.half_log_dets + 0.5 * self.at.shape[1] * LOG_2PI)
