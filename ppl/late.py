"""SciPy's modules, each imported when something of it is first used: together they take half a second."""

from importlib import import_module
from typing import Any


class LateModule:
    """A module that is imported when something of it is first used."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


integrate = LateModule("scipy.integrate")
linalg = LateModule("scipy.linalg")
optimize = LateModule("scipy.optimize")
special = LateModule("scipy.special")
stats = LateModule("scipy.stats")
