"""Data in: files and mappings to checked arrays, each variable as its declaration wants it."""

from ppl.data.expected import Expected
from ppl.data.inputs import Frame, Inputs, is_frame, load_data, of_frame, unknown_names
from ppl.data.lookup import misspelt
from ppl.data.on_disk import open_array, with_arrays
from ppl.data.read import check_value, read_value

__all__ = [
    "Expected",
    "Frame",
    "Inputs",
    "check_value",
    "is_frame",
    "load_data",
    "misspelt",
    "of_frame",
    "open_array",
    "read_value",
    "unknown_names",
    "with_arrays",
]
