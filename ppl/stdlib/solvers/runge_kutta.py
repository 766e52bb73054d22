"""Runge-Kutta methods: one step for many draws, and the derivative of the step.

Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I; Hairer and Wanner (1996), II.
A step from (t, y) of length h has s stages k_i = f(t + c_i h, Y_i), Y_i = y + h sum_j a_ij k_j, and ends at
y + h sum_i b_i k_i.  Its derivative follows from the Jacobians J_i of f at the stages: with the adjoint g of
the end, those of the stages are x_i = h b_i g + h sum_j a_ji J_j' x_j, and that of y is g + sum_i J_i' x_i.
"""

from collections.abc import Callable
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Legendre

from ppl.floats import Floats
from ppl.late import integrate
from ppl.stdlib.functions.solves import or_nan
from ppl.stdlib.solvers.field import DrawNumbers, Field

STABLE = 6.1
"""Of the explicit method: how large h times an eigenvalue of the Jacobian may be, as in Hairer's own code."""
NEWTON_STEPS = 10
"""Of Newton's method for the stages of a step; then a shorter one is tried."""
NEWTON_SLACK = 1e-3
"""Of the error that is allowed, the part that the stages may be off."""


class Scales(NamedTuple):
    """Tolerances: what an error is measured in is absolute (n,) or () + relative * |y|."""

    relative: Any
    absolute: Any

    def norm(self, xp: Any, error: Any, *ys: Any) -> Any:
        """The root mean square of an error (..., n) over its last axis, 1 being just allowed."""
        size = reduce(xp.maximum, map(xp.abs, ys))
        parts = error / (self.absolute + self.relative * size)
        return xp.sqrt(xp.einsum("...i,...i->...", parts, parts) / parts.shape[-1])


def explicit_error(xp: Any, norm: Callable[[Floats], Any]) -> Any:
    """Of the explicit method, from its formulas of orders 5 and 3 (I, section II.10).

    `norm` gives the sizes of the errors of two formulas with these weights of stages (2, 13).
    """
    fifth, third = norm(np.array([integrate.DOP853.E5, integrate.DOP853.E3]))
    both = xp.hypot(fifth, 0.1 * third)
    return xp.where(both > 0, fifth**2 / xp.where(both > 0, both, 1.0), fifth)


class Begin(NamedTuple):
    """Where m steps begin: t (m,), y (m, n), their lengths h (m,), and the draws that take them (m,)."""

    t: Floats
    y: Floats
    h: Floats
    draws: DrawNumbers


class RungeKuttaStep(NamedTuple):
    """Where m steps end (m, n), their stages Y (m, s, n), and their errors (m,): 1 is just allowed.

    `at_limit` (m,) says which were about as long as the method is stable for, a sign of stiffness.
    """

    end: Floats
    stages: Floats
    error: Floats
    at_limit: Any = False


class DormandPrince:
    """The explicit method of order 8, its coefficients and error those of SciPy (I, section II.10)."""

    order = 8

    @property
    def nodes(self) -> Floats:
        return np.asarray(integrate.DOP853.C)

    def step(self, field: Field, at: Begin, scales: Scales) -> RungeKuttaStep:
        m, n = at.y.shape
        rate, nodes, a = field.of(at.draws), integrate.DOP853.C, integrate.DOP853.A
        s, y, width = len(nodes), at.y.ravel(), np.repeat(at.h, n)
        k, stages = (
            np.empty((s + 1, m * n)),
            np.empty((s, m * n)),
        )  # contiguous: sums are products of matrices
        times = at.t + nodes[:, None] * at.h
        for i in range(s):
            change = a[i, :i] @ k[:i]
            np.add(y, np.multiply(change, width, out=change), out=stages[i])
            k[i] = rate(times[i], stages[i].reshape(m, n)).ravel()
        end = y + width * (integrate.DOP853.B @ k[:s])
        k[s] = rate(at.t + at.h, end.reshape(m, n)).ravel()
        error = explicit_error(np, partial(self._sizes, k, at, end.reshape(m, n), scales))
        change, distance = (
            np.linalg.norm((after - last).reshape(m, n), axis=1)
            for after, last in ((k[s], k[s - 1]), (end, stages[-1]))
        )
        at_limit = at.h * change > STABLE * distance
        return RungeKuttaStep(end.reshape(m, n), np.swapaxes(stages.reshape(s, m, n), 0, 1), error, at_limit)

    def _sizes(self, k: Floats, at: Begin, end: Floats, scales: Scales, weights: Floats) -> Any:
        errors = (weights @ k).reshape(-1, *end.shape) * at.h[:, None]
        return scales.norm(np, errors, at.y, end)

    def adjoints(self, jacobians: Floats, h: Floats) -> Floats:
        m, s, n, _ = jacobians.shape
        width, unit = h[:, None, None], np.eye(n)
        x, pulled = np.empty((m, n, s, n)), np.empty((s, m, n, n))
        flat = pulled.reshape(s, -1)
        for i in reversed(range(s)):
            later = (integrate.DOP853.A[i + 1 :, i] @ flat[i + 1 :]).reshape(m, n, n)
            x[:, :, i] = width * (integrate.DOP853.B[i] * unit + later)
            pulled[i] = x[:, :, i] @ jacobians[:, i]
        return x


