"""Iterations of variational inference as one compiled loop.

What an iteration does is written once, in ppl.methods: here it is traced with the namespace of JAX.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ppl.arrays import Array
from ppl.jax_backend.jit import CompileProfile, jitted, largest_part
from ppl.jax_backend.namespace import JAX
from ppl.kernel.advi.estimators.reparameterised import elbo_gradient
from ppl.kernel.advi.optimise import IterationState, stepped
from ppl.kernel.advi.triangular import times, transposed_times
from ppl.records import dataclass, field, fields, replace

LogDensities = Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class FusedParts:
    """The parts of an algorithm that are in the compiled code (optimise.Parts); the step size is an argument.

    `key` tells step rules apart, some of which hold arrays; so many draws are evaluated `batch_size`.
    """

    family: Any
    averaging: Any
    step_rule: Any = field(compare=False)
    key: Any
    batch_size: int

    @classmethod
    def of(cls, algorithm: Any, most: int) -> "FusedParts":
        """With as many draws together as may be, at most so many, and as often."""
        batch_size = largest_part(algorithm.grad_samples, most)
        rule = algorithm.step_rule
        named = {f.name: np.asarray(getattr(rule, f.name)) for f in fields(rule) if f.name != "eta"}
        key = (type(rule), *((name, a.shape, a.tobytes()) for name, a in named.items()))
        return cls(algorithm.family, algorithm.averaging, rule, key, batch_size)

    def with_eta(self, eta: Array) -> "FusedParts":
        """At that step size; None for a rule that finds its own."""
        return self if eta is None else replace(self, step_rule=replace(self.step_rule, eta=eta))


class Ahead(NamedTuple):
    """The iterations to take: their step size, the noise (k, n, noise_dim), and how many of the k."""

    eta: Array
    noise: Array
    count: Array


def iterate(
    parts: FusedParts, densities: LogDensities, start: IterationState, ahead: Ahead
) -> IterationState:
    """The state after the iterations ahead, or after those before a number is not finite.

    `densities(u, k)` gives values (n,) and gradients (n, dim) at the rows of u, in iteration k.
    """
    parts, family = parts.with_eta(ahead.eta), parts.family

    def once(at: tuple[Array, IterationState]) -> tuple[Array, IterationState]:
        k, before = at
        params, z = before.params, ahead.noise[k]
        values, gradients = densities(family.transform(params, z, JAX), k)
        gradient = elbo_gradient(family, params, z, gradients, JAX)
        after = stepped(parts, before, gradient, values.mean(), JAX)
        fine = jnp.isfinite(values).all() & jnp.isfinite(gradients).all() & jnp.isfinite(after.params).all()
        # One that fails ends the loop, where it began.
        chosen = jax.tree_util.tree_map(partial(jnp.where, fine), after, before)
        return jnp.where(fine, k + 1, ahead.count), chosen

    return jax.lax.while_loop(lambda at: at[0] < ahead.count, once, (jnp.zeros_like(ahead.count), start))[1]


def jitted_iterations(
    at_a_point: Callable[..., Array], at: Callable[[Array, Array], Array], profile: CompileProfile
) -> Callable[..., Array]:
    """`iterate`, compiled, for a density that gives its value and gradient as one array (1 + dim,).

    It is a function of (shape, jacobian, arguments, u); iteration k has the arguments at(arguments, k).
    """

    def run(
        parts: FusedParts,
        shape: Any,
        jacobian: bool,
        arguments: Any,
        place: Array,
        start: IterationState,
        ahead: Ahead,
    ) -> IterationState:
        def of_batch(u: Array, k: Array) -> Array:
            return jax.vmap(partial(at_a_point, shape, jacobian, at(arguments, k)))(u)

        def densities(v: Array, k: Array) -> tuple[Array, Array]:
            u = v if place is None else place.centre + times(place.factor, v)
            if parts.batch_size < len(u):
                batches = u.reshape(-1, parts.batch_size, u.shape[1])
                of_draws = jax.lax.map(partial(of_batch, k=k), batches).reshape(len(u), -1)
            else:
                of_draws = of_batch(u, k)
            values, gradients = of_draws[:, 0], of_draws[:, 1:]
            if place is None:
                return values, gradients
            return values + place.log_jacobian, transposed_times(place.factor, gradients)

        return iterate(parts, densities, start, ahead)

    return jitted(run, 0, 1, 2, profile=profile)
