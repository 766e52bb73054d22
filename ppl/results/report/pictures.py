"""Which pictures can be drawn of what is at hand: a table of kinds, read by `ppl plot` and the report."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ppl.errors import DataError
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.draws.columns import Floats, reshape, variables
from ppl.results.files.arviz import REPLICATED
from ppl.results.files.read_csv import DrawsFile
from ppl.results.fits.density import varies
from ppl.results.report import plots
from ppl.results.report.plots import Draws
from ppl.results.report.stansummary import worst_khats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NARROW_PAIRS = 3
"""Parameters in the picture of pairs on a narrow screen."""
INDEPENDENT = ("meanfield", "diagonal")
"""Families of q that know no correlation."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The ELBO's course, `points` (evaluations, 2: iteration, nats), and in a word how it ended."""

    points: Floats
    ending: str = "stopped"


class Replicated(NamedTuple):
    """Observed data (n,) and their replications (draws, n)."""

    y: Floats
    y_rep: Floats


@dataclass(frozen=True, eq=False)
class Material:
    """What pictures are made of: the first file's draws stand for the fit; the rest may be missing.

    `names` are the columns to draw, the parameters where they are known; `named` is whether the user named
    them, and wants to see more of them than fit on a page. `outcomes` are data that have replications.
    """

    files: tuple[DrawsFile, ...]
    names: tuple[str, ...]
    trace: Trace | None = None
    reference: DrawsFile | None = None
    outcomes: Mapping[str, Replicated] = field(default_factory=dict)
    named: bool = False

    @cached_property
    def draws(self) -> Draws:
        """All runs' draws of the columns to draw, but for those that never vary."""
        rows = np.concatenate([file.only(self.names).draws for file in self.files])
        varying = [k for k in range(len(self.names)) if varies(rows[:, k])]
        return Draws(tuple(self.names[k] for k in varying), rows[:, varying])

    def labelled(self, draws: Draws) -> Draws:
        """The draws with labels of levels in place of names of columns."""
        return Draws(tuple(map(self.files[0].labels.of, draws.columns)), draws.rows)

    @property
    def constant(self) -> tuple[str, ...]:
        """The columns that never vary: there is nothing to draw of them."""
        return tuple(name for name in self.names if name not in {*self.draws.columns})


# --- Room ----------------------------------------------------------------------------------------


ROOM = {
    "marginals": (24, 200),
    "forest": (60, 400),
    "trace": (12, 100),
    "pairs": (4, 8),
    "covariance": (60, 400),
}
"""How many columns a picture has room for: on a page, and where the user has named them."""


def most(material: Material, kind: str) -> int:
    """How many columns a picture of that kind has room for."""
    return ROOM[kind][material.named]


def room(material: Material, kind: str) -> Draws:
    """The draws of as many columns as a picture of that kind has room for, the first ones."""
    return material.draws.first(most(material, kind))


def left_out(material: Material, kind: str) -> str:
    """A sentence on the columns that a picture has no room for; "" where it shows them all."""
    columns = material.draws.columns
    if kind not in ROOM or len(columns) <= (count := most(material, kind)):
        return ""
    by_khat = kind == "pairs" and is_ordered(material)
    there = worst(material, count)[0] if by_khat else columns[:count]
    which = "those with the worst k-hat" if by_khat else "the first"
    label = material.files[0].labels.of
    example = ",".join([label(name) for name in columns if name not in there][:2])
    return (
        f"{kind} shows {count} of {len(columns)} columns, {which}; for others name them, "
        f"as in --variables {example}."
    )


def is_ordered(material: Material) -> bool:
    """Whether there is a k-hat to order columns by."""
    return len(worst_khats(material.files)) > 0


# --- Kinds ---------------------------------------------------------------------------------------


def elbo(material: Material, wide: bool) -> "Figure | None":
    trace = material.trace
    return plots.elbo(trace.points, trace.ending, wide) if trace and len(trace.points) else None


def marginals(material: Material, wide: bool) -> "Figure | None":
    other = material.reference
    reference = material.labelled(Draws(other.columns, other.draws)) if other else None
    draws = material.labelled(room(material, "marginals"))
    return plots.marginals(draws, reference, wide) if draws.columns else None


