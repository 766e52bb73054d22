"""Where a run starts, from what the user said."""

import json
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.advice import Advice
from ppl.density.log_density import LogDensity
from ppl.density.updated import positions
from ppl.errors import DataError
from ppl.files import require_file
from ppl.floats import Floats
from ppl.kernel.advi.start import Init, Warm
from ppl.run.checksum import checked_record, damage_reported, require_types
from ppl.run.identity import positive_transform

if TYPE_CHECKING:
    from ppl.kernel.advi.families.family import Family

FIT_FORMAT = "ppl fit 1"
"""What a saved fit calls itself."""


def start_for(posterior: LogDensity, init: Any, whole: bool = True) -> Init:
    """A radius as it is; constrained values, or the JSON file that holds them, as a point of R^dim.

    A file that is a saved fit gives its approximation, to begin at; the log density must be finite at its
    mean, unless that of all rows, the `whole`, takes too much memory.

    Parameters that are not named stay open, nan, and are drawn when the run starts (inference.start), as in
    CmdStan; names of other variables are ignored.

    Raises:
        DataError: the file is no JSON object, names no parameter, a value does not fit its parameter, or the
            fit has other parameters.
    """
    match init:
        case str() | Path():
            values = _read(Path(init))
            if values.get("format") == FIT_FORMAT:
                record = checked_record(init, values, "saved fit", FIT_FORMAT)
                with damage_reported(init):
                    return _warm(posterior, Path(init), record, whole)
            try:
                return posterior.initial_point(values)
            except DataError as error:
                raise DataError(f"{init}: {error.message}", error.variable, error.code) from None
        case Mapping():
            return posterior.initial_point(init)
        case _ if (earlier := posterior.earlier) is not None:
            point = np.zeros(posterior.param_unc_num())  # of new groups' effects 0
            point[positions(earlier.names, posterior.param_unc_names())] = earlier.mean
            return point
        case _:
            return float(init)


def starts_for(posterior: LogDensity, init: Any, chains: int) -> list[Init]:
    """Where each chain starts: all as `start_for` says of `init`, or each by its entry of a list.

    Raises:
        DataError: as `start_for` does; or the list has not as many entries as there are chains.
    """
    if not isinstance(init, list | tuple):
        return [start_for(posterior, init)] * chains
    if len(init) != chains:
        raise DataError(
            f"init has {len(init)} entries, and there are {chains} chains; expected one for each."
        )
    return [start_for(posterior, one) for one in init]


def _warm(posterior: LogDensity, path: Path, record: Mapping[str, Any], whole: bool) -> Warm:
    """The q of a saved fit, whatever its data were, if it has the parameters of this posterior."""
    mine, theirs = list(posterior.param_unc_names()), list(record["unconstrained"])
    if mine != theirs:
        odd = next(pair for pair in zip_longest(theirs, mine, fillvalue="none") if pair[0] != pair[1])
        raise DataError(
            f"{path} is a fit of {len(theirs)} unconstrained parameters, and this posterior has {len(mine)}; "
            f"the first that differ are {odd[0]} there and {odd[1]} here. A fit can begin where another "
            "ended if both have the same parameters."
        )
    transform = positive_transform(posterior.model)
    if record["positive_transform"] != transform:
        raise DataError(
            (
                f"{path} was fitted with the positive transform {record['positive_transform']}, not "
                f"{transform}; choose that one (",
                Advice("positive_transform", record["positive_transform"]),
                ").",
            )
        )
    begun = Warm(*approximation(record, len(mine)))
    if whole and not np.isfinite(posterior.log_density(begun.mean)):
        raise DataError(
            f"{path}: the log density of this program and data is not finite at the mean of that fit, so no "
            f"fit can begin there.\n{posterior.explain(begun.mean)}"
        )
    return begun


def approximation(record: Mapping[str, Any], dim: int) -> "tuple[Family, Floats]":
    """The q over R^dim in a saved fit: its family and params (size,); ValueError where they do not fit."""
    from ppl.kernel.advi.families import family_from

    family, params = family_from(record["family"], dim), np.array(record["params"], dtype=float)
    for part in (family, family.standard):
        require_types(part)
    if params.shape != (family.size,):
        raise ValueError(f"params of shape {params.shape}")
    with np.errstate(all="ignore"):
        if not np.isfinite([family.mean(params), family.scales(params)]).all():
            raise ValueError("the approximation has no finite mean and scales")
    return family, params


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(require_file(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: the initial values are not JSON: {error}") from None
    if not isinstance(values, dict):
        raise DataError(
            f"{path}: initial values are one JSON object, name to value, not a {type(values).__name__}"
        )
    return values


def drawn(posterior: LogDensity, start: Init, seed: int) -> Floats:
    """The point (dim,) that a start means, finite there or not: what is open is drawn, once."""
    rng, dim = np.random.default_rng(seed), posterior.param_unc_num()
    if isinstance(start, Warm):
        return start.mean
    if isinstance(start, float):
        return rng.uniform(-start, start, dim)
    return np.where(np.isnan(start), rng.uniform(-2.0, 2.0, dim), start)
