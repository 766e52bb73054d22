"""Factors of banded matrices plus matrices of rank one, by the Sherman-Morrison formula."""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.methods.nested.banded import Factors


class Coupled(NamedTuple):
    """P + w w' (n, k, k), of factors of P, a vector w (k,), P^-1 w (n, k) and 1 + w' P^-1 w (n,)."""

    inner: "Factored"
    w: Floats
    solved: Floats
    ratio: Floats

    @staticmethod
    def of(inner: "Factored", w: Floats) -> "Coupled":
        solved = inner.solve(np.tile(w, (len(inner.as_given), 1)))
        return Coupled(inner, w, solved, 1 + solved @ w)

    @property
    def as_given(self) -> NDArray[np.bool_]:
        """Whether P was positive definite as it was, (n,)."""
        return self.inner.as_given

    @property
    def half_log_dets(self) -> Floats:
        """The log determinants, halved, (n,)."""
        return np.asarray(self.inner.half_log_dets + 0.5 * np.log(self.ratio))

    def solve(self, x: Floats) -> Floats:
        """The inverse times vectors (n, k)."""
        solution = self.inner.solve(x)
        return np.asarray(solution - self.solved * ((solution @ self.w) / self.ratio)[:, None])

    def solve_transposed(self, x: Floats) -> Floats:
        """A square root of the inverse times vectors (n, k): what it makes of standard normals is its own."""
        solution = self.inner.solve_transposed(x)
        share = (solution @ self.w) / (self.ratio + np.sqrt(self.ratio))
        return np.asarray(solution - self.solved * share[:, None])

    @property
    def inverses(self) -> Floats:
        """The inverses within the band (n, b + 1, k)."""
        inner_inverses, scaled = self.inner.inverses, self.solved / self.ratio[:, None]
        size = inner_inverses.shape[2]
        for i in range(inner_inverses.shape[1]):
            inner_inverses[:, i, : size - i] -= self.solved[:, i:] * scaled[:, : size - i]
        return inner_inverses

    def lengths(self, x: Floats) -> Floats:
        """The roots of x' (P + w w') x (n,) of vectors (n, k)."""
        return np.asarray(np.hypot(self.inner.lengths(x), x @ self.w))


Factored = Factors | Coupled


def coupled(factors: Factored, couplings: Iterable[Floats]) -> Factored:
    """Factors of matrices, plus w w' for each of the couplings w (k,)."""
    return reduce(Coupled.of, couplings, factors)