def forest(material: Material, wide: bool) -> "Figure | None":
    draws = material.labelled(room(material, "forest"))
    return plots.forest(draws, wide) if draws.columns else None


def trace(material: Material, wide: bool) -> "Figure | None":
    """The runs as chains, in the order of their draws."""
    names = room(material, "trace").columns
    runs = [material.labelled(Draws(names, file.only(names).draws)) for file in material.files]
    return plots.trace(runs, [file.path.name for file in material.files], wide) if names else None


def pairs(material: Material, wide: bool) -> "Figure | None":
    """The columns with the worst k-hat, or the first ones where there is no k-hat."""
    names, labels = worst(material, most(material, "pairs") if wide else NARROW_PAIRS)
    if len(names) < 2:
        return None
    draws = material.draws
    chosen = Draws(tuple(names), draws.rows[:, [draws.columns.index(name) for name in names]])
    return plots.pairs(material.labelled(chosen), labels, importance(material), wide)


def importance(material: Material) -> Floats | None:
    """The log ratios of all draws, where every run has them."""
    found = [ratios for file in material.files if (ratios := file.log_ratios) is not None]
    return np.concatenate(found) if len(found) == len(material.files) else None


def worst(material: Material, count: int) -> tuple[list[str], list[str]]:
    """Names by falling k-hat, and what to write over them."""
    khats = worst_khats(material.files)
    names, label = list(material.draws.columns), material.files[0].labels.of
    if not len(khats):
        return names[:count], [*map(label, names[:count])]
    of = dict(zip(material.files[0].columns, np.nan_to_num(khats, nan=np.inf), strict=True))
    ordered = sorted(names, key=lambda name: -of[name])[:count]
    return ordered, [f"{label(name)}\nk-hat {of[name]:.2f}" for name in ordered]


def covariance(material: Material, wide: bool) -> "Figure | None":
    draws = material.labelled(room(material, "covariance"))
    return plots.covariance(draws, wide) if len(draws.columns) > 1 else None


def predictive(material: Material, wide: bool) -> "Figure | None":
    for name, (y, y_rep) in material.outcomes.items():
        return plots.predictive(y, y_rep, wide, name)
    return None


def ppc(material: Material, wide: bool) -> "Figure | None":
    for name, (y, y_rep) in material.outcomes.items():
        return plots.ppc(y, y_rep, wide, name)
    return None


def replicated_outcomes(
    file: DrawsFile,
    data: Mapping[str, Any],
    simulated: Mapping[str, Floats],
    outcome: str = "",
    replicated: str = "",
) -> dict[str, Replicated]:
    """The outcomes whose replications are among the draws, as `y_rep`, or are simulated, in the data's order.

    `outcome` chooses one, whose replications are called `replicated`. Missing values are left out.
    """
    there = variables(file.columns)
    names = [outcome or "y"] if outcome or replicated else [*data]
    found: dict[str, Replicated] = {}
    for name in names:
        drawn, y = replicated or name + REPLICATED, as_numbers(data.get(name))
        y_rep = reshape(file.draws, file.columns, drawn) if drawn in there else simulated.get(name)
        if y is not None and y_rep is not None and y_rep[0].size == y.size:
            given = ~np.isnan(y.ravel())
            found[name] = Replicated(y.ravel()[given], y_rep.reshape(len(y_rep), -1)[:, given])
    return found


def parts(material: Material, kind: str) -> Iterator[tuple[str, Material]]:
    """The material of each picture of a kind; the name of its outcome where there are several."""
    several = len(material.outcomes) > 1 and KINDS[kind].by_outcome
    for name, found in material.outcomes.items() if several else ():
        yield name, replace(material, outcomes={name: found})
    if not several:
        yield "", material


# --- Captions ------------------------------------------------------------------------------------


class Caption(NamedTuple):
    """What stands above a picture, and how it is to be read."""

    title: str
    reading: str


def always(title: str, reading: str) -> Callable[[Material], Caption]:
    return lambda _: Caption(title, reading)


def of_marginals(material: Material) -> Caption:
    reference = f" In red: {material.reference.path}." if material.reference else ""
    text = f"The marginal density of each column, with its mean and 90% interval.{reference}"
    return Caption("Marginal densities", text)


