"""Files of draws in any format that `ppl variational -o` writes, by suffix: the inverse of formats.py."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ppl.arrays import as_pairs, inexact
from ppl.errors import DataError, MissingPackage
from ppl.files import require_file
from ppl.floats import Floats
from ppl.kernel.draws.columns import split_part
from ppl.kernel.draws.names import PARTS, Sized, column_names
from ppl.printable import printable
from ppl.results.files.arviz import BY_OUTCOME, POINTWISE, REPLICATED
from ppl.results.files.arviz_versions import from_netcdf, group_names
from ppl.results.files.formats import ABOUT, EXTRAS, About
from ppl.results.files.provenance import PREFIX
from ppl.results.files.read_csv import DrawsFile, Wanted, every_column, read_draws, refuse_repeated
from ppl.system.distribution import requirements

STATS = {"lp": "log_p__", "lp_approx": "log_g__"}
"""ArviZ's names of the log densities, and ours."""

Read = dict[str, Floats]
"""Draws (draws, *shape) by the name of a variable, or of a column."""


def read_file(path: str | Path, wanted: Wanted = every_column) -> DrawsFile:
    """The draws in a file that `formats.save_draws` wrote, or in any of CmdStan's CSV files.

    Of a CSV file only the `wanted` columns are read.

    Raises:
        DataError: the file is not what its suffix says.
        MissingFile: it is not there.
        MissingPackage: the package that reads it is not installed.
        OSError: it cannot be read.
    """
    path = Path(path)
    if path.suffix not in READERS:
        return read_draws(path, wanted)
    try:
        arrays, about = READERS[path.suffix](require_file(path))
    except ImportError as error:
        raise MissingPackage(str(path), str(error.name), *requirements(EXTRAS[path.suffix])) from None
    except Exception as error:  # each format's reader has its own ways to say that a file is broken
        if getattr(error, "errno", None):  # the file system speaks, not the format's reader
            raise
        raise DataError(f"{path} is no {path.suffix} file of draws ({error}).") from None
    whole = as_draws(path, arrays, about)
    names = {*wanted(whole)}
    return whole.only([name for name in whole.columns if name in names])


def read_all(paths: Sequence[str | Path], wanted: Wanted = every_column) -> tuple[DrawsFile, ...]:
    """Files of the same columns, as runs of one program give them; DataError where they differ."""
    return same_columns(tuple(read_file(path, wanted) for path in paths))


def same_columns(files: tuple[DrawsFile, ...]) -> tuple[DrawsFile, ...]:
    """These files; DataError where their columns differ."""
    for other in files[1:]:
        if other.header != files[0].header:
            names = sorted({*files[0].header} ^ {*other.header})[:3]
            what = f"they differ in {', '.join(names)}" if names else "the same in another order"
            raise DataError(f"{files[0].path} and {other.path} have different columns: {what}.")
    return files


def as_draws(path: Path, arrays: Read, about: About) -> DrawsFile:
    """Flat columns, in Stan's order, of draws by variable."""
    arrays = {printable(name): draws for name, draws in arrays.items()}
    internal = {name: draws for name, draws in arrays.items() if name.endswith("__")}
    flat = [
        column for name, draws in arrays.items() if name not in internal for column in columns(name, draws)
    ]
    if not flat:
        raise DataError(f"{path} holds no draws.")
    config = {**({"method": "variational"} if "log_g__" in internal else {}), **about}
    names, values = zip(*flat, strict=True)
    refuse_repeated(path, (*names, *internal))
    if len({len(draws) for draws in (*values, *internal.values())}) > 1:
        raise DataError(f"{path} is damaged: its variables have different numbers of draws.")
    return DrawsFile(path, config, names, np.column_stack(values), internal, header=names)


def columns(name: str, draws: Floats) -> Iterator[tuple[str, Floats]]:
    """The elements of one variable, first index fastest."""
    pairs = np.iscomplexobj(draws)
    names = column_names(Sized(name, (), draws.shape[1:], (), pairs))
    flat = draws.reshape(len(draws), -1, order="F")
    if pairs:
        flat = as_pairs(flat).reshape(len(draws), -1)
    return zip(names, flat.T, strict=True)


def _npz(path: Path) -> tuple[Read, About]:
    with np.load(path) as arrays:
        refuse_repeated(path, arrays.files)
        about = json.loads(str(arrays[ABOUT])) if ABOUT in arrays.files else {}
        draws = {name: inexact(arrays[name]) for name in arrays.files if arrays[name].ndim}
    return draws, _texts(about)


def _parquet(path: Path) -> tuple[Read, About]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        refuse_repeated(path, file.schema_arrow.names)
        table, meta = file.read(), file.schema_arrow.metadata or {}
    draws = zip(table.column_names, table.columns, strict=True)
    about = {name.decode(): text.decode(errors="replace") for name, text in meta.items()}
    return {name: np.asarray(column.to_numpy(), dtype=float) for name, column in draws}, _texts(about)


def _netcdf(path: Path) -> tuple[Read, About]:
    """All chains one after the other, with what ArviZ keeps in groups of its own."""
    data = from_netcdf(str(path))
    arrays = {STATS[name]: values for name, values in _group(data, "sample_stats").items() if name in STATS}
    arrays |= _group(data, "posterior")
    predictive, log_likelihood = (_group(data, group) for group in BY_OUTCOME)
    arrays |= {name + REPLICATED: values for name, values in predictive.items()}
    if len(log_likelihood) == 1:
        arrays |= dict(zip([POINTWISE], log_likelihood.values(), strict=True))
    arrays = dict(_joined(arrays))
    return arrays, _texts(
        {key: value for name in group_names(data) for key, value in data[name].attrs.items()}
    )


def _group(data: Any, name: str) -> Read:
    if name not in group_names(data):
        return {}
    arrays = data[name].data_vars.items()
    return {str(key): np.asarray(x, dtype=float).reshape(-1, *x.shape[2:]) for key, x in arrays}


def _joined(arrays: Read) -> Iterator[tuple[str, Floats]]:
    """Complex variables from the two variables that hold their parts."""
    for column, values in arrays.items():
        name, part = split_part(column)
        if not part:
            yield column, values
        elif part == PARTS[0]:
            yield name, values + 1j * arrays[f"{name}.{PARTS[1]}"]


def _texts(meta: Mapping[str, Any]) -> About:
    return {name: printable(str(text)) for name, text in meta.items() if name.startswith(PREFIX)}


DrawsReader = Callable[[Path], tuple[Read, About]]
READERS: Mapping[str, DrawsReader] = {".npz": _npz, ".nc": _netcdf, ".parquet": _parquet}
