"""Data in: files and mappings to checked arrays, each variable as its declaration wants it."""

from ppl.data.expected import Expected
from ppl.data.inputs import Inputs, load_data, unknown_names
from ppl.data.on_disk import open_array, with_arrays
from ppl.data.read import check_value, read_value

__all__ = [
    "Expected",
    "Inputs",
    "check_value",
    "load_data",
    "open_array",
    "read_value",
    "unknown_names",
    "with_arrays",
]
