"""The distribution of pip: its name, where `ppl` on PyPI is another project, its version and its extras."""

import atexit
import json
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ppl.errors import MissingPackage
from ppl.files import user_cache, writable
from ppl.late import shutil, tempfile


def extra(package: str, what: str, *install: str) -> Any:
    """The package that `what` needs.

    Raises:
        MissingPackage: it is not installed; `install` are the requirements to give to pip.
    """
    if writable(user_cache()) is None:  # ArviZ cannot be imported without a home and a cache
        os.environ["XDG_CACHE_HOME"] = folder = tempfile.mkdtemp(prefix="ppl-cache-")
        os.environ.setdefault("HOME", folder)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackage(what, str(error.name or package), *install) from None


NAME = "ppl-vi"
VERSION = "1.0.0"
EXTRAS = {
    "arviz": ("arviz>=0.20", "h5netcdf>=1.3", "h5py>=3.10", "xarray>=2025.9"),
    "docs": ("mkdocs>=1.6,<2", "mkdocs-material>=9.5"),
    "formula": ("formulae>=0.6", "pandas>=2"),
    "jax": ("jax>=0.8",),
    "lsp": ("pygls>=2",),
    "parquet": ("pyarrow>=15", "fsspec>=2024.2"),
    "plot": ("matplotlib>=3.8",),
    "sample": ("nutpie>=0.15", "arviz>=0.20", "h5netcdf>=1.3", "h5py>=3.10", "xarray>=2025.9"),
}
"""The extras that messages name, as in pyproject.toml."""


def requirements(extra: str) -> tuple[str, ...]:
    """The argument of pip for an extra, from where this package came.

    In a checkout that is `-e` and its folder, of a wheel its file, of a repository its address (PEP 610);
    else, or where that is gone, the packages themselves: the name of this one may not be on the index.
    """
    url, about = _origin()
    if vcs := about.get("vcs_info"):
        return (f"{NAME}[{extra}] @ {vcs['vcs']}+{url}@{vcs.get('requested_revision') or vcs['commit_id']}",)
    path = Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None
    if path is None or not path.exists():
        return EXTRAS[extra]
    where = "." if path == Path.cwd() else str(path)
    return (*(("-e",) if about.get("dir_info", {}).get("editable") else ()), f"{where}[{extra}]")


def _origin() -> tuple[str, Mapping[str, Any]]:
    """The address that pip installed from and what it noted of it; both empty for an index."""
    from importlib.metadata import distributions

    for installed in distributions(name=NAME):
        if text := installed.read_text("direct_url.json"):
            noted = json.loads(text)
            return noted["url"], noted
    return "", {}
