"""Iterations of variational inference as one compiled loop: the ELBO of a draw, its gradient, the step.

Parts that are written in plain arithmetic, the rules of averaging and most step rules, run as they are; the
others have a twin here, by their type.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ppl.compiled.equal_parts import largest_part
from ppl.compiled.jit import Effort, compiled
from ppl.compiled.state import State, packed, unpacked
from ppl.inference.averaging import Last, Polynomial
from ppl.inference.families.diagonal import Diagonal
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.low_rank import LowRank
from ppl.inference.families.mean_field import MeanField
from ppl.inference.steps.adam import Adam
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.steps.rmsprop import RmsProp
from ppl.inference.steps.robbins_monro import RobbinsMonro
from ppl.inference.steps.staged import Staged

Traced = Any
LogDensities = Callable[[Traced, Traced], Traced]


# --- Families: the draws, and the entropy but for its constant -------------------------------------


def mean_field(family: MeanField, params: Traced, z: Traced) -> tuple[Traced, Traced]:
    omega = params[family.dim :]
    return params[: family.dim] + jnp.exp(omega) * z, jnp.sum(omega)


def diagonal(family: Diagonal, params: Traced, z: Traced) -> tuple[Traced, Traced]:
    c = params[family.dim :]
    return params[: family.dim] + c * z, jnp.sum(jnp.log(jnp.abs(c)))


def full_rank(family: FullRank, params: Traced, z: Traced) -> tuple[Traced, Traced]:
    dim = family.dim
    factor = jnp.zeros((dim, dim)).at[jnp.tril_indices(dim)].set(params[dim:])
    return params[:dim] + z @ factor.T, jnp.sum(jnp.log(jnp.abs(jnp.diagonal(factor))))


def low_rank(family: LowRank, params: Traced, z: Traced) -> tuple[Traced, Traced]:
    dim = family.dim
    omega, factor = params[dim : 2 * dim], params[2 * dim :].reshape(dim, family.rank)
    correlated = z[:, :dim] + z[:, dim:] @ factor.T
    log_det = jnp.linalg.slogdet(jnp.eye(family.rank) + factor.T @ factor)[1]
    return params[:dim] + jnp.exp(omega) * correlated, jnp.sum(omega) + 0.5 * log_det


FAMILIES: dict[type, Callable[..., tuple[Traced, Traced]]] = {
    MeanField: mean_field,
    Diagonal: diagonal,
    FullRank: full_rank,
    LowRank: low_rank,
}


# --- Steps -----------------------------------------------------------------------------------------


def as_written(rule: Any, state: Traced, params: Traced, gradient: Traced) -> tuple[Traced, Traced]:
    stepped: tuple[Traced, Traced] = rule.step(state, params, gradient)
    return stepped


def staged(rule: Staged, state: Traced, params: Traced, gradient: Traced) -> tuple[Traced, Traced]:
    rho = rule.eta * rule.factor ** (state // rule.every)
    stepped = params + rho * rule.rates * gradient
    least = jnp.full(params.shape, -jnp.inf).at[rule.positive].set(0.5 * params[rule.positive])
    return jnp.maximum(stepped, least), state + 1


STEPS: dict[type, Callable[..., tuple[Traced, Traced]]] = {
    AdviSequence: as_written,
    Adam: as_written,
    RmsProp: as_written,
    RobbinsMonro: as_written,
    Staged: staged,
}
AVERAGING = (Last, Polynomial)


def is_known(algorithm: Any) -> bool:
    """Whether every part of an algorithm can be compiled."""
    known = type(algorithm.family) in FAMILIES and type(algorithm.step_rule) in STEPS
    return known and type(algorithm.averaging) in AVERAGING


# --- The loop --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The parts of an algorithm that are in the compiled code; the step size is an argument.

    `key` tells step rules apart, some of which hold arrays; so many draws are evaluated `together`.
    """

    family: Any
    averaging: Any
    step_rule: Any = field(compare=False)
    key: Any
    together: int

    @classmethod
    def of(cls, algorithm: Any, most: int) -> "Parts":
        """With as many draws together as may be, at most so many, and as often."""
        together = largest_part(algorithm.grad_samples, most)
        rule = algorithm.step_rule
        named = {f.name: np.asarray(getattr(rule, f.name)) for f in fields(rule) if f.name != "eta"}
        key = (type(rule), *((name, a.shape, a.tobytes()) for name, a in named.items()))
        return cls(algorithm.family, algorithm.averaging, rule, key, together)


