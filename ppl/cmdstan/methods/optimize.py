"""`method=optimize`: the mode."""

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from ppl.cmdstan.density import Density
from ppl.cmdstan.job import Job
from ppl.cmdstan.optimise import Optimisation, Rules, optimise
from ppl.results.fits.draws import tabulate


def run(job: Job) -> int:
    """Writes the mode, or with `save_iterations` every iterate; status 1 when none was found."""
    algorithm = job["optimize.algorithm"]
    job.note_unused(*(f"optimize.{algorithm}.{name}" for name in ("init_alpha", "tol_rel_grad")))
    density = Density(job.posterior, jacobian=job["optimize.jacobian"])
    start = job.start(density)
    print(f"Initial log joint probability = {density.log_density(start):g}")
    print("    Iter      log prob        ||dx||  # evals")
    path, ending = optimise(density, start, algorithm, _rules(job), _shown(job["output.refresh"]))
    _show(path)
    print(f"Optimization terminated {'normally' if ending.normal else 'with error'}: \n  {ending.reason}")
    kept = slice(None) if job["optimize.save_iterations"] else slice(-1, None)
    table = tabulate(job.posterior, np.array(path.points[kept]), job.seed)
    rows = np.column_stack([path.values[kept], table.rows])
    job.write_csv(["lp__", *table.columns], job.row_lines(rows))
    return 0 if ending.normal else 1


def _rules(job: Job) -> Rules:
    """The tolerances of the algorithm; Newton's method has none of its own in CmdStan."""
    prefix = f"optimize.{job['optimize.algorithm']}."
    named = {f.name: job[prefix + f.name] for f in fields(Rules) if prefix + f.name in job.values}
    return Rules(iterations=job["optimize.iter"], **named)


def _shown(refresh: int) -> Callable[[Optimisation], None]:
    def watch(path: Optimisation) -> None:
        if refresh and path.steps % refresh == 0:
            _show(path)

    return watch


def _show(path: Optimisation) -> None:
    moved = path.moved if path.steps else 0.0
    print(f"{path.steps:>8}{path.values[-1]:>14.6g}{moved:>14.6g}{path.evaluations:>9}", flush=True)
