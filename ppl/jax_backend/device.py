"""Where JAX computes, and where it keeps what it compiled."""

import os
from typing import Any

import jax

from ppl.errors import InferenceError
from ppl.files import own_cache, writable

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


def make_ready() -> None:
    """Settings of JAX's, to be made before it is used: its cache is the user's, unless it was told otherwise.

    An evaluation of a small program takes a third of the time where no other thread is asked to run it.
    """
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    if jax.config.jax_compilation_cache_dir is None and (folder := writable(own_cache())):
        jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
    if MIN_COMPILE_TIME not in os.environ:
        jax.config.update(MIN_COMPILE_TIME.lower(), LEAST_COMPILE_SECONDS)
