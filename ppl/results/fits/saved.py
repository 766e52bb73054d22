"""A fit as a JSON file, and back: the approximation is stored, its draws are made again from the seed."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path as File
from typing import Any

import numpy as np

from ppl.data.levels import Factor
from ppl.data.shares import Share
from ppl.density.log_density import LogDensity
from ppl.errors import ArgumentError
from ppl.kernel.advi.context import Streams
from ppl.kernel.advi.families import describe
from ppl.kernel.advi.optimise import TracePoint
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.target import Target
from ppl.late import LateModule
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.diagnose.spread import Spread
from ppl.methods.recipes import fit
from ppl.methods.recipes.result import Path, Result
from ppl.methods.recipes.result import result_of as drawn
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings
from ppl.results.files.provenance import Provenance
from ppl.run.checksum import plain, read_record, require_types, with_checksum
from ppl.run.identity import identity
from ppl.run.initial import FIT_FORMAT as FORMAT
from ppl.run.initial import approximation, start_for
from ppl.run.more_draws import OF_SEVERAL_GAUSSIANS, RunResult, later_result, with_spread
from ppl.run.state_json import decode, encode

updating = LateModule("ppl.results.fits.updating")

PROGRAM, DATA = "source", "data"
"""The entries of a file that has them."""


def to_json(
    posterior: LogDensity,
    settings: Settings,
    result: Result,
    about: Provenance,
    *,
    later_draws: bool = False,
    data_file: str = "",
    with_program: bool = False,
    with_data: bool = False,
) -> str:
    """Everything a fit is as one JSON object, on request with program and data; `about` is for who reads it.

    `later_draws` says that `Fit.more` made the draws. `data_file` names the files of the data, separated by
    spaces.
    """
    record = {
        "format": FORMAT,
        "program": posterior.model.source.name,
        "data_file": data_file,
        **identity(posterior),
        "settings": asdict(settings),
        "run_seed": result.settings.seed,
        "later_draws": later_draws,
        "family": describe(result.family),
        **{name: getattr(result, name) for name in ("params", "final_elbo", "final_elbo_se")},
        **_path_to_json(result.path),
        "dropped": result.dropped,
        "notes": result.notes,
        **about.entries(),
        **posterior.labels.entries(),
        "verdict": {
            "level": result.verdict.level.value,
            "khat": result.verdict.khat,
            "ess": result.verdict.ess,
            "khat_by_coordinate": result.verdict.khats,
            "draws": result.verdict.n,
        },
        "spread": result.verdict.spread and vars(result.verdict.spread),
        "chains": encode(result.adapted),
        "earlier": posterior.earlier and updating.earlier_to_json(posterior.earlier),
        **({PROGRAM: posterior.model.source.text} if with_program else {}),
        **({DATA: data_of(posterior)} if with_data else {}),
    }
    return json.dumps(with_checksum(plain(record)), indent=1, allow_nan=False) + "\n"


def data_of(posterior: LogDensity) -> dict[str, Any]:
    """The data of a posterior as they were given, None in place of what was missing.

    Raises:
        ArgumentError: parts of them are in other processes.
    """
    declared, missing = posterior.model.data_schema, {c.name for c in posterior.model.completions}
    given = {
        name: value if isinstance(value, Factor) or name in missing else posterior.d.of(name)
        for name, value in posterior.observed.items()
        if name in declared
    }
    if any(isinstance(value, Share) for value in posterior.data.values()):
        raise ArgumentError("data in parts, in several processes, cannot be saved with a fit")
    return {name: as_json(value) for name, value in given.items()}


def as_json(value: Any) -> Any:
    """Data as in CmdStan's JSON: tuples by number, complex numbers as pairs, null for what is missing."""
    match value:
        case tuple():
            return {str(k): as_json(item) for k, item in enumerate(value, 1)}
        case list():
            return [as_json(item) for item in value]
        case complex():
            return [value.real, value.imag]
    return plain(value, lambda x: None if math.isnan(x) else repr(x))


def data_in(record: Mapping[str, Any]) -> dict[str, Any]:
    """The data that a saved fit holds."""
    return {name: updating.with_levels(value) for name, value in record[DATA].items()}


def read(path: str | File) -> dict[str, Any]:
    """The object in a saved fit.

    Raises:
        DataError: the file is not one that `Fit.save` wrote.
    """
    return read_record(path, "saved fit", FORMAT)


def result_of(record: Mapping[str, Any], posterior: LogDensity, target: Target) -> Result:
    """The Result that was saved; its draws come from the same stream as at first, so they are the same."""
    settings = Settings(**record["settings"])
    # the seed of the run that was kept, of several; fits that were saved before had no such entry
    seed = int(record.get("run_seed", settings.seed))
    if later_draws(record):
        return later_result(target, settings, found_of(record, posterior))
    run = found_of(record, posterior)
    if settings.algorithm in OF_SEVERAL_GAUSSIANS or run.path.nested:
        again = fit(target, replace(settings, runs=1, seed=seed), start_for(posterior, settings.init))
        return with_spread(again, run.spread)
    again = drawn(target, run.family, run.params, run.path, Context(settings, Streams(seed)))
    return with_spread(again, run.spread)


def later_draws(record: Mapping[str, Any]) -> bool:
    """Whether a saved fit has the draws of `Fit.more`; fits that were saved before had no such entry."""
    return bool(record.get("later_draws", False))


def found_of(record: Mapping[str, Any], posterior: LogDensity) -> RunResult:
    """The run of a saved fit; fits that were saved before have no chains to go on."""
    q = approximation(record, posterior.param_unc_num())
    chains = decode(record.get("chains"))
    return RunResult(*q, _path_from_json(record), _spread_from_json(record), chains)


def _spread_from_json(record: Mapping[str, Any]) -> Spread | None:
    entry = record.get("spread")  # fits that were saved before had no such entry
    if not entry:
        return None
    rhats = np.array([_number(value) for value in entry["rhats"]], dtype=float)
    spread = Spread(entry["runs"], rhats, tuple(_number(value) for value in entry["elbos"]))
    require_types(spread)
    return spread


def _path_to_json(path: Path) -> dict[str, Any]:
    return {
        **{
            name: getattr(path, name)
            for name in ("start", "eta", "iterations", "trace", "at_maximum", "nested")
        },
        "eta_scores": list(path.eta_scores.items()),
        "outcome": {"ending": path.outcome.ending.value, "reason": path.outcome.reason},
        "dropped_on_the_way": path.dropped,
        "notes_on_the_way": path.notes,
    }


def _path_from_json(record: Mapping[str, Any]) -> Path:
    path = Path(
        start=np.array(record["start"], dtype=float),
        outcome=Outcome(Ending(record["outcome"]["ending"]), record["outcome"]["reason"]),
        eta=_number(record["eta"]),
        eta_scores={_number(eta): _number(elbo) for eta, elbo in record["eta_scores"]},
        iterations=record["iterations"],
        trace=tuple(TracePoint(k, seconds, _number(elbo)) for k, seconds, elbo in record["trace"]),
        dropped=record["dropped_on_the_way"],
        notes=tuple(record["notes_on_the_way"]),
        at_maximum=record["at_maximum"],
        nested=record.get("nested", record.get("fit_draws") == DrawSource.NESTED.value),
    )
    for part in (path, path.outcome, *path.trace):
        require_types(part)
    return path


def _number(value: int | float | str) -> Any:
    return float(value) if isinstance(value, str) else value
