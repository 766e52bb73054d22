"""SciPy's modules, each imported when something of it is first used: together they take half a second."""

import sys
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

HEAVY = ("autograd.scipy.linalg", "autograd.scipy.special")
"""Modules of a package that itself imports scipy.stats, scipy.signal and scipy.integrate: a second."""


@cache
def imported(name: str) -> ModuleType:
    """The module; one of HEAVY without its package, unless it has been imported with it.

    Alone it is not in sys.modules, where others would find it without its package.
    """
    if name not in HEAVY or name in sys.modules:
        return import_module(name)
    top, *inside = name.split(".")
    (folder,) = import_module(top).__path__
    spec = spec_from_file_location(name, Path(folder, *inside).with_suffix(".py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LateModule:
    """A module that is imported when something of it is first used."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(imported(self._name), attribute)
        setattr(self, attribute, value)
        return value


integrate = LateModule("scipy.integrate")
linalg = LateModule("scipy.linalg")
optimize = LateModule("scipy.optimize")
special = LateModule("scipy.special")
stats = LateModule("scipy.stats")
