"""Data in: files and mappings to checked arrays, each variable as its declaration wants it."""

from typing import TYPE_CHECKING, Any

from ppl.data.bounded_read import read_stream
from ppl.data.inputs import Inputs, RowCount, merged, misspelt, unknown_names, unread, with_declared_names
from ppl.data.load import AnyData, Frame, load_data, of_json
from ppl.data.read import check_value, read_value
from ppl.kernel.density.expected import ExpectedData
from ppl.late import LateModule

if TYPE_CHECKING:
    from ppl.data.on_disk import open_array, with_arrays

__all__ = [
    "AnyData",
    "ExpectedData",
    "Frame",
    "Inputs",
    "RowCount",
    "check_value",
    "load_data",
    "merged",
    "misspelt",
    "of_json",
    "open_array",
    "read_stream",
    "read_value",
    "unknown_names",
    "unread",
    "with_arrays",
    "with_declared_names",
]

on_disk = LateModule("ppl.data.on_disk")


def __getattr__(name: str) -> Any:
    """The readers of arrays from files of their own, which few fits have."""
    if name in ("open_array", "with_arrays"):
        return getattr(on_disk, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
