"""One step of a Runge-Kutta method in compiled code, of one draw; see stdlib/solvers/runge_kutta.py."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ppl.jax_backend.namespace import JAX
from ppl.late import integrate
from ppl.stdlib.solvers import runge_kutta
from ppl.stdlib.solvers.runge_kutta import NEWTON_SLACK, NEWTON_STEPS, STABLE

Traced = Any
Rate = Callable[[Traced, Traced], Traced]


class Tolerance(NamedTuple):
    """As stdlib.solvers.runge_kutta.Scales, of one draw."""

    relative: Traced
    absolute: Traced

    def norm(self, error: Traced, *ys: Traced) -> Traced:
        return runge_kutta.norm(jnp, self.relative, self.absolute, error, *ys)


@dataclass(frozen=True)
class DormandPrince:
    """The explicit method of order 8."""

    order: int = 8

    def stages(self, rate: Rate, t: Traced, y: Traced, h: Traced, count: int) -> tuple[Traced, Traced]:
        """The points Y and rates k (count, n); the 13th is the end of the step.

        A loop: the code of the equation is compiled once, not once a stage.
        """
        a = np.zeros((count, count))
        a[:12, :12] = integrate.DOP853.A[:count, :count][:12, :12]
        a[12:, :12] = integrate.DOP853.B
        nodes = np.append(integrate.DOP853.C, 1.0)[:count]

        def one(k: Traced, at: Traced) -> Any:
            i, weights, node = at
            point = y + h * (weights @ k)
            return jax.lax.dynamic_update_index_in_dim(k, rate(t + node * h, point), i, 0), point

        begin = jnp.zeros((count, *y.shape))
        k, points = jax.lax.scan(one, begin, (np.arange(count), a, nodes))
        return points, k

    def step(
        self, rate: Rate, t: Traced, y: Traced, h: Traced, tolerance: Tolerance
    ) -> tuple[Traced, Traced, Traced]:
        points, k = self.stages(rate, t, y, h, 13)
        end = points[12]
        fifth, third = (
            tolerance.norm(h * (weights @ k), y, end)
            for weights in (integrate.DOP853.E5, integrate.DOP853.E3)
        )
        both = jnp.hypot(fifth, 0.1 * third)
        error = jnp.where(both > 0, fifth**2 / jnp.where(both > 0, both, 1.0), fifth)
        change, distance = jnp.sum((k[12] - k[11]) ** 2), jnp.sum((end - points[11]) ** 2)
        return end, error, h * h * change > STABLE**2 * distance

    def solved(self, rate: Rate, t: Traced, y: Traced, h: Traced, tolerance: Tolerance) -> Any:
        """Nothing is solved for."""

    def end(self, rate: Rate, t: Traced, y: Traced, h: Traced, solved: Any) -> Traced:
        return y + h * (integrate.DOP853.B @ self.stages(rate, t, y, h, 12)[1])


@dataclass(frozen=True)
class Radau:
    """The implicit method; its coefficients are those of the other."""

    method: runge_kutta.Radau = field(default_factory=runge_kutta.Radau)

    @property
    def order(self) -> int:
        return self.method.order

    def step(
        self, rate: Rate, t: Traced, y: Traced, h: Traced, tolerance: Tolerance
    ) -> tuple[Traced, Traced, Traced]:
        m = self.method
        f, jacobian = rate(t, y), jax.jacrev(rate, argnums=1)(t, y)
        k, converged = self._stages(rate, t, y, h, tolerance, f, jacobian)
        end = y + h * (m.a[-1] @ k)
        estimate = h * (m.first * f + m.difference @ k)
        filtered = JAX.linalg.inv(np.eye(len(y)) - m.first * h * jacobian) @ estimate
        return end, jnp.where(converged, tolerance.norm(filtered, y, end), jnp.inf), jnp.zeros((), dtype=bool)

    def _stages(
        self,
        rate: Rate,
        t: Traced,
        y: Traced,
        h: Traced,
        tolerance: Tolerance,
        f: Traced,
        jacobian: Traced,
    ) -> tuple[Traced, Traced]:
        """The k (s, n) by Newton's method with one Jacobian, and whether it has converged."""
        inverse = JAX.linalg.inv(
            self._system(jnp.broadcast_to(jacobian, (self.method.s, *jacobian.shape)), h)
        )

        def once(at: Any) -> Any:
            i, k, _ = at
            change = (inverse @ jnp.ravel(self._found(rate, t, y, h, k) - k)).reshape(k.shape)
            return i + 1, k + change, jnp.max(tolerance.norm(h * change, y))

        def goes_on(at: Any) -> Traced:
            i, _, off = at
            return (i < NEWTON_STEPS) & (off > NEWTON_SLACK) & ((i == 0) | jnp.isfinite(off))

        start = 0, jnp.broadcast_to(f, (self.method.s, len(y))), jnp.asarray(jnp.inf)
        _, k, off = jax.lax.while_loop(goes_on, once, start)
        return k, off <= NEWTON_SLACK

    def _found(self, rate: Rate, t: Traced, y: Traced, h: Traced, k: Traced) -> Traced:
        """The rates at the stages of k."""
        return jax.vmap(rate)(t + h * self.method.nodes, y + h * (self.method.a @ k))

    def _system(self, jacobians: Traced, h: Traced) -> Traced:
        """I - h (a_ij J_i), (s n, s n), of Jacobians (s, n, n)."""
        s, n = jacobians.shape[:2]
        blocks = jnp.einsum("ij,ixy->ixjy", self.method.a, h * jacobians)
        return np.eye(s * n) - blocks.reshape(s * n, s * n)

    def solved(
        self, rate: Rate, t: Traced, y: Traced, h: Traced, tolerance: Tolerance
    ) -> tuple[Traced, Traced]:
        """The k, and the inverse of Newton's system with the Jacobian of every stage."""
        m, jacobian = self.method, jax.jacrev(rate, argnums=1)
        k, _ = self._stages(rate, t, y, h, tolerance, rate(t, y), jacobian(t, y))
        exact = jax.vmap(jacobian)(t + h * m.nodes, y + h * (m.a @ k))
        return k, JAX.linalg.inv(self._system(exact, h))

    def end(self, rate: Rate, t: Traced, y: Traced, h: Traced, solved: Any) -> Traced:
        """By one more of Newton's steps, whose derivatives are those of the solution."""
        k, inverse = solved
        k = k + (inverse @ jnp.ravel(self._found(rate, t, y, h, k) - k)).reshape(k.shape)
        return y + h * (self.method.a[-1] @ k)


Method = DormandPrince | Radau
"""`step` gives the end (n,) of a step, its error, and whether it was as long as is stable.

`end(rate, t, y, h, solved)` is the end alone, to be differentiated in y and in what the rate closes over;
`solved` is what was solved for on the way, to be held fixed.
"""
