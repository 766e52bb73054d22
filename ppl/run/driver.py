"""The driver of a fit: what is checked first, one run or several, and their draws as columns."""

from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Ending, Listener, Phase, Progress, silent
from ppl.kernel.advi.start import Init
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.diagnose.spread import spread_of
from ppl.methods.recipes.result import Result
from ppl.methods.run.settings import Settings
from ppl.run import target as targets
from ppl.run.checkpoint import Checkpoint, CheckpointOptions, fit_with, journal_of, require_same_run
from ppl.run.improper import refuse_improper
from ppl.run.initial import start_for
from ppl.run.memory_needed import memory_required, require_memory
from ppl.run.nonfinite_data import naming_infinite_data, refuse_nan_data
from ppl.run.processes import at_a_time
from ppl.run.table import Table, tabulate
from ppl.run.target import target_of
from ppl.system.threads import as_many_threads_as_pay, cores_of

KILLED = "The process of a run ended with status {} before the run did (-9: out of memory). Use fewer runs."


def best_of(
    posterior: LogDensity,
    settings: Settings,
    start: Any,
    progress: Listener,
    checkpoint: CheckpointOptions | None = None,
) -> Result:
    """The run with the best ELBO among `settings.runs`, its verdict in the light of all.

    As many run at a time as may take cores; where JAX is asked for, one follows the other. Ctrl-C ends every
    run where it is, and no more begin; with `checkpoint`, each can be resumed from a checkpoint of its own.
    `progress` receives the reports of each run with its number.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    tasks = [partial(_fitted, k, posterior, settings, start, checkpoint) for k in range(settings.runs)]
    cores = 1 if settings.backend == "jax" else cores_of(settings.cores)
    results = list[Result]()
    for several in at_a_time(tasks, progress, KILLED, cores):
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


def _fitted(
    k: int,
    posterior: LogDensity,
    settings: Settings,
    start: Any,
    checkpoint: CheckpointOptions | None,
    progress: Listener,
) -> Result:
    """Run 0, 1, ... of several."""
    own = replace(settings, seed=settings.seed + k)

    journal = journal_of(checkpoint and checkpoint.of_run(k), posterior, own)

    def listen(report: Progress) -> None:
        journal.write_in_time()
        progress(replace(report, run=k + 1, runs=settings.runs))

    try:
        result = fit_with(journal, target_of(posterior, own), own, start, listen)
    except SystemExit:
        journal.write()
        raise
    journal.write()
    listen(Progress(Phase.DONE, 0, 0, result.final_elbo))
    return replace(result, notes=(*result.notes, *journal.notes))


NOTHING_TO_DRAW = (
    "The program declares no parameters, transformed parameters or generated quantities, so there is nothing "
    "to fit or draw. Declare parameters and a model of the data."
)


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
    if not posterior.declared(include_tp=True, include_gq=True):
        raise InferenceError(NOTHING_TO_DRAW)
    require_memory(posterior, settings)
    if settings.sharded:
        require_same_run(posterior, settings)
    if settings.minibatch is None:
        if settings.algorithm != "optimize" and posterior.earlier is None:
            refuse_improper(targets.density_of_all(posterior, settings))
        if not settings.sharded:
            refuse_nan_data(posterior)
    start = start_for(posterior, settings.init, whole=settings.minibatch is None)
    with threads_of_fit(posterior), naming_infinite_data(posterior):
        if settings.runs > 1:
            # The journals are those of other processes, which have written them.
            best = best_of(posterior, settings, start, progress, checkpoint)
            return draws_of(posterior, settings, best, listen=progress), Checkpoint(None)
        return _one_run(posterior, settings, start, progress, checkpoint)


def _one_run(
    posterior: LogDensity,
    settings: Settings,
    start: Init,
    progress: Listener,
    checkpoint: CheckpointOptions | None,
) -> tuple[FitDraws, Checkpoint]:
    journal, target = journal_of(checkpoint, posterior, settings), targets.target_of(posterior, settings)
    tell = targets.naming(progress, targets.backends_of(posterior, settings))

    def listen(report: Progress) -> None:
        journal.write_in_time()
        tell(report)

    try:
        result = fit_with(journal, target, settings, start, listen)
        found = draws_of(posterior, settings, result, listen=listen)
    except (KeyboardInterrupt, SystemExit):
        journal.write()
        raise
    if found.result.outcome.ending is Ending.INTERRUPTED:
        journal.write()
    notes = (*result.notes, *targets.note_of(target), *journal.notes)
    return found._replace(result=replace(found.result, notes=notes)), journal


def threads_of_fit(posterior: LogDensity) -> AbstractContextManager[None]:
    """Every draw is made on as many threads as the fit, for BLAS sums in another order on others."""
    return as_many_threads_as_pay(vars(posterior.d), lambda: posterior.width)


def draws_of(
    posterior: LogDensity, settings: Settings, result: Result, key: int = 0, listen: Listener = silent
) -> FitDraws:
    """The draws of a result as columns, row 0 the image of the mean of q."""
    if posterior.earlier is not None:
        updates = tuple(WeightQuality(*quality) for quality in posterior.earlier.qualities)
        result = replace(result, verdict=replace(result.verdict, updates=updates))
    table = tabulate(posterior, [result.mean_u, *result.draws_u], settings.seed, key, listen)
    verdict = result.verdict
    moved = verdict.moved.earlier_gradients if verdict.moved else 0
    backend = targets.backend_of(posterior, settings, verdict.made, moved)
    return FitDraws(result.cut(len(table.rows) - 1), table, backend)
