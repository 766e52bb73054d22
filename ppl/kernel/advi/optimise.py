"""The one stochastic loop."""

import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.context import Context
from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.estimators.reparameterised import Estimator
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.fused_steps import fused_steps
from ppl.kernel.advi.outcome import Ending, Outcome, Phase, Progress, interrupted
from ppl.kernel.advi.steps.step_rule import Averaging, StepRule
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, Reading, StoppingRule, read
from ppl.kernel.advi.subsampling import ALL_ROWS, RowChoice
from ppl.kernel.advi.target import Target
from ppl.records import dataclass

STAGE = "loop"


class StepParts(Protocol):
    """The parts of an algorithm that make a step of a gradient; compiled code is given no others."""

    @property
    def family(self) -> Family: ...
    @property
    def step_rule(self) -> StepRule[Any]: ...
    @property
    def averaging(self) -> Averaging: ...


@dataclass(frozen=True)
class Algorithm:
    """The parts that fill the loop's slots, and how often each is used."""

    family: Family
    estimator: Estimator
    step_rule: StepRule[Any]
    stopping: StoppingRule[Any]
    averaging: Averaging
    iterations: int
    grad_samples: int
    elbo_samples: int
    eval_elbo: int
    rows: RowChoice = ALL_ROWS


class TracePoint(NamedTuple):
    """An ELBO on the way: iteration, seconds since the loop began, ELBO in nats."""

    iteration: int
    seconds: float
    elbo: float


class IterationState(NamedTuple):
    """The state that an iteration changes: `params` is the iterate, `average` the estimate.

    `bounds` is the sum of the instantaneous bounds since the last checkpoint.
    """

    iteration: int
    params: Floats
    average: Floats
    gradient: Floats
    step_state: Any
    bounds: float


class Run(NamedTuple):
    """The whole state of a run between two iterations, with the fields of `IterationState` among its own."""

    iteration: int
    params: Floats
    average: Floats
    gradient: Floats
    step_state: Any
    stopping_state: Any
    trace: tuple[TracePoint, ...]
    best_elbo: float
    best: Floats
    dropped: int
    bounds: float = 0.0

    @property
    def state(self) -> IterationState:
        return IterationState(
            self.iteration, self.params, self.average, self.gradient, self.step_state, self.bounds
        )


def begin(algorithm: Algorithm, params: Floats) -> Run:
    """The state before the first iteration, at `params` (size,)."""
    step_state, stopping_state = algorithm.step_rule.init(params), algorithm.stopping.init()
    return Run(0, params, params, np.zeros_like(params), step_state, stopping_state, (), -math.inf, params, 0)


def stepped(
    parts: StepParts, state: IterationState, gradient: Floats, log_density: float, xp: Namespace = NUMPY
) -> IterationState:
    """The state after a step along the gradient (size,) that came with a mean log density of draws."""
    params, step_state = parts.step_rule.step(state.step_state, state.params, gradient, xp)
    iteration = state.iteration + 1
    average = parts.averaging.update(state.average, params, iteration)
    bounds = state.bounds + log_density + parts.family.entropy(state.params, xp)
    return IterationState(iteration, params, average, gradient, step_state, bounds)


def advance(algorithm: Algorithm, target: Target, run: Run, rng: np.random.Generator) -> Run:
    """One iteration: estimate the gradient, on the rows of this iteration, and step.

    Raises InferenceError when no gradient can be had or the step leaves the real numbers.
    """
    on_rows = algorithm.rows.view(target, run.iteration)
    estimate = algorithm.estimator(on_rows, algorithm.family, run.params, algorithm.grad_samples, rng)
    state = stepped(algorithm, run.state, estimate.gradient, estimate.log_density)
    if not np.isfinite(state.params).all():
        raise InferenceError("the step led to parameters that are not finite")
    return run._replace(**state._asdict(), dropped=run.dropped + estimate.dropped)


def onward(
    algorithm: Algorithm, target: Target, run: Run, rng: np.random.Generator, end: int
) -> Iterator[Run]:
    """The run on its way to iteration `end`: by fused steps, then one by one where the target takes none.

    Raises InferenceError as `advance` does.
    """
    while run.iteration < end and (ahead := fused_steps(algorithm, target, run, rng, end)):
        yield (run := ahead)
    while run.iteration < end:
        yield (run := advance(algorithm, target, run, rng))


def optimise(
    algorithm: Algorithm, target: Target, params: Floats, context: Context[Any]
) -> tuple[Run, Outcome]:
    """Climb the ELBO from `params` until the stopping rule, the budget, trouble or Ctrl-C ends the run.

    The answer is the `average` of the run that is returned. When the run diverges, that is the one with the
    best ELBO seen. The journal keeps every checkpoint, and the run goes on from the last one in it.
    """
    rngs = (context.streams.gradients, context.streams.elbo)
    run: Run = context.journal.recall(STAGE, *rngs) or begin(algorithm, params)
    began = perf_counter() - (run.trace[-1].seconds if run.trace else 0.0)
    seen = algorithm.rows.on_the_way(target)
    try:
        while run.iteration < algorithm.iterations:
            checked = (run.iteration // algorithm.eval_elbo + 1) * algorithm.eval_elbo
            for ahead in onward(algorithm, target, run, rngs[0], min(algorithm.iterations, checked)):
                run = ahead
            if run.iteration % algorithm.eval_elbo:
                break
            run, reading = _check(algorithm, seen, run, rngs[1], began)
            changes = (reading.delta_mean, reading.delta_median, reading.note)
            elbo = run.trace[-1].elbo
            context.listen(Progress(Phase.LOOP, run.iteration, algorithm.iterations, elbo, *changes))
            if reading.outcome:
                return _end(run, reading.outcome)
            context.journal.record(STAGE, run, *rngs)
    except KeyboardInterrupt:
        return run, interrupted(f"at iteration {run.iteration}")
    except InferenceError as error:
        return _end(run, Outcome(Ending.DIVERGED, f"at iteration {run.iteration + 1}, {error}"))
    reason = f"all {algorithm.iterations} iterations were used before the stopping rule was met"
    return run, Outcome(Ending.BUDGET_REACHED, reason)


def _check(
    algorithm: Algorithm, target: Target, run: Run, rng: np.random.Generator, began: float
) -> tuple[Run, Reading]:
    """Estimate the ELBO and ask the stopping rule."""
    elbo = estimate_elbo(target, algorithm.family, run.average, algorithm.elbo_samples, rng)
    bound = run.bounds / algorithm.eval_elbo
    checkpoint = Checkpoint(run.iteration, elbo.value, run.average, run.gradient, run.params, bound)
    state, reading = read(algorithm.stopping, run.stopping_state, checkpoint)
    trace = (*run.trace, TracePoint(run.iteration, perf_counter() - began, elbo.value))
    dropped = run.dropped + elbo.dropped
    run = run._replace(stopping_state=state, trace=trace, dropped=dropped, bounds=0.0)
    if elbo.value > run.best_elbo:
        run = run._replace(best_elbo=elbo.value, best=run.average)
    return run, reading


def _end(run: Run, outcome: Outcome) -> tuple[Run, Outcome]:
    if outcome.ending is Ending.DIVERGED:
        return run._replace(average=run.best), outcome
    return run, outcome
