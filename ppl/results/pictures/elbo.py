"""The ELBO by iteration, with the place where the run stopped."""

import numpy as np

from ppl.results.pictures.canvas import FITTED, GREY, OTHER, Look, Panels, panels
from ppl.results.pictures.kind import ELBO_TRACE, Kind, always
from ppl.results.pictures.material import Material, Trace


def draw(material: Material, look: Look) -> Panels:
    trace = material.trace or Trace(np.zeros((0, 2)))
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
    draw,
    always(
        "ELBO",
        "If the ELBO was still rising at the end, use more iterations. Triangles are early values below "
        "the picture.",
    ),
    (ELBO_TRACE,),
    values="y",
)
