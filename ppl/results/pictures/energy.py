"""The energy of chains beside its change from draw to draw (Betancourt 2016, arXiv:1604.00695)."""

import numpy as np

from ppl.kernel.draws.columns import Floats
from ppl.results.pictures.canvas import FITTED, OTHER, Look, Panels, around, legend, panels, without_heights
from ppl.results.pictures.kind import ENERGY, Kind, always
from ppl.results.pictures.marks import marginal
from ppl.results.pictures.material import Material


def draw(material: Material, look: Look) -> Panels:
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
    draw,
    always(
        "Energy",
        "Where the change is much narrower than the energy (a BFMI below 0.3), chains explore the tails "
        "slowly.",
    ),
    (ENERGY,),
)
