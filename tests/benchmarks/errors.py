"""How far draws are from what is known of a posterior: how references are read, and errors measured.

A reference is long runs of NUTS, {"params": {"theta.1": {"mean", "sd", "q05", "q95"}}} in the conformance
pack, {"mean": {"theta.1": ...}, "sd": ...} in models/, and zipped draws [{"theta[1]": [...]}, ...] of each
chain in posteriordb, or an exact answer.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy.stats import norm

from ppl.floats import Floats
from ppl.records import dataclass
from tests.benchmarks.columns import column

CHECKS = ("mean", "sd", "q05", "q95")
LIMITS = {"mean": 0.2, "sd": 0.2, "q05": 0.3, "q95": 0.3}
"""Errors above these are those of a wrong fit: in sds of the reference, and for the sd a share of it."""
FALSE_ALARMS = 0.01
"""How often independent draws of the posterior itself may be called wrong, over all quantities of a fit."""
CONSTANT = 1e-9
"""A quantity with a smaller scale does not vary."""
WORTH_A_DRAW = 0.1
"""Independent draws that one of NUTS is taken for where a reference does not say."""
SPREAD = float(norm.ppf(0.95) - norm.ppf(0.05))
"""Sds from the 5% to the 95% quantile of a normal."""


@dataclass(frozen=True)
class Quantity:
    """What is known of one column: nan where it is not known, or does not exist as a mean of Cauchy's law.

    `worth` is how many independent draws it was computed from; infinite where it is exact.
    """

    mean: float = math.nan
    sd: float = math.nan
    q05: float = math.nan
    q95: float = math.nan
    worth: float = math.inf

    @property
    def scale(self) -> float:
        """The unit of errors: the sd, or that of the normal with these quantiles where there is none."""
        return self.sd if math.isfinite(self.sd) else (self.q95 - self.q05) / SPREAD


Quantities = Mapping[str, Quantity]


def read_reference(path: Path) -> dict[str, Quantity]:
    """The quantities of a reference file of any kind that vary."""
    content = read_json(path)
    if isinstance(content, list):
        found = _of_draws(content)
    else:
        found = _of_pack(content) if "params" in content else _of_models(content)
    return {name: known for name, known in found.items() if known.scale > CONSTANT}


def read_json(path: Path) -> Any:
    """What a file holds, or the only file in an archive."""
    if path.suffix != ".zip":
        return json.loads(path.read_text())
    with ZipFile(path) as archive:
        (name,) = archive.namelist()
        return json.loads(archive.read(name))


def _of_draws(chains: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, Quantity]:
    """The draws of posteriordb are thinned until they are as good as independent."""
    draws = {column(name): np.concatenate([chain[name] for chain in chains]) for name in chains[0]}
    return {
        name: Quantity(x.mean(), x.std(ddof=1), *np.quantile(x, [0.05, 0.95]), len(x))
        for name, x in draws.items()
    }


def _of_pack(content: dict[str, Any]) -> dict[str, Quantity]:
    """A quantity is worth its own effective sample size where that is stated, else the smallest of all."""
    worth = content.get("ess_min", math.inf)
    return {
        name: Quantity(
            **{check: known[check] for check in CHECKS if check in known}, worth=known.get("ess", worth)
        )
        for name, known in content["params"].items()
    }


def _of_models(content: dict[str, Any]) -> dict[str, Quantity]:
    chains, draws = map(int, re.findall(r"(\d+) chains of (\d+) draws", content["source"])[0])
    worth = WORTH_A_DRAW * chains * draws
    return {name: Quantity(mean, content["sd"][name], worth=worth) for name, mean in content["mean"].items()}


@dataclass(frozen=True)
class Errors:
    """Signed errors of `names` (k,), a (k,) array for each of CHECKS, nan where nothing is known.

    `errors` are in the scale of the reference, of the sd ratio - 1; `noise` is how many standard errors of as
    many independent draws of the posterior, and of the reference, that is.
    """

    names: tuple[str, ...]
    errors: Mapping[str, Floats]
    noise: Mapping[str, Floats]


def errors_of(draws: Floats, columns: Sequence[str], known: Quantities) -> Errors:
    """Errors of the columns of draws (n, columns) that are known; inf where draws are not finite."""
    place = {name: k for k, name in enumerate(columns)}
    names = tuple(name for name in known if name in place)
    kept = draws[:, [place[name] for name in names]]
    of = {key: np.array([getattr(known[name], key) for name in names]) for key in (*CHECKS, "scale", "worth")}
    return Errors(names, *_measured(kept, of))


def _measured(draws: Floats, of: Mapping[str, Floats]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    share = 1 / len(draws) + 1 / of["worth"]
    with np.errstate(all="ignore"):  # draws may overflow: then they are wrong, not in error
        mean, sd = draws.mean(axis=0), draws.std(axis=0, ddof=1)
        kurtosis = (((draws - mean) / sd) ** 4).mean(axis=0)
        error = {"mean": (mean - of["mean"]) / of["scale"], "sd": sd / of["sd"] - 1}
        fourth = np.fmax(kurtosis, 3.0) - 1
        noise = {"mean": error["mean"] / np.sqrt(share), "sd": error["sd"] / np.sqrt(fourth / 4 * share)}
        for check, p in (("q05", 0.05), ("q95", 0.95)):
            error[check] = (np.quantile(draws, p, axis=0) - of[check]) / of["scale"]
            noise[check] = _excess(draws, of[check], p) / np.sqrt(p * (1 - p) * share)
    astray = ~np.isfinite(draws).all(axis=0)
    for found in (error, noise):
        for check in CHECKS:
            found[check] = np.where(np.isnan(of[check]), np.nan, np.where(astray, np.inf, found[check]))
    return error, noise


def _excess(draws: Floats, quantile: Floats, p: float) -> Floats:
    """By how much the share of draws below a quantile is off p; the draws at it count as suits it best."""
    below, up_to = (draws < quantile).mean(axis=0), (draws <= quantile).mean(axis=0)
    return p - np.clip(p, below, up_to)


def sure(errors: Errors) -> dict[str, Floats]:
    """The errors that noise does not explain, and 0 for the others.

    Independent draws of the posterior show an error that is called sure in about FALSE_ALARMS of the fits at
    most (Bonferroni, over all comparisons of a fit).
    """
    comparisons = sum(int((~np.isnan(error)).sum()) for error in errors.errors.values())
    most = norm.isf(FALSE_ALARMS / 2 / max(comparisons, 1))
    return {
        check: np.where(np.abs(errors.noise[check]) > most, error, np.where(np.isnan(error), np.nan, 0.0))
        for check, error in errors.errors.items()
    }


def worst(names: Sequence[str], error: Floats) -> tuple[float, str]:
    """The largest error, with its sign, and the name it belongs to; 0 and "" where nothing is known."""
    if np.isnan(error).all():
        return 0.0, ""
    k = int(np.nanargmax(np.abs(error)))
    return float(error[k]), names[k]
