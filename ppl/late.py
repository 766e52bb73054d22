"""Modules by need: of SciPy compiled functions alone, or a package when something of it is first used.

`scipy.special` and `scipy.linalg` with all that they import take a quarter of a second; the extension
modules in them that hold special functions, LAPACK and BLAS take a hundredth.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

HEAVY = ("autograd.scipy.linalg", "autograd.scipy.special")
"""Modules of a package that itself imports scipy.stats, scipy.signal and scipy.integrate: a second."""
EXTENSIONS = (
    *("scipy.special._ufuncs", "scipy.linalg._flapack", "scipy.linalg._fblas"),
    "scipy.optimize._lsap",
)
"""Extension modules that need nothing of the packages that they are in, though Python imports these first."""
PACKAGES = ("scipy", "scipy._lib", "scipy.special", "scipy.linalg")
"""Those. On Windows scipy itself finds its libraries, and is imported."""


class Later(ModuleType):
    """Stands for a package until something of it is used; modules in it can be imported before it is."""

    def __getattr__(self, attribute: str) -> Any:
        if find_spec(name := f"{self.__name__}.{attribute}"):
            return import_module(name)
        if attribute.startswith("_") and not attribute.startswith("__"):
            raise AttributeError(
                attribute
            )  # an extension that is absent, as _clapack, which lapack looks for
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
            whole = import_module(self.__name__)
            for name in [name for name in vars(self) if not name.startswith("__")]:  # modules in it
                vars(whole).setdefault(name, vars(self).pop(name))
        return getattr(import_module(self.__name__), attribute)

    def __dir__(self) -> list[str]:
        return self.__getattr__("__dir__")()


@cache
def imported(name: str) -> ModuleType:
    """The module; one of EXTENSIONS or HEAVY without its package, unless that has been imported."""
    if name in HEAVY and name not in sys.modules:
        return _alone(name)
    if name in EXTENSIONS:
        for package in (*PACKAGES[sys.platform == "win32" :], name.rpartition(".")[0]):
            if package not in sys.modules:
                _stand_in(package)
    return import_module(name)


def _stand_in(package: str) -> None:
    spec, (above, _, name) = find_spec(package), package.rpartition(".")
    assert spec is not None
    module = module_from_spec(spec)
    module.__class__ = Later
    module = sys.modules.setdefault(package, module)
    if above:
        setattr(sys.modules[above], name, module)


def _alone(name: str) -> ModuleType:
    """A module that is not in sys.modules, where others would find it without its package."""
    top, *inside = name.split(".")
    (folder,) = import_module(top).__path__
    spec = spec_from_file_location(name, Path(folder, *inside).with_suffix(".py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LateModule:
    """A module that is imported when something of it is first used; of several, the first that has it.

    `same` has other names of what is in it.
    """

    def __init__(self, *names: str, **same: str):
        self._names, self._same = names, same

    def __getattr__(self, attribute: str) -> Any:
        own = self._same.get(attribute, attribute)
        *first, last = self._names
        value = getattr(
            next((m for m in map(imported, first) if hasattr(m, own)), None) or imported(last), own
        )
        setattr(self, attribute, value)
        return value


# Of the standard library, what imports much and is seldom used.
difflib = LateModule("difflib")
html = LateModule("html")
statistics = LateModule("statistics")
shutil = LateModule("shutil")
tempfile = LateModule("tempfile")
textwrap = LateModule("textwrap")
traceback = LateModule("traceback")
tracemalloc = LateModule("tracemalloc")
zipfile = LateModule("zipfile")

assignment = LateModule("scipy.optimize._lsap", "scipy.optimize")
blas = LateModule("scipy.linalg._fblas", "scipy.linalg.blas")
integrate = LateModule("scipy.integrate")
lapack = LateModule("scipy.linalg._flapack", "scipy.linalg.lapack")
linalg = LateModule("scipy.linalg")
optimize = LateModule("scipy.optimize")
orjson = LateModule("orjson")
special = LateModule("scipy.special._ufuncs", "scipy.special", digamma="psi")
stats = LateModule("scipy.stats")