def climb(
    parts: Parts, densities: LogDensities, arrays: Traced, eta: Traced, noise: Traced, count: Traced
) -> Traced:
    """`count` iterations on the first of the noise (k, n, noise_dim), or those before a number is not finite.

    From and to the arrays of a packed state. `densities(u, k)` takes rows.
    """
    rule = replace(parts.step_rule, eta=eta)
    draws, step = FAMILIES[type(parts.family)], STEPS[type(rule)]
    constant = parts.family.standard.entropy(parts.family.dim)
    zeros = np.zeros(parts.family.size)
    like = State(0, zeros, zeros, zeros, rule.init(zeros), 0.0)

    def elbo(params: Traced, z: Traced, k: Traced) -> tuple[Traced, Traced]:
        u, entropy = draws(parts.family, params, z)
        values = densities(u, k)
        return jnp.mean(values) + entropy + constant, jnp.all(jnp.isfinite(values))

    def slope(params: Traced, k: Traced) -> tuple[Traced, Traced, Traced]:
        """The ELBO at the draws of iteration k, whether all of them are finite, and its gradient."""
        z = noise[k].reshape(-1, parts.together, noise.shape[-1])
        one = partial(jax.value_and_grad(elbo, has_aux=True), params, k=k)
        if len(z) == 1:
            (bound, fine), gradient = one(z[0])
            return bound, fine, gradient
        (bounds, fine), gradients = jax.lax.map(one, z)
        return jnp.mean(bounds), jnp.all(fine), jnp.mean(gradients, axis=0)

    def once(at: tuple[Traced, Traced]) -> tuple[Traced, Traced]:
        k, before = at
        s = unpacked(before, like)
        bound, fine, gradient = slope(s.params, k)
        params, step_state = step(rule, s.step_state, s.params, gradient)
        iteration = s.iteration + 1
        average = parts.averaging.update(s.average, params, iteration)
        after = packed(State(iteration, params, average, gradient, step_state, s.bounds + bound), jnp)
        fine = fine & jnp.all(jnp.isfinite(params))
        # One that fails ends the loop, where it began.
        return jnp.where(fine, k + 1, count), jax.tree_util.tree_map(partial(jnp.where, fine), after, before)

    def going(at: tuple[Traced, Traced]) -> Traced:
        return at[0] < count

    return jax.lax.while_loop(going, once, (jnp.zeros_like(count), arrays))[1]


def jitted(
    log_joint: Callable[..., Traced], at: Callable[[Traced, Traced], Traced], effort: Effort
) -> Callable[..., Traced]:
    """`climb` for a log joint of (shape, jacobian, arguments, u), compiled.

    Iteration k has the arguments at(arguments, k).
    """

    def run(
        parts: Parts,
        shape: Any,
        jacobian: bool,
        arguments: list[Traced],
        place: Traced,
        arrays: Traced,
        eta: Traced,
        noise: Traced,
        count: Traced,
    ) -> Traced:
        def densities(v: Traced, k: Traced) -> Traced:
            one = partial(log_joint, shape, jacobian, at(arguments, k))
            if place is None:
                return jax.vmap(one)(v)
            u = place.centre + (place.factor * v if place.factor.ndim == 1 else v @ place.factor.T)
            return jax.vmap(one)(u) + place.log_jacobian

        return climb(parts, densities, arrays, eta, noise, count)

    return compiled(run, 0, 1, 2, effort=effort)
