"""Data in: files and mappings to checked arrays, each variable as its declaration wants it."""

from ppl.data.bounded_read import read_stream
from ppl.data.inputs import Inputs, RowCount, merged, misspelt, unknown_names, unread, with_declared_names
from ppl.data.load import AnyData, Frame, load_data, of_json
from ppl.data.on_disk import open_array, with_arrays
from ppl.data.read import check_value, read_value
from ppl.kernel.density.expected import ExpectedData

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
