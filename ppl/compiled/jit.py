"""How functions are compiled: `jax.jit`, with what is asked of XLA."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax

WISHES = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
"""An order of steps that leaves few to run beside each other: of a small program, to hand them to other
threads would take longer than they do."""


def compiled(f: Callable[..., Any], *static: int, wide: bool = False) -> Callable[..., Any]:
    """f compiled when it is first called; the arguments at the places `static` are part of the code.

    Of a `wide` program the steps are long enough to be run beside each other.
    """
    options = {} if wide else understood()
    found: Callable[..., Any] = jax.jit(f, static_argnums=static, compiler_options=options)
    return found


@cache
def understood() -> dict[str, str]:
    """The wishes, where this version of XLA knows of them: it refuses words that it does not know."""
    try:
        jax.jit(lambda: 0, compiler_options=WISHES)()
    except jax.errors.JaxRuntimeError:
        return {}
    return WISHES
