"""A Stan-like language compiled to automatic differentiation variational inference.

The public names are looked up when first used, so that `ppl --version` need not load an array library.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from ppl.compile import compile_model as compile_model
    from ppl.errors import ArgumentError as ArgumentError
    from ppl.errors import DataError as DataError
    from ppl.errors import DataWarning as DataWarning
    from ppl.errors import InferenceError as InferenceError
    from ppl.errors import MissingFile as MissingFile
    from ppl.errors import MissingPackage as MissingPackage
    from ppl.errors import ModelError as ModelError
    from ppl.errors import ModelWarning as ModelWarning
    from ppl.errors import OutOfRange as OutOfRange
    from ppl.errors import PoorFitWarning as PoorFitWarning
    from ppl.errors import PPLError as PPLError
    from ppl.errors import PPLWarning as PPLWarning
    from ppl.errors import Rejection as Rejection
    from ppl.errors import UnknownName as UnknownName
    from ppl.errors import UnknownSetting as UnknownSetting
    from ppl.formula import from_formula as from_formula
    from ppl.jax_backend.joining import join as join
    from ppl.model import Model as Model
    from ppl.posterior import Posterior as Posterior
    from ppl.results.calibration.sbc import Calibration as Calibration
    from ppl.results.fits.chains import Chains as Chains
    from ppl.results.fits.fit import Fit as Fit
    from ppl.results.report.compare import compare as compare
    from ppl.saved_fits import load_fit as load_fit

OF_MODULES = (
    ("ppl.compile", ("compile_model",)),
    ("ppl.formula", ("from_formula",)),
    ("ppl.jax_backend.joining", ("join",)),
    ("ppl.model", ("Model",)),
    ("ppl.posterior", ("Posterior",)),
    ("ppl.results.fits.fit", ("Fit",)),
    ("ppl.results.fits.chains", ("Chains",)),
    ("ppl.results.calibration.sbc", ("Calibration",)),
    ("ppl.saved_fits", ("load_fit",)),
    ("ppl.results.report.compare", ("compare",)),
    ("ppl.errors", ("PPLError", "ModelError", "DataError", "InferenceError", "ModelWarning", "DataWarning")),
    (
        "ppl.errors",
        ("PPLWarning", "PoorFitWarning", "Rejection", "ArgumentError", "MissingFile", "MissingPackage"),
    ),
    ("ppl.errors", ("OutOfRange", "UnknownName", "UnknownSetting")),
)
PUBLIC = {name: module for module, names in OF_MODULES for name in names}
__all__ = list(PUBLIC)

# In a checkout cli/, grammar/ and models/ lie beside ppl/; where it is installed they are in it.
if not os.path.isdir(os.path.join(__path__[0], "grammar")):
    __path__.append(os.path.dirname(__path__[0]))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("ppl.system.distribution").VERSION
    if name not in PUBLIC:
        absent = import_module("ppl.api").absent
        raise AttributeError(absent("ppl", name) if name[:1] != "_" else name)
    return getattr(import_module(PUBLIC[name]), name)


def load_ipython_extension(shell: Any) -> None:
    """Register `%%ppl NAME` in IPython and notebooks, for `%load_ext ppl`."""
    import_module("ppl.cli.notebook").register(shell)


def __dir__() -> list[str]:
    return sorted([*PUBLIC, "__version__"])
