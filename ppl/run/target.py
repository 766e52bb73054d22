"""What a run looks at, as its settings say."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial

from ppl.density.distinct_rows import by_distinct_rows
from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Listener, Phase, Progress
from ppl.kernel.advi.target import Forwarding, Often, Target
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.objective import ArdTarget, MarginalTarget
from ppl.methods.run.phases import POINTS_OF_A_START
from ppl.methods.run.settings import Settings
from ppl.records import replace
from ppl.run.backend import on_backend, rows_on_backend, sharded
from ppl.run.posterior_target import PosteriorTarget
from ppl.system.threads import as_many_threads_as_pay


def target_of(posterior: LogDensity, settings: Settings) -> Target:
    """What a run with these settings looks at.

    `optimize` leaves the Jacobian out unless it is asked for, `minibatch` splits the target by rows, `ard`
    takes a prior out of it, `marginal` marks what is integrated out.

    Raises:
        InferenceError: the target does not split by rows, has no such prior, or is not one for JAX.
    """
    if settings.ard is not None:
        stripped, places = posterior.without_prior(settings.ard)
        return ArdTarget(target_of(stripped, replace(settings, ard=None, algorithm="dsvi")), places)
    if settings.marginal is not None:
        whole = target_of(posterior, replace(settings, marginal=None))
        return MarginalTarget(whole, tuple(map(int, posterior.unconstrained(settings.marginal))))
    choice = settings.jacobian
    jacobian = settings.algorithm != "optimize" if choice is None else choice
    if settings.sharded:
        return sharded(posterior, settings, jacobian)
    if settings.minibatch is not None:
        return rows_on_backend(posterior, settings)
    return on_backend(PosteriorTarget(by_distinct_rows(posterior), jacobian), settings)


def whole_and_plain(posterior: LogDensity, settings: Settings) -> tuple[Target, Target]:
    """The density that checks look at, and that without the log-Jacobian: of all rows on all processes."""
    if settings.sharded and posterior.model.compilation.sharded:
        return sharded(posterior, settings), sharded(posterior, settings, jacobian=False)
    return PosteriorTarget(posterior), PosteriorTarget(posterior, jacobian=False)


def threads_of_fit(posterior: LogDensity) -> AbstractContextManager[None]:
    """Every draw is made on as many threads as the fit, for BLAS sums in another order on others."""
    return as_many_threads_as_pay(vars(posterior.d), lambda: posterior.width)


def refuse_unpaired(settings: Settings) -> None:
    """Raises InferenceError where a parameter is named for another algorithm, or none is for its own."""
    if settings.marginal is not None and settings.algorithm != "optimize":
        raise InferenceError(
            'marginal, the parameter to integrate out, requires algorithm = "optimize"; '
            f"here algorithm = {settings.algorithm!r} and marginal = {settings.marginal!r}."
        )
    if (settings.ard is not None) != (settings.algorithm == "dsvi-ard"):
        raise InferenceError(
            'algorithm = "dsvi-ard" requires ard, the name of a parameter vector, and no other algorithm has '
            "that setting; "
            f"here algorithm = {settings.algorithm!r} and ard = {settings.ard!r}."
        )
    if settings.sharded and (settings.backend == "autograd" or settings.runs > 1):
        raise InferenceError(
            'sharded distributes one run over devices by JAX: set backend to "jax" or "auto", and runs to 1.'
        )


def backend_of(target: Target, settings: Settings, made: DrawSource, points: int = 0) -> str:
    """What computes the log density in a run with these settings: "autograd", "jax" or "autograd, jax".

    Both where only draws that go on being moved after so many points, or a start that no field serves, repay
    what JAX takes to compile.
    """
    if settings.sharded:
        return "jax"
    if settings.backend != "auto" or settings.runs > 1:
        return "autograd" if settings.backend == "auto" else settings.backend
    while isinstance(target, Forwarding):
        target = target.target
    if not isinstance(target, PosteriorTarget):
        return "autograd" if settings.minibatch is not None else "jax"
    if made is not DrawSource.NESTED:
        points = max(points, POINTS_OF_A_START)
    used = target.view(Often(points)) or target
    return "autograd" if isinstance(used, PosteriorTarget) else "autograd, jax"


def backends_of(target: Target, settings: Settings) -> Callable[[Phase], str]:
    """The same for each stage of a run, by whether a field was integrated out before it."""
    of = cache(partial(backend_of, target, settings))
    first = Phase.NESTED, Phase.VARIABLES, Phase.DONE
    return lambda phase: of(DrawSource.NESTED if phase in first else DrawSource.RESAMPLED)


def naming(listen: Listener, backend: Callable[[Phase], str]) -> Listener:
    """A listener whose reports name a backend other than autograd, unless they have a note of their own."""

    def named(report: Progress) -> None:
        name = backend(report.phase)
        listen(report if name == "autograd" else replace(report, note=report.note or f"backend {name}"))

    return named


def note_of(target: Target) -> list[str]:
    """What the user should know of a target."""
    return [target.note] if isinstance(target, PosteriorTarget) and target.note else []
