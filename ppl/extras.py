"""Packages that are not needed to fit, loaded where something needs them."""

from importlib import import_module
from typing import Any

from ppl.errors import MissingPackage


def extra(package: str, what: str, *install: str) -> Any:
    """The package that `what` needs.

    Raises:
        MissingPackage: it is not installed; `install` are the requirements to give to pip.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackage(what, str(error.name or package), *install) from None
