"""Roots of n equations in n unknowns, and their adjoints by the implicit function theorem."""

from typing import Any

import numpy as np

from ppl.floats import Floats
from ppl.late import optimize
from ppl.stdlib.functions.solves import or_nan
from ppl.stdlib.solvers.field import Field

ROOT_TOLERANCE = 1e-6
"""The largest |f| at what counts as a root, as Stan's default."""


def root(f: Field, guess: Floats) -> Floats:
    """Where f(x) = 0 near `guess` (draws, n), by Powell's method; nan where none was found."""
    roots = np.array([of_draw(f, guess[k], k) for k in range(len(guess))]).reshape(guess.shape)
    return polished(f, roots)


def of_draw(f: Field, guess: Floats, draw: int) -> Floats:
    at, t = np.array([draw]), np.zeros(1)

    def values(x: Floats) -> Floats:
        return np.asarray(f.values(t, x[None], at)[0])

    def jacobian(x: Floats) -> Floats:
        return np.asarray(f.linearised(t, x[None], at).jacobians[0])

    solution = optimize.root(values, guess, jac=jacobian, method="hybr")
    near = np.abs(values(solution.x)).max(initial=0.0) <= ROOT_TOLERANCE
    return np.asarray(solution.x if near else np.full_like(guess, np.nan, dtype=float))


def polished(f: Field, x: Floats) -> Floats:
    """One step of Newton's method, which leaves nothing but rounding of an answer that is near."""
    good = np.flatnonzero(np.isfinite(x).all(axis=1))
    zero = np.zeros(len(good))
    values, near = f.values(zero, x[good], good), f.linearised(zero, x[good], good)
    out = np.array(x)
    out[good] -= solved(near.jacobians, values)
    return out


def adjoints(f: Field, x: Floats, g: Floats) -> list[Any]:
    """Those of f's arguments when `g` (draws, n) is that of the root: -df' (J')^-1 g."""
    near = f.linearised(np.zeros(len(x)), x, np.arange(len(x)))
    return near.pull(-solved(np.swapaxes(near.jacobians, 1, 2), g))


def solved(matrices: Floats, right: Floats) -> Floats:
    """nan where a matrix is singular: the root is not isolated there."""
    return np.asarray(or_nan(np.linalg.solve, matrices, right[..., None])[..., 0])
