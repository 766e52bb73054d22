"""Data in: files and mappings to checked arrays, each variable as its declaration wants it."""

from ppl.data.inputs import Inputs, load_data, unknown_names
from ppl.data.read import check_value, read_value
from ppl.data.wanted import Wanted

__all__ = ["Inputs", "Wanted", "check_value", "load_data", "read_value", "unknown_names"]
