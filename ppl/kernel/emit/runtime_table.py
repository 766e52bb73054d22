"""The functions of the runtime that emitted code calls beside those of the language, and their names."""

from collections.abc import Callable
from typing import Any

from ppl.kernel.emit import constraint_checks, entries, runtime, tuple_arrays
from ppl.stdlib.constraints.table import CONSTRAINTS

RUNTIME: tuple[Callable[..., Any], ...] = (
    *(runtime.take, runtime.real, runtime.as_complex, runtime.complex_),
    *(runtime.array, runtime.int_array, runtime.empty, runtime.stack),
    *(runtime.unset, runtime.unset_int, runtime.unset_complex, runtime.own),
    *(runtime.put, runtime.put_sized, runtime.put_item),
    *(tuple_arrays.tuples, tuple_arrays.items, tuple_arrays.entries, tuple_arrays.same_sizes),
    *(runtime.terms, runtime.sum_terms, runtime.target_so_far, runtime.total, runtime.zeros_like),
    *(runtime.axis, runtime.span, entries.cross_index, entries.index_of, entries.pick, runtime.widen),
    *(runtime.each, runtime.join, runtime.branch, runtime.loop, runtime.and_then, runtime.or_then),
    *(runtime.readable, runtime.sized, runtime.same_size, runtime.alike),
    *(runtime.print_, runtime.reject, runtime.fatal_error, runtime.profile),
    *(runtime.check, constraint_checks.check_each),
)

OWN_NAMES = frozenset(
    {
        *(f.__name__.rstrip("_") for f in RUNTIME),
        *(f"{verb}_{c.keyword}" for c in CONSTRAINTS for verb in ("constrain", "free")),
        *("scan", "solve"),
    }
)
"""Attributes of `lib` that no function of a program's library may hide."""
