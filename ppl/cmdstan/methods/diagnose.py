"""`method=diagnose`: the gradient against finite differences at the start."""

from collections.abc import Iterator

import numpy as np

from ppl.cmdstan.job import Job
from ppl.files import write_whole
from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.results.files.config import comment_lines
from ppl.run.posterior_target import PosteriorTarget


def run(job: Job) -> int:
    """Writes and shows the comparison; status 1 when an error is above `error`."""
    density = PosteriorTarget(job.posterior, propto=True)
    u = job.start(density)
    value, gradient = density.log_density_gradient(u)
    difference = central_differences(density, u, job["diagnose.gradient.epsilon"])
    lines = list(_lines(value, u, gradient, difference))
    print("\nTEST GRADIENT MODE", *lines, sep="\n")
    write_whole(job["output.file"], [*comment_lines(job.config), *(f"# {line}\n" for line in lines)])
    failed = int((np.abs(gradient - difference) > job["diagnose.gradient.error"]).sum())
    return int(failed > 0)


def central_differences(target: Target, u: Floats, step: float) -> Floats:
    """The gradient (dim,) from two values a coordinate."""
    steps = step * np.eye(len(u))
    pairs = [(target.log_density(u + h), target.log_density(u - h)) for h in steps]
    return np.array([(ahead - behind) / (2 * step) for ahead, behind in pairs])


def _lines(value: float, u: Floats, gradient: Floats, difference: Floats) -> Iterator[str]:
    yield ""
    yield f" Log probability={value:g}"
    yield ""
    yield f"{'param idx':>10}{'value':>16}{'model':>16}{'finite diff':>16}{'error':>16}"
    for k, (at, model, finite) in enumerate(zip(u, gradient, difference, strict=True)):
        yield f"{k:>10}{at:>16.6g}{model:>16.6g}{finite:>16.6g}{model - finite:>16.6g}"
