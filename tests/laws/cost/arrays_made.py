"""The numbers of all arrays that NumPy makes, wherever they are made.

NumPy asks a handler for the memory of arrays (its C API, "Memory management in NumPy", NEP 49).  The one
here is NumPy's own, but that it adds up what is asked for: results of operators, of functions, of SciPy,
on the tape and in the backward pass.  Views and single numbers take none.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numpy._core import _multiarray_umath

from ppl.records import dataclass

NUMBER = 8
"""Bytes of a number."""

SET_HANDLER, GET_HANDLER = 304, 305
"""The places of PyDataMem_SetHandler and PyDataMem_GetHandler in NumPy's table of C functions."""
NAME = b"mem_handler"

Malloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
Calloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class Handler(ctypes.Structure):
    """PyDataMem_Handler; what `realloc` and `free` are is left to NumPy."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", Malloc),
        ("calloc", Calloc),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


@dataclass
class Made:
    """The bytes so far."""

    total: int = 0

    @property
    def numbers(self) -> int:
        return self.total // NUMBER


MADE = Made()


@contextmanager
def arrays_made() -> Iterator[Made]:
    """Count arrays from nothing."""
    MADE.total = 0
    _, capsule, set_handler = counting_handler()
    before = set_handler(capsule)
    try:
        yield MADE
    finally:
        set_handler(before)


@cache
def counting_handler() -> tuple[Handler, Any, Any]:
    """The handler, which arrays made by it outlive; as Python holds it; and the function that sets one.

    Memory is given back by NumPy's own functions, so that arrays may be freed when Python ends.
    """
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    table = python.PyCapsule_GetPointer(_multiarray_umath._ARRAY_API, None)
    functions = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(functions[SET_HANDLER])
    get_handler = ctypes.PYFUNCTYPE(ctypes.py_object)(functions[GET_HANDLER])
    own = Handler.from_address(python.PyCapsule_GetPointer(get_handler(), NAME))
    own_malloc, own_calloc = own.malloc, own.calloc  # each look into the structure would make them again

    def malloc(context: int | None, size: int) -> Any:
        MADE.total += size
        return own_malloc(context, size)

    def calloc(context: int | None, count: int, size: int) -> Any:
        MADE.total += count * size
        return own_calloc(context, count, size)

    handler = Handler(
        b"counting", own.version, own.context, Malloc(malloc), Calloc(calloc), own.realloc, own.free
    )
    return handler, python.PyCapsule_New(ctypes.addressof(handler), NAME, None), set_handler