class Radau:
    """The implicit method Radau IIA of s stages and order 2s - 1, for stiff equations (II, section IV.8)."""

    s = 5

    @property
    def order(self) -> int:
        """That of the error estimate, which is what steps are chosen by."""
        return self.s + 1

    @cached_property
    def nodes(self) -> Floats:
        roots = (Legendre.basis(self.s) - Legendre.basis(self.s - 1)).roots()
        return np.asarray((np.sort(roots.real) + 1) / 2)

    @cached_property
    def a(self) -> Floats:
        """(s, s): the integrals from 0 to c_i of the polynomials that are 1 at c_j and 0 at the others."""
        powers = np.arange(self.s)
        values = self.nodes[:, None] ** powers
        integrals = values * self.nodes[:, None] / (powers + 1)
        return np.asarray(integrals @ np.linalg.inv(values), dtype=float)

    @cached_property
    def first(self) -> float:
        """The weight of f(t, y) in the embedded formula: the real eigenvalue of A."""
        values = np.linalg.eigvals(self.a)
        return float(values[np.argmin(np.abs(values.imag))].real)

    @cached_property
    def difference(self) -> Floats:
        """(s,): the embedded formula less the method, by stage; it integrates polynomials below degree s."""
        powers = np.arange(self.s)
        moments = 1 / (powers + 1) - self.first * (powers == 0)
        embedded = np.linalg.solve((self.nodes[:, None] ** powers).T, moments)
        return np.asarray(embedded - self.a[-1], dtype=float)

    def step(self, field: Field, at: Begin, scales: Scales) -> RungeKuttaStep:
        y, width, n = at.y, at.h[:, None], at.y.shape[1]
        f = field.values(at.t, y, at.draws)
        jacobians = field.linearised(at.t, y, at.draws).jacobians
        k, converged = self._stages(field, at, scales, f, jacobians)
        end = y + width * (self.a[-1] @ k)
        estimate = width * (self.first * f + self.difference @ k)
        filter_ = np.eye(n) - self.first * width[..., None] * jacobians
        filtered: Floats = or_nan(np.linalg.solve, filter_, estimate[..., None])[..., 0].astype(float)
        error = np.where(converged, scales.norm(np, filtered, y, end), np.inf)
        return RungeKuttaStep(end, y[:, None] + width[..., None] * (self.a @ k), error)

    def _stages(
        self, field: Field, at: Begin, scales: Scales, f: Floats, jacobians: Floats
    ) -> tuple[Floats, Any]:
        """The k (m, s, n) by Newton's method with one Jacobian a step, and where it has converged (m,)."""
        m, n = at.y.shape
        y, width = at.y[:, None], at.h[:, None, None]
        inverse = or_nan(np.linalg.inv, self._system(jacobians[:, None], width[..., None]))
        regular = np.isfinite(inverse).all(axis=(1, 2))
        inverse[~regular] = 0.0  # the function of the program does not see nan
        times = (at.t[:, None] + at.h[:, None] * self.nodes).ravel()
        rate = field.of(np.repeat(at.draws, self.s))
        k, converged = np.repeat(f[:, None], self.s, axis=1), np.zeros(m, dtype=bool)
        for _ in range(NEWTON_STEPS):
            rates = rate(times, (y + width * (self.a @ k)).reshape(-1, n))
            change = inverse @ np.reshape(rates.reshape(k.shape) - k, (m, -1, 1))
            change = np.where(converged[:, None, None], 0.0, np.reshape(change, k.shape))
            k = k + change
            converged |= scales.norm(np, width * change, y).max(axis=1) <= NEWTON_SLACK
            if converged.all():
                break
        return k, converged & regular

    def _system(self, jacobians: Floats, h: Floats) -> Floats:
        """I - h (a_ij J_i), (m, s n, s n), of Jacobians (m, s or 1, n, n) and h (m, 1, 1, 1)."""
        m, n = len(jacobians), jacobians.shape[-1]
        blocks = np.einsum("ij,mixy->mixjy", self.a, h * np.broadcast_to(jacobians, (m, self.s, n, n)))
        return np.asarray(np.eye(self.s * n) - blocks.reshape(m, self.s * n, self.s * n), dtype=float)

    def adjoints(self, jacobians: Floats, h: Floats) -> Floats:
        m, s, n, _ = jacobians.shape
        right = h[:, None, None, None] * np.einsum("i,xy->ixy", self.a[-1], np.eye(n))
        transposed = np.swapaxes(self._system(jacobians, h[:, None, None, None]), 1, 2)
        x = or_nan(np.linalg.solve, transposed, np.broadcast_to(right, (m, s, n, n)).reshape(m, s * n, n))
        return np.moveaxis(x.reshape(m, s, n, n), 3, 1)


Method = DormandPrince | Radau
"""The error of a method shrinks like h ** `order`; its `nodes` are c (s,).

`adjoints` gives the x_i for g = each unit vector: (m, n, s, n) from Jacobians (m, s, n, n) and h (m,).
"""
