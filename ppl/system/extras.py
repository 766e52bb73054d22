"""Packages that are not needed to fit, loaded where something needs them."""

import atexit
import os
import shutil
from importlib import import_module
from tempfile import mkdtemp
from typing import Any

from ppl.errors import MissingPackage
from ppl.files import user_cache, writable


def extra(package: str, what: str, *install: str) -> Any:
    """The package that `what` needs.

    Raises:
        MissingPackage: it is not installed; `install` are the requirements to give to pip.
    """
    if writable(user_cache()) is None:  # ArviZ cannot be imported without a home and a cache
        os.environ["XDG_CACHE_HOME"] = folder = mkdtemp(prefix="ppl-cache-")
        os.environ.setdefault("HOME", folder)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackage(what, str(error.name or package), *install) from None
