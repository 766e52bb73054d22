"""Draws of a field given the outer coordinates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats


class GivenDraws(NamedTuple):
    """A draw (n, k) at each of n outer points, its log density (n,), and which rows are complete.

    `about` (n,) is what Laplace's approximation makes of the marginal of the outer points; `unsure` (n,) are
    those where few of several draws have most weight, so that their mean weight says little.
    """

    latent: Floats
    log_q: Floats
    complete: NDArray[np.bool_]
    about: Floats
    unsure: NDArray[np.bool_]

    @staticmethod
    def none(at: Floats, about: Floats) -> "GivenDraws":
        """No draw at any of the points; they stay `at` (n, k)."""
        no = np.zeros(len(at), dtype=bool)
        return GivenDraws(at.copy(), np.full(len(at), -np.inf), no, about, no.copy())

    def put(self, rows: NDArray[np.bool_], some: "GivenDraws") -> None:
        """Draws at the points marked by `rows` (n,), in place."""
        for every, each in zip(self, some, strict=True):
            every[rows] = each