def of_pairs(material: Material) -> Caption:
    """The columns are the worst only where there is a k-hat to order them by, and shaded only by ratios."""
    shaded = importance(material) is not None
    return Caption(
        "Pairs with the worst k-hat" if is_ordered(material) else "Pairs",
        "Darker draws have larger importance ratios. Where dark draws gather, the approximation misses mass."
        if shaded
        else "The first columns that are not constant, against each other.",
    )


def of_covariance(material: Material) -> Caption:
    """What mean-field does not see, where these are draws of a mean-field q."""
    known = [file.provenance for file in material.files]
    independent = all(about and about.of_q and about.family in INDEPENDENT for about in known)
    return Caption(
        "Covariance",
        "Mean-field has no correlations on the unconstrained scale: correlations here come from "
        "transformations alone."
        if independent
        else "Red: positive correlation. Blue: negative correlation.",
    )


@dataclass(frozen=True)
class Kind:
    """A picture: how it is drawn (None where its material is missing), what it is called, what it needs.

    Where nobody names a picture, those are drawn that are `usual` for the material.
    """

    draw: Callable[[Material, bool], "Figure | None"]
    caption: Callable[[Material], Caption]
    needs: str
    usual: Callable[[Material], bool] = lambda _: True
    by_outcome: bool = False
    """Whether several outcomes have a picture each."""


def has_order(material: Material) -> bool:
    """Whether the order of draws tells anything: of several runs, or of a sampler's."""
    return len(material.files) > 1 or material.files[0].method == "sample"


PAIR = (
    "replicated data, NAME_rep, among the generated quantities, or the program that simulates them (--model "
    "MODEL), and NAME of the same size among the data (--data FILE); for other names --outcome NAME "
    "--replicated NAME"
)
"""What pictures of replicated data need."""

KINDS: Mapping[str, Kind] = {
    "elbo": Kind(
        elbo,
        always(
            "ELBO",
            "If the ELBO was still rising at the end, use more iterations. Triangles are early values below "
            "the picture.",
        ),
        "--trace FILE, the file of --diagnostic-file or a saved fit, of a run whose loop evaluated the ELBO",
    ),
    "marginals": Kind(marginals, of_marginals, "a column that varies"),
    "forest": Kind(
        forest,
        always("Intervals", "Mean, 50% and 90% interval of each column, on one scale."),
        "a column that varies",
    ),
    "trace": Kind(
        trace,
        always("Draws in their order", "One colour per run. Runs that agree overlap, and no column drifts."),
        "a column that varies",
        has_order,
    ),
    "pairs": Kind(pairs, of_pairs, "two columns that vary"),
    "covariance": Kind(covariance, of_covariance, "two columns that vary"),
    "predictive": Kind(
        predictive,
        always(
            "Posterior predictive",
            "The model does not explain data outside of the range of the replicated data.",
        ),
        PAIR,
        by_outcome=True,
    ),
    "ppc": Kind(
        ppc,
        always(
            "Posterior predictive check",
            "Distribution, mean, sd and extremes of the data and of replicated data. A probability near 0 "
            "or 1 marks a feature of the data that the model does not reproduce.",
        ),
        PAIR,
        by_outcome=True,
    ),
}


# --- Reading -------------------------------------------------------------------------------------


def read_trace(path: Path) -> Trace:
    """The ELBO's course from a diagnostic file (CSV), or from what `Fit.save` wrote (JSON).

    Raises:
        DataError: the file holds no such thing.
    """
    text, ending = path.read_text(encoding="utf-8"), "stopped"
    try:
        if path.suffix == ".json":
            record = json.loads(text)
            rows = [(point[0], point[2]) for point in record["trace"]]
            ending = Ending(record["outcome"]["ending"]).value
        else:
            lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
            rows = [(row["iter"], row["ELBO"]) for row in csv.DictReader(lines)]
        points = np.array([(float(k), float(elbo)) for k, elbo in rows]).reshape(-1, 2)
        return Trace(points[np.isfinite(points).all(axis=1)], ending)
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path} holds no ELBO trace; expected what --diagnostic-file wrote (iter,time_in_seconds,ELBO) "
            "or a saved fit (JSON)."
        ) from None


def as_numbers(value: Any) -> Floats | None:
    """Data as an array; None for what is no array of numbers."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
