"""The driver of a fit: what is checked first, one run or several, and their draws as columns."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple

from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.progress import Listener, Progress, silent
from ppl.kernel.advi.start import Init
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.recipes.result import Result
from ppl.methods.run.settings import Settings
from ppl.run import target as targets
from ppl.run.checkpoint import Checkpoint, CheckpointOptions, fit_with, journal_of, require_same_run
from ppl.run.improper import refuse_improper
from ppl.run.initial import start_for
from ppl.run.memory_needed import memory_required, require_memory
from ppl.run.nonfinite_data import naming_infinite_data, refuse_nan_data
from ppl.run.runs import best_of
from ppl.run.table import Table, tabulate
from ppl.system.threads import as_many_threads_as_pay

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
