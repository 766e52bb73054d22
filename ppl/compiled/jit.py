"""How functions are compiled: `jax.jit`, with what is asked of XLA."""

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

import jax

NOTHING: dict[str, Any] = {}
IN_ORDER = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
"""An order of steps that leaves few to run beside each other: of a small program, to hand them to other
threads would take longer than they do."""
QUICKLY = {**IN_ORDER, "xla_cpu_use_fusion_emitters": False}
"""Compiled in two thirds of the time, to run up to a sixth slower."""
ROUGHLY = {**QUICKLY, "xla_backend_optimization_level": 0}
"""Compiled in a third of the time, to run a fifth slower, or three times so where there are many rows."""


class Effort(Enum):
    """What compiled code is for; the values are what is asked of XLA."""

    WIDE = NOTHING
    PLAIN = IN_ORDER
    QUICK = QUICKLY
    ROUGH = ROUGHLY


def compiled(f: Callable[..., Any], *static: int, effort: Effort = Effort.PLAIN) -> Callable[..., Any]:
    """f compiled when it is first called; the arguments at the places `static` are part of the code."""
    found: Callable[..., Any] = jax.jit(f, static_argnums=static, compiler_options=understood(effort))
    return found


@cache
def understood(effort: Effort) -> dict[str, Any]:
    """What is asked of XLA, where this version knows all of it: it refuses words that it does not know."""
    try:
        jax.jit(lambda: 0, compiler_options=effort.value)()
    except jax.errors.JaxRuntimeError:
        return {} if effort in (Effort.WIDE, Effort.PLAIN) else understood(Effort.PLAIN)
    return dict(effort.value)
