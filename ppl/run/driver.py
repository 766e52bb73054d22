"""A fit in four steps, each in files of its own.

1. Describe: `posterior.problem` is a record of sizes, data, costs and structure (ppl/density/problem.py).
2. Plan: checks refuse what cannot be fitted, by that record (memory_needed, improper, nonfinite_data); then
   the target is chosen by it, and a start (target, backend, initial).
3. Infer: the recipe of the algorithm runs on the target, once or in processes (checkpoint, processes).
4. Tabulate: draws of R^dim become rows of columns (table).
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Ending, Listener, Phase, Progress, silent
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.target import Target
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.diagnose.spread import spread_of
from ppl.methods.recipes import fit
from ppl.methods.recipes.result import Result
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace
from ppl.run import target as targets
from ppl.run.checkpoint import Checkpoint, CheckpointOptions, journal_of, owner_of, require_same_run
from ppl.run.improper import refuse_improper
from ppl.run.initial import start_for
from ppl.run.memory_needed import memory_required, require_memory
from ppl.run.nonfinite_data import naming_infinite_data, refuse_nan_data
from ppl.run.processes import at_a_time
from ppl.run.table import Table, tabulate
from ppl.system.threads import cores_of

KILLED = "The process of a run ended with status {} before the run did (-9: out of memory). Use fewer runs."
NOTHING_TO_DRAW = (
    "The program declares no parameters, transformed parameters or generated quantities, so there is nothing "
    "to fit or draw. Declare parameters and a model of the data."
)


@dataclass(frozen=True)
class Plan:
    """What inference takes beside a density over R^dim: where it starts, and whose checkpoints it writes."""

    settings: Settings
    start: Init
    owner: Callable[[Settings], Mapping[str, Any]]
    checkpoint: CheckpointOptions | None


class FitDraws(NamedTuple):
    """What a fit leaves: the result of inference, its draws as columns, and what computed the log density.

    Row 0 of the table is the constrained image of the approximation's mean.
    """

    result: Result
    table: Table
    backend: str


@memory_required()
def fit_posterior(
    posterior: LogDensity,
    settings: Settings,
    progress: Listener = silent,
    checkpoint: CheckpointOptions | None = None,
) -> tuple[FitDraws, Checkpoint]:
    """Fit a posterior; the journal of the run stays in its checkpoint until that is discarded.

    Raises:
        InferenceError: the posterior is improper, does not fit in memory, no start has a finite density, or
            the program declares nothing to draw.
        DataError: `init` does not fit the parameters, the checkpoint is of another run, or data that are nan
            or infinite leave no start.
    """
    targets.refuse_unpaired(settings)
    extent = posterior.extent
    if not extent.variables:
        raise InferenceError(NOTHING_TO_DRAW)
    require_memory(extent, settings)
    with targets.threads_of_fit(posterior), naming_infinite_data(posterior.numbers):
        plan, target = plan_of(posterior, settings, checkpoint), targets.target_of(posterior, settings)
        journal = journal_of(checkpoint if settings.runs == 1 else None, settings, plan.owner)
        named = targets.naming(progress, targets.backends_of(target, settings))
        with journal.following(named) as listen:
            result = infer(target, plan, journal, listen)
            draws = draws_of(posterior, target, settings, result, listen=listen)
        if draws.result.outcome.ending is Ending.INTERRUPTED:
            journal.write()
        notes = (*result.notes, *targets.note_of(target), *journal.notes)
        return draws._replace(result=replace(draws.result, notes=notes)), journal


def plan_of(posterior: LogDensity, settings: Settings, checkpoint: CheckpointOptions | None) -> Plan:
    """The plan of a fit, once nothing speaks against it; raises as `fit_posterior` does."""
    owner = partial(owner_of, posterior)
    if settings.sharded:
        require_same_run(owner(settings))
    if settings.minibatch is None:
        whole, plain = targets.whole_and_plain(posterior, settings)
        if settings.algorithm != "optimize":
            refuse_improper(posterior.problem, whole, plain)
        if not settings.sharded:
            refuse_nan_data(posterior.numbers, whole)
    start = start_for(posterior, settings.init, whole=settings.minibatch is None)
    return Plan(settings, start, owner, checkpoint)


def infer(target: Target, plan: Plan, journal: Checkpoint, listen: Listener) -> Result:
    """The result of the one run, whose journal it is, or of the best of several.

    That is the one with the best ELBO, its verdict in the light of all. As many run at a time as may take
    cores; where JAX is asked for, one follows the other. Ctrl-C ends every run where it is, and no more
    begin; each can be resumed from a checkpoint of its own. `listen` receives the reports
    of each run with its number.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    settings = plan.settings
    if settings.runs == 1:
        return fit(target, settings, plan.start, listen, journal)
    tasks = [partial(_one_of_several, k, target, plan) for k in range(settings.runs)]
    cores = 1 if settings.backend == "jax" else cores_of(settings.cores)
    results = list[Result]()
    for several in at_a_time(tasks, listen, KILLED, cores):
        results += several
        if several[-1].outcome.ending is Ending.INTERRUPTED:
            break
    best = max(results, key=lambda result: result.final_elbo)
    ended = [result for result in results if result.outcome.ending is not Ending.INTERRUPTED]
    if len(ended) < settings.runs:
        best = best.stopped(f"interrupted when {len(ended)} of {settings.runs} runs had ended")
    if len(best.draws_u) < 2:
        return best
    spread = spread_of([result.draws_u for result in results], [result.final_elbo for result in results])
    return replace(best, verdict=replace(best.verdict, spread=spread))


def _one_of_several(k: int, target: Target, plan: Plan, progress: Listener) -> Result:
    """Run 0, 1, ... of several."""
    own = replace(plan.settings, seed=plan.settings.seed + k)
    journal = journal_of(plan.checkpoint and plan.checkpoint.of_run(k), own, plan.owner)

    def numbered(report: Progress) -> None:
        progress(replace(report, run=k + 1, runs=own.runs))

    with journal.following(numbered) as listen:
        result = fit(target, own, plan.start, listen, journal)
    journal.write()
    numbered(Progress(Phase.DONE, 0, 0, result.final_elbo))
    return replace(result, notes=(*result.notes, *journal.notes))


def draws_of(
    posterior: LogDensity,
    target: Target,
    settings: Settings,
    result: Result,
    key: int = 0,
    listen: Listener = silent,
) -> FitDraws:
    """The draws of a result as columns, row 0 the image of the mean of q."""
    if posterior.earlier is not None:
        updates = tuple(WeightQuality(*quality) for quality in posterior.earlier.qualities)
        result = replace(result, verdict=replace(result.verdict, updates=updates))
    table = tabulate(posterior, [result.mean_u, *result.draws_u], settings.seed, key, listen)
    verdict = result.verdict
    moved = verdict.moved.earlier_gradients if verdict.moved else 0
    backend = targets.backend_of(target, settings, verdict.made, moved)
    return FitDraws(result.cut(len(table.rows) - 1), table, backend)
