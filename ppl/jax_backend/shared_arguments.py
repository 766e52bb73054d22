"""What a function of the program gets from its solver beside its point, of which some are differentiated."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

Traced = Any


def continuous(shared: Sequence[Traced]) -> list[int]:
    """Which of them can have adjoints."""
    return [i for i, x in enumerate(shared) if jnp.issubdtype(x.dtype, jnp.inexact)]


def adjoints(f: Callable[..., Traced], shared: Sequence[Traced], g: Traced) -> list[Traced]:
    """Those of the continuous ones, when `g` is that of f(*shared)."""
    at = continuous(shared)

    def of(*parts: Traced) -> Traced:
        filled = list(shared)
        for i, x in zip(at, parts, strict=True):
            filled[i] = x
        return f(*filled)

    return list(jax.vjp(of, *(shared[i] for i in at))[1](g))


def in_place(shared: Sequence[Traced], found: Sequence[Traced]) -> list[Traced | None]:
    """The adjoint of each, None where it can have none."""
    by_place = dict(zip(continuous(shared), found, strict=True))
    return [by_place.get(i) for i in range(len(shared))]
