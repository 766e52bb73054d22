"""Draws in their order, of runs and chains: each column's values, and their ranks."""

from itertools import cycle

import numpy as np

from ppl.floats import Floats
from ppl.results.pictures.canvas import (
    COLOURS,
    FITTED,
    GREY,
    OTHER,
    Look,
    Panels,
    around,
    legend,
    panels,
    without_heights,
)
from ppl.results.pictures.kind import COLUMN, ELBO_TRACE, ENERGY, RUNS, Kind, always
from ppl.results.pictures.marks import band_of_ranks, ecdf_differences, marginal
from ppl.results.pictures.material import ElboTrace, Material, NamedDraws


def draw_energy(material: Material, look: Look) -> Panels:
    """A panel for each chain, with its fraction of missing information."""
    files = material.files
    each = panels(look, len(files), min(len(files), 4 if look.wide else 2), 1.9)
    for file, axes in zip(files, each, strict=True):
        energy = file.internal["energy__"]
        marginal(axes, energy - energy.mean(), FITTED, "energy", True)
        marginal(axes, np.diff(energy), OTHER, "change", False)
        without_heights(axes, title=f"{file.path.name}: BFMI {bfmi(energy):.2f}", ylim=(0, None))
        axes.locator_params(axis="x", nbins=5)
    legend(each)
    around(each, "energy less its mean, and its change from draw to draw", "density")
    return each


def bfmi(energy: Floats) -> float:
    """The Bayesian fraction of missing information of a chain."""
    return float(np.square(np.diff(energy)).sum() / np.square(energy - energy.mean()).sum())


ENERGY_KIND = Kind(
    "energy",
    draw_energy,
    always(
        "Energy",
        "Where the change is much narrower than the energy (a BFMI below 0.3), chains explore the tails "
        "slowly.",
    ),
    (ENERGY,),
)


def draw_elbo(material: Material, look: Look) -> Panels:
    trace = material.trace or ElboTrace(np.zeros((0, 2)))
    each = panels(look, 1, 1, 3.2 if look.wide else 2.8)
    axes, (iterations, values) = each[0], trace.points.T
    axes.plot(iterations, values, color=FITTED, marker="o", markersize=2.5, linewidth=1)
    late = values[len(values) // 4 :]
    spread = max(float(np.ptp(late)), 1.0)
    lowest = float(late.min()) - 0.25 * spread
    axes.set_ylim(min(lowest, values[-1] - 0.25 * spread), float(values.max()) + 0.25 * spread)
    below = values < lowest
    if below.any():
        axes.plot(iterations[below], np.full(below.sum(), axes.get_ylim()[0]), "v", color=GREY, clip_on=False)
    axes.axvline(iterations[-1], color=OTHER, linewidth=1, linestyle="--")
    axes.annotate(
        f"{trace.ending} at {iterations[-1]:g}",
        (iterations[-1], 0.04),
        xycoords=("data", "axes fraction"),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        color=OTHER,
    )
    axes.set(xlabel="iteration", ylabel="ELBO (nats)", title="ELBO by iteration")
    return each


ELBO = Kind(
    "elbo",
    draw_elbo,
    always(
        "ELBO",
        "If the ELBO was still rising at the end, use more iterations. Triangles are early values below "
        "the picture.",
    ),
    (ELBO_TRACE,),
    values="y",
)


def has_order(material: Material) -> bool:
    """Whether the order of draws tells anything: of several runs, or of a sampler's."""
    return len(material.files) > 1 or material.files[0].method == "sample"


def draw(material: Material, look: Look) -> Panels:
    """A line for each run, one over the other."""
    names = TRACE_KIND.columns(material).columns
    runs = [material.shown(NamedDraws(file.columns, file.draws).only(names)) for file in material.files]
    each = panels(look, len(names), min(len(names), 2 if look.wide else 1), 1.5)
    for k, (name, axes) in enumerate(zip(runs[0].columns, each, strict=True)):
        for run, file, colour in zip(runs, material.files, cycle(COLOURS), strict=False):
            values = np.where(np.isfinite(run.rows[:, k]), run.rows[:, k], np.nan)
            axes.plot(
                np.arange(1, len(values) + 1), values, color=colour, linewidth=0.5, label=file.path.name
            )
        axes.set(title=name, xlim=(1, max(2, *(len(run.rows) for run in runs))))
        if not look.log:
            axes.locator_params(axis="y", nbins=4)
    if len(runs) > 1:
        legend(each)
    around(each, "draw", material.value)
    return each


def draw_ranks(material: Material, look: Look) -> Panels:
    """The ECDF of the ranks that each run's draws have among all, less the uniform one."""
    columns = RANK.columns(material)
    lengths = [len(file.draws) for file in material.files]
    each = panels(look, len(columns.columns), min(len(columns.columns), 3 if look.wide else 2), 1.7)
    band, chain = band_of_ranks(sum(lengths), min(lengths)), np.repeat(np.arange(len(lengths)), lengths)
    for values, name, axes in zip(columns.rows.T, material.shown(columns).columns, each, strict=True):
        order = np.random.default_rng(1).permutation(len(values))  # equal values have their ranks at random
        ranks = np.empty(len(values))
        ranks[order[np.argsort(values[order], kind="stable")]] = (np.arange(len(values)) + 0.5) / len(values)
        runs = zip(range(len(lengths)), material.files, cycle(COLOURS), strict=False)
        ecdf_differences(axes, [(ranks[chain == k], f.path.name, colour) for k, f, colour in runs], band)
        axes.set(title=name)
        axes.locator_params(axis="y", nbins=4)
    legend(each)
    around(each, "rank, as a share of all draws", "difference of the ECDF from uniform")
    return each


TRACE_KIND = Kind(
    "trace",
    draw,
    always("Draws in their order", "One colour per run. Runs that agree overlap, and no column drifts."),
    values="y",
    room=(12, 100),
    usual=has_order,
)
RANK = Kind(
    "rank",
    draw_ranks,
    always(
        "Ranks by run",
        "The distribution of the ranks of each run's draws among all draws, less the uniform one. Grey: 95% "
        "of independent draws of one distribution. A line outside is a run that differs.",
    ),
    (COLUMN, RUNS),
    room=(12, 100),
)
