"""Draws in their order, of runs and chains: each column's values, and their ranks."""

from itertools import cycle

import numpy as np

from ppl.results.pictures.canvas import COLOURS, Look, Panels, around, legend, panels
from ppl.results.pictures.kind import COLUMN, RUNS, Kind, always
from ppl.results.pictures.marks import band_of_ranks, ecdf_differences
from ppl.results.pictures.material import Draws, Material


def has_order(material: Material) -> bool:
    """Whether the order of draws tells anything: of several runs, or of a sampler's."""
    return len(material.files) > 1 or material.files[0].method == "sample"


def draw(material: Material, look: Look) -> Panels:
    """A line for each run, one over the other."""
    names = TRACE_KIND.columns(material).columns
    runs = [material.shown(Draws(file.columns, file.draws).only(names)) for file in material.files]
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
