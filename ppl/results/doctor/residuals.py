"""Residuals, and statistics of what is left in them.

Each statistic of the residuals is compared with that of replicated data (Gelman et al. 2013, Bayesian Data
Analysis, section 6.3). What the model's own predictors and its fitted values explain linearly is projected
out of both.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats

Candidate = tuple[str, Callable[[Floats], Floats]]
"""A name, and a statistic (n,) of residuals (n, rows)."""

FITTED = "the fitted values"
COLLINEAR = 1e-3
"""The share of a column's variance below which what is left of it tells nothing."""


def basis(columns: Sequence[Floats]) -> Floats:
    """Orthonormal columns (n, k) that span these (n,), standardised."""
    left, sizes, _ = np.linalg.svd(np.stack([standardised(x) for x in columns], axis=1), full_matrices=False)
    return np.asarray(left[:, sizes > COLLINEAR * sizes[0]])


def standardised(x: Floats) -> Floats:
    """With mean 0 and sd 1; a constant is 1."""
    sd = float(x.std())
    return (x - x.mean()) / sd if sd > np.finfo(float).eps * np.abs(x).max() else np.ones_like(x)


def direction(x: Floats, q: Floats) -> Floats | None:
    """The residual of x (n,) given `q`, of length 1; None if `q` explains all."""
    x = standardised(x)
    left = x - q @ (q.T @ x)
    length = float(np.linalg.norm(left))
    return left / length if length**2 > COLLINEAR * len(x) else None


def unexplained(scores: Floats, q: Floats) -> Floats:
    """The residuals of scores (draws, n) given a basis q (n, k), scaled."""
    return scaled(scores - (scores @ q) @ q.T)


def scaled(scores: Floats) -> Floats:
    """Scores (n, rows) with root mean square 1: more dispersion than the model has is no structure."""
    size = np.sqrt((scores**2).mean(axis=1, keepdims=True))
    return np.asarray(scores / np.maximum(size, np.finfo(float).tiny))


def along(columns: Mapping[str, Floats], q: Floats) -> list[Candidate]:
    """The squared score along what `q` does not explain of each column (n,): its tail is exponential."""
    directions = {name: direction(x, q) for name, x in columns.items()}
    return [(name, partial(squared_score, x)) for name, x in directions.items() if x is not None]


def squared_score(x: Floats, scores: Floats) -> Floats:
    return np.asarray((scores @ x) ** 2)


def between(name: str, groups: NDArray[np.intp]) -> Candidate:
    """The sum of squares between groups."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    counts = np.diff(starts, append=len(groups))
    return name, lambda scores: (np.add.reduceat(scores[:, order], starts, axis=1) ** 2 / counts).sum(axis=1)


def quoted(name: str) -> str:
    """The name of a column as code; what is none, as the fitted values, as it is."""
    return name if name.startswith("the ") else f"`{name}`"
