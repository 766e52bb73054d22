"""What is drawn of blocks or a field given the outer coordinates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.inference.objective.target import Array


class GivenDraws(NamedTuple):
    """A draw (n, ...) at each of n outer points, its log density (n,), and which rows are complete.

    `about` (n,) is what Laplace's approximation makes of the marginal of the outer points; `unsure` (n,) are
    those where few of several draws have most weight, so that their mean weight says little.
    """

    latent: Array
    log_q: Array
    complete: NDArray[np.bool_]
    about: Array
    unsure: NDArray[np.bool_]

    @staticmethod
    def none(at: Array, about: Array) -> "GivenDraws":
        """No draw at any of the points; they stay `at` (n, ...)."""
        no = np.zeros(len(at), dtype=bool)
        return GivenDraws(at.copy(), np.full(len(at), -np.inf), no, about, no.copy())

    def among(self, rows: NDArray[np.bool_], at: Array, about: Array) -> "GivenDraws":
        """These as draws at some of n points, marked by `rows` (n,); the others have none, and stay `at`."""
        found = GivenDraws.none(at, about)
        for every, some in zip(found, self._replace(about=about[rows]), strict=True):
            every[rows] = some
        return found
