"""CmdStan's methods, one file each: a job in, files and an exit status out."""

from collections.abc import Callable, Mapping

from ppl.cmdstan.job import Job
from ppl.cmdstan.methods import (
    diagnose,
    generate_quantities,
    laplace,
    log_prob,
    optimize,
    pathfinder,
    sample,
    variational,
)

METHODS: Mapping[str, Callable[[Job], int]] = {
    "sample": sample.run,
    "optimize": optimize.run,
    "variational": variational.run,
    "diagnose": diagnose.run,
    "generate_quantities": generate_quantities.run,
    "pathfinder": pathfinder.run,
    "log_prob": log_prob.run,
    "laplace": laplace.run,
}
