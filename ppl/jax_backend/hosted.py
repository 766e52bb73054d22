"""Plain NumPy in the middle of compiled code: called back on the host, with every digit.

The call may come on a thread of JAX's own, which does not know that the caller computes in double precision
and would round to single; so numbers go there and back as their bits.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ppl.arrays import Array


def hosted(f: Callable[..., np.ndarray], args: Sequence[Array]) -> Array:
    """f(*args), computed on the host whenever the compiled code comes to it; not to be differentiated."""
    traced = [i for i, a in enumerate(args) if isinstance(a, jax.Array)]

    def answer(*arrays: np.ndarray) -> np.ndarray:
        filled = list(args)
        for i, a in zip(traced, arrays, strict=True):
            filled[i] = a
        with np.errstate(all="ignore"):
            return f(*filled)

    def on_host(*bits: Array) -> np.ndarray:
        kinds = (args[i].dtype for i in traced)
        return bits_of(answer(*(numbers(np.asarray(b), d) for b, d in zip(bits, kinds, strict=True))))

    tried = answer(*(np.ones(args[i].shape, args[i].dtype) for i in traced))
    shape = jax.ShapeDtypeStruct(bits_of(tried).shape, bits_of(tried).dtype)
    arrays = (traced_bits(args[i]) for i in traced)
    result = jax.pure_callback(on_host, shape, *arrays, vmap_method="sequential")
    return traced_numbers(result, tried.dtype)


def traced_bits(x: Array) -> Array:
    """Values of 64 bits as two numbers of 32, along one more axis; a complex number by its parts; the rest as
    it is."""
    if x.dtype.kind == "c":
        parts = traced_bits(jnp.stack([x.real, x.imag], axis=-1))
        return parts.reshape(*x.shape, -1)
    return jax.lax.bitcast_convert_type(x, jnp.uint32) if x.dtype.itemsize == 8 else x


def traced_numbers(bits: Array, dtype: Any) -> Array:
    """The way back."""
    if dtype.kind == "c":
        parts = traced_numbers(bits.reshape(*bits.shape[:-1], 2, -1), np.dtype(float))
        return jax.lax.complex(parts[..., 0], parts[..., 1])
    return jax.lax.bitcast_convert_type(bits, dtype) if dtype.itemsize == 8 else bits


def bits_of(x: np.ndarray) -> np.ndarray:
    """The same on the host."""
    return np.ascontiguousarray(x[..., None]).view(np.uint32) if x.dtype.itemsize >= 8 else x


def numbers(bits: np.ndarray, dtype: Any) -> np.ndarray:
    """The way back, on the host."""
    return np.ascontiguousarray(bits).view(dtype)[..., 0] if dtype.itemsize >= 8 else bits
