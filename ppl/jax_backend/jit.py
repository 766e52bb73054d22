"""How functions are compiled: `jax.jit`, with what is asked of XLA."""

import os
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

import jax

from ppl.errors import InferenceError
from ppl.files import own_cache, writable

THREADS = "PJRT_NPROC"
"""The environment variable of jaxlib with how many threads share the work on one array."""
MIN_COMPILE_TIME = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
LEAST_COMPILE_SECONDS = 0.05
"""Seconds that code must have taken to compile to be kept. JAX's own is 1, which no small program takes."""


def device_of(platform: str) -> Any:
    """The first device of a platform, "cpu" or "gpu".

    Raises:
        InferenceError: JAX finds none.
    """
    try:
        return jax.devices(platform)[0]
    except RuntimeError as error:
        raise InferenceError(f'device = "{platform}": JAX finds none on this machine. {error}') from None


def make_ready(shares_arrays: bool = False) -> None:
    """Settings of JAX's, to be made before it is used: its cache is the user's, unless it was told otherwise.

    An evaluation of a small program takes a third of the time where no other thread is asked to run it, and
    half the processor where none is asked to share its arrays, unless it `shares_arrays` that are large. How
    many threads do is settled for the process when JAX is first used, unless the environment says it.
    """
    if not shares_arrays:
        os.environ.setdefault(THREADS, "1")
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    if jax.config.jax_compilation_cache_dir is None and (folder := writable(own_cache())):
        jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
    if MIN_COMPILE_TIME not in os.environ:
        jax.config.update(MIN_COMPILE_TIME.lower(), LEAST_COMPILE_SECONDS)


def largest_part(size: int, most: int) -> int:
    """How many of `size` the largest equal part has, at most so many.

    Example:
        >>> largest_part(100, most=6)
        5
    """
    return next(k for k in range(min(size, most), 0, -1) if size % k == 0)


NOTHING: dict[str, Any] = {}
IN_ORDER = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
"""An order of steps that leaves few to run beside each other: of a small program, to hand them to other
threads would take longer than they do."""
FAST_COMPILATION = {**IN_ORDER, "xla_cpu_use_fusion_emitters": False}
"""Compiled in two thirds of the time, to run up to a sixth slower."""
FASTEST_COMPILATION = {**FAST_COMPILATION, "xla_backend_optimization_level": 0}
"""Compiled in a third of the time, to run a fifth slower, or three times so where there are many rows."""


class CompileProfile(Enum):
    """How code is compiled, by what it is for; the values are the options of XLA."""

    LARGE_ARRAYS = NOTHING
    STANDARD = IN_ORDER
    FAST = FAST_COMPILATION
    FASTEST = FASTEST_COMPILATION


def jitted(
    f: Callable[..., Any], *static: int, profile: CompileProfile = CompileProfile.STANDARD
) -> Callable[..., Any]:
    """f compiled when it is first called; the arguments at the places `static` are part of the code."""
    return jax.jit(f, static_argnums=static, compiler_options=understood(profile))


def understood(profile: CompileProfile) -> dict[str, Any]:
    """The options of a profile that this version of XLA knows: JAX 0.11.1 dropped that of fusion emitters."""
    return {name: value for name, value in profile.value.items() if is_known(name, value)}


@cache
def is_known(name: str, value: Any) -> bool:
    """Whether XLA has an option and a value for it: it refuses others when it compiles."""
    try:
        jax.jit(lambda: 0, compiler_options={name: value})()
    except jax.errors.JaxRuntimeError:
        return False
    return True
