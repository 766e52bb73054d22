"""Draws of a field given the outer coordinates."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats


class GivenDraws(NamedTuple):
    """A draw (n, k) at each of n outer points, its log density and the target's (n,), -inf without a draw.

    `about` (n,) is what Laplace's approximation makes of the marginal of the outer points; `unsure` (n,) are
    those where few of several draws have most weight, so that their mean weight says little.
    """

    latent: Floats
    log_q: Floats
    log_p: Floats
    about: Floats
    unsure: NDArray[np.bool_]

    @staticmethod
    def none(at: Floats, about: Floats) -> "GivenDraws":
        """No draw at any of the points; they stay `at` (n, k)."""
        nowhere = np.full(len(at), -np.inf)
        return GivenDraws(at.copy(), nowhere, nowhere.copy(), about, np.zeros(len(at), dtype=bool))

    def put(self, rows: NDArray[np.bool_], some: "GivenDraws") -> None:
        """Draws at the points marked by `rows` (n,), in place."""
        for every, each in zip(self, some, strict=True):
            every[rows] = each


class FieldSampler(Protocol):
    """A way to draw a field at outer points."""

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""

    def gradients(self, n: int) -> float:
        """How many gradients and log densities n draws take, about."""

    def draws(self, outer: Floats, least: Floats, rng: np.random.Generator) -> GivenDraws:
        """A draw at each outer point (n, d); none where the marginal seems to be below `least` (n,)."""
