"""One step of a Runge-Kutta method in compiled code, of one draw; see stdlib/solvers/runge_kutta.py."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ppl.jax_backend.namespace import JAX
from ppl.late import integrate
from ppl.stdlib.solvers import runge_kutta
from ppl.stdlib.solvers.runge_kutta import NEWTON_SLACK, NEWTON_STEPS, STABLE, Scales, explicit_error

Traced = Any
RADAU = runge_kutta.Radau()
"""Of which the coefficients are taken."""


class Begin(NamedTuple):
    """Where a step begins, its length, and the equation: `rate(t, y)`."""

    rate: Callable[[Traced, Traced], Traced]
    t: Traced
    y: Traced
    h: Traced

    def slopes(self) -> tuple[Traced, Traced]:
        """The rate (n,) there and its Jacobian (n, n)."""
        return self.rate(self.t, self.y), jax.jacrev(self.rate, argnums=1)(self.t, self.y)


class DormandPrince:
    """The explicit method of order 8."""

    order = 8

    def stages(self, at: Begin, count: int) -> tuple[Traced, Traced]:
        """The points Y and rates k (count, n); the 13th is the end of the step.

        A loop: the code of the equation is compiled once, not once a stage.
        """
        a = np.zeros((count, count))
        a[:12, :12] = integrate.DOP853.A[:count, :count][:12, :12]
        a[12:, :12] = integrate.DOP853.B
        nodes = np.append(integrate.DOP853.C, 1.0)[:count]

        def one(k: Traced, stage: Traced) -> Any:
            i, weights, node = stage
            point = at.y + at.h * (weights @ k)
            return jax.lax.dynamic_update_index_in_dim(k, at.rate(at.t + node * at.h, point), i, 0), point

        no_rates = jnp.zeros((count, *at.y.shape))
        k, points = jax.lax.scan(one, no_rates, (np.arange(count), a, nodes))
        return points, k

    def step(self, at: Begin, scales: Scales) -> tuple[Traced, Traced, Traced]:
        points, k = self.stages(at, 13)
        end = points[12]
        error = explicit_error(jnp, lambda weights: scales.norm(jnp, at.h * (weights @ k), at.y, end))
        change, distance = jnp.sum((k[12] - k[11]) ** 2), jnp.sum((end - points[11]) ** 2)
        return end, error, at.h * at.h * change > STABLE**2 * distance

    def solved(self, at: Begin, scales: Scales) -> Any:
        """Nothing is solved for."""

    def end(self, at: Begin, solved: Any) -> Traced:
        return at.y + at.h * (integrate.DOP853.B @ self.stages(at, 12)[1])


class Radau:
    """The implicit method."""

    order = RADAU.order

    def step(self, at: Begin, scales: Scales) -> tuple[Traced, Traced, Traced]:
        f, jacobian = at.slopes()
        k, converged = self._stages(at, scales, f, jacobian)
        end = at.y + at.h * (RADAU.a[-1] @ k)
        estimate = at.h * (RADAU.first * f + RADAU.difference @ k)
        filtered = JAX.linalg.inv(np.eye(len(at.y)) - RADAU.first * at.h * jacobian) @ estimate
        error = jnp.where(converged, scales.norm(jnp, filtered, at.y, end), jnp.inf)
        return end, error, jnp.zeros((), dtype=bool)

    def _stages(self, at: Begin, scales: Scales, f: Traced, jacobian: Traced) -> tuple[Traced, Traced]:
        """The k (s, n) by Newton's method with one Jacobian, and whether it has converged."""
        inverse = self._inverse(jnp.broadcast_to(jacobian, (RADAU.s, *jacobian.shape)), at.h)

        def once(found: Any) -> Any:
            i, k, _ = found
            change = self._change(at, k, inverse)
            return i + 1, k + change, jnp.max(scales.norm(jnp, at.h * change, at.y))

        def goes_on(found: Any) -> Traced:
            i, _, off = found
            return (i < NEWTON_STEPS) & (off > NEWTON_SLACK) & ((i == 0) | jnp.isfinite(off))

        start = 0, jnp.broadcast_to(f, (RADAU.s, len(at.y))), jnp.asarray(jnp.inf)
        _, k, off = jax.lax.while_loop(goes_on, once, start)
        return k, off <= NEWTON_SLACK

    def _change(self, at: Begin, k: Traced, inverse: Traced) -> Traced:
        """That of k in one of Newton's steps."""
        found = jax.vmap(at.rate)(*stages_of(at, k))
        return (inverse @ jnp.ravel(found - k)).reshape(k.shape)

    def _inverse(self, jacobians: Traced, h: Traced) -> Traced:
        """That of I - h (a_ij J_i), (s n, s n), of Jacobians (s, n, n)."""
        s, n = jacobians.shape[:2]
        blocks = jnp.einsum("ij,ixy->ixjy", RADAU.a, h * jacobians)
        return JAX.linalg.inv(np.eye(s * n) - blocks.reshape(s * n, s * n))

    def solved(self, at: Begin, scales: Scales) -> tuple[Traced, Traced]:
        """The k, and the inverse of Newton's system with the Jacobian of every stage."""
        k, _ = self._stages(at, scales, *at.slopes())
        exact = jax.vmap(jax.jacrev(at.rate, argnums=1))(*stages_of(at, k))
        return k, self._inverse(exact, at.h)

    def end(self, at: Begin, solved: Any) -> Traced:
        """By one more of Newton's steps, whose derivatives are those of the solution."""
        k, inverse = solved
        return at.y + at.h * (RADAU.a[-1] @ (k + self._change(at, k, inverse)))


def stages_of(at: Begin, k: Traced) -> tuple[Traced, Traced]:
    """The times (s,) and the points (s, n) of the stages of k."""
    return at.t + at.h * RADAU.nodes, at.y + at.h * (RADAU.a @ k)


Method = DormandPrince | Radau
"""`step` gives the end (n,) of a step, its error, and whether it was as long as is stable.

`end(at, solved)` is the end alone, to be differentiated in y and in what the rate closes over;
`solved` is what was solved for on the way, to be held fixed.
"""
