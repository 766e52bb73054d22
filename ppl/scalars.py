"""NumPy's scalars among settings and arguments, which are compared, printed and written as JSON."""

from typing import Any


def python_number(value: Any) -> Any:
    """A scalar of NumPy, or an array without axes, as Python's own; any other value as it is."""
    of_numpy = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    return value.item() if of_numpy else value
