"""`method=optimize`: the mode."""

from collections import deque
from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from ppl.cmdstan.job import Job
from ppl.methods.maximise.methods import maximise
from ppl.methods.maximise.rules import Rules, SearchPoint, Stop
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.table import tabulate

HEADER = (
    "    Iter      log prob        ||dx||      ||grad||       alpha      alpha0  # evals  Notes ",
    " {0.number:7d}  {0.value:12.6g}  {0.length:12.6g}  {0.slope:12.6g}  {0.alpha:10.4g}"
    "  {0.first_alpha:10.4g}  {0.evaluations:7d}  {0.note} ",
)
CODES = {
    None: 0,
    Stop.PARAMETERS: 10,
    Stop.OBJECTIVE: 20,
    Stop.RELATIVE_OBJECTIVE: 21,
    Stop.GRADIENT: 30,
    Stop.RELATIVE_GRADIENT: 31,
    Stop.ITERATIONS: 40,
    Stop.LINE_SEARCH: -1,
}
"""The column `converged__` of CmdStan 2.39: why the path ends at a point, 0 where it goes on."""
NEWTON_LINE = "Iteration {:2d}. Log joint probability = {:10.6g}. Improved by {:.6g}."


def run(job: Job) -> int:
    """Writes the mode, or with `save_iterations` every iterate; status 1 when none was found."""
    algorithm = job["optimize.algorithm"]
    density = PosteriorTarget(job.posterior, propto=True, jacobian=job["optimize.jacobian"])
    start = job.start(density)
    with np.errstate(all="ignore"):
        steps = maximise(density, start, algorithm, _rules(job))
        report = _with_newton_progress if algorithm == "newton" else _with_progress
        steps = report(steps, job["output.refresh"])
        path = deque(steps, None if job["optimize.save_iterations"] else 1)
    end = path[-1]
    failed = end.stop is Stop.LINE_SEARCH and not end.flat
    print(f"Optimization terminated {'with error' if failed else 'normally'}: \n  {end.reason}")
    table = tabulate(job.posterior, np.array([step.u for step in path]), job.seed)
    rows = np.column_stack([[(step.value, CODES[step.stop]) for step in path], table.rows])
    body = [*job.row_lines(rows), f"# {end.reason}\n"]
    job.write_csv(["lp__", "converged__", *table.columns], body)
    return int(failed)


def _rules(job: Job) -> Rules:
    """The tolerances of the algorithm; Newton's method has none of its own in CmdStan."""
    prefix = f"optimize.{job['optimize.algorithm']}."
    named = {f.name: job[prefix + f.name] for f in fields(Rules) if prefix + f.name in job.config.values}
    return Rules(iter=job["optimize.iter"], **named)


def _with_progress(steps: Iterator[SearchPoint], refresh: int) -> Iterator[SearchPoint]:
    """The steps, of which every `refresh`-th is printed, and those with a note, and the last."""
    header, line = HEADER
    for step in steps:
        due = refresh and (step.number + 1) % refresh == 0
        if not step.number:
            print(f"Initial log joint probability = {step.value:g}")
        if refresh and (step.stop or step.note or due) and step.number:
            print(line.format(step), flush=True)
        if refresh and not step.stop and (not step.number or due):
            print(header)
        yield step


def _with_newton_progress(steps: Iterator[SearchPoint], refresh: int) -> Iterator[SearchPoint]:
    """The steps, each with its gain."""
    before = None
    for step in steps:
        if before is None:
            print(f"Initial log joint probability = {step.value:g}")
        elif refresh:
            print(NEWTON_LINE.format(step.number, step.value, step.value - before.value), flush=True)
        before = step
        yield step
