"""Which backend computes a log density: autograd, always there, or JAX, the extra "jax"."""

from collections.abc import Callable, Hashable
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import Any

import numpy as np

from ppl.data.blocks import is_mapped
from ppl.density.log_density import LogDensity
from ppl.density.problem import Problem
from ppl.errors import InferenceError, MissingPackage
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.kernel.advi.target import Target
from ppl.late import LateModule
from ppl.memory import ARRAY_SIZES, available
from ppl.methods.run.phases import integrates_fields
from ppl.methods.run.settings import SampleSettings, Settings
from ppl.records import dataclass, replace
from ppl.run.memory_needed import numbers_of, numbers_of_chains
from ppl.run.posterior_target import PosteriorTarget, TwoBackends
from ppl.system.distribution import requirements
from ppl.system.threads import cores_of

compiled, batches = LateModule("ppl.jax_backend.target"), LateModule("ppl.jax_backend.batches")
devices, jit = LateModule("ppl.jax_backend.mesh"), LateModule("ppl.jax_backend.jit")
rows = LateModule("ppl.density.rows")


@dataclass(frozen=True)
class JaxPays:
    """From which size on a program is one for JAX, where nobody chose the backend."""

    recurrence: int = 3000
    """Calls of a recurrence, those of a step times the numbers in an array, of which JAX runs ten while
    autograd runs one. A default fit takes 500 gradients at one point each; JAX takes four seconds to import
    and compile. Of ARMA(1,1), with three calls a step, and of GARCH(1,1), with four, it took 5.6 and 7.3 s
    of CPU for 1,000 times where autograd took 4.2 and 7.1; of a Kalman filter with 17 calls a step and two
    states 1.8 for 50 times where that took 12.
    """

    matrix: int = 1_000_000
    """Numbers in a matrix of data, which JAX reads once for a batch of points."""

    width: int = 10_000
    """Rows, where no field is integrated out. Default fits of 30,000 rows by autograd and JAX took 9.2 and
    4.2 s of CPU for a Weibull regression, 9.4 and 6.7 for a mixture of two normals, 3.5 and 3.0 for a
    regression with Student's t; by a field, with 50 groups, 3.7 and 6.3 for Poisson effects, 3.9 and 7.9 for
    binary ones, 7.9 and 21.6 for negative binomial ones. Where a field was looked for `work` counts.
    """

    work: int = 2**25
    """Numbers that a fit has worked through, and is not done, when JAX repays the second or so that it takes
    to import and to compile: autograd takes about as long for so many, 35 ns each (a mixture of two normals
    of 2,000 rows, GARCH(1,1) of 400 times), and JAX a third to a tenth of that.
    """

    numbers_a_step: int = 20
    """Numbers that take as long as a step of a loop that stayed one, 0.7 microseconds."""

    memory: int = 1 << 30
    """Bytes that JAX takes for itself: a fit of 100,000 rows has 1.2 GB of address space more with it."""

    dimensions: int = 3000
    """Parameters, where draws are neither moved nor made by a field: at 512 points gradients of 2,004 (a
    CAR model) take JAX 0.4 of the time, of 3,003 (a horseshoe) 0.2, as it does not write every elementwise
    operation of all points. By a field 4,000 effects took autograd 11.4 s and JAX 13.9, 10,000 28.5 and 34.9.
    """

    most_calls: int = 1000
    """Calls written in a program, above which JAX is for chains alone: it traces each several times, for some
    milliseconds. Of 3,000 scalar parameters with a statement each it had compiled no gradient after 100 s of
    CPU; a whole fit by autograd takes 15 s.
    """


JAX_PAYS = JaxPays()


def on_backend(target: PosteriorTarget, settings: Settings) -> Target:
    """The target as the backend that `settings` names computes it; "auto" takes JAX where it `jax_pays`; if
    that is for its size alone, after a field was looked for.

    Raises:
        InferenceError: JAX is asked for by name, and is not there, or cannot run the program.
    """
    problem = target.posterior.problem
    if settings.backend == "jax" and problem.is_updated:
        raise InferenceError('An updated fit is computed by autograd: omit backend = "jax".')
    auto = settings.backend == "auto"
    by_field = integrates_fields(settings) and not jax_pays_at_any_size(problem, settings)
    pays = auto and not by_field and jax_pays(problem, settings)
    if settings.backend == "jax" or (pays and has_room(numbers_of(problem.extent, settings))):
        return by_jax(target, settings)
    return replace(target, faster=partial(after, target, settings)) if auto else target


def by_jax(target: PosteriorTarget, settings: Settings) -> Target:
    """The target by JAX; what "auto" leaves to autograd, because JAX cannot run it, says so in its `note`."""
    try:
        by_jit = jax_target(target, settings)
    except NotTraceable as why:
        if settings.backend == "jax":
            raise refusal(why) from None
        return replace(target, note=f"backend: autograd, because {why}.")
    return by_both(target, by_jit) if settings.backend == "auto" and settings.device == "cpu" else by_jit


def by_both(target: PosteriorTarget, compiled: Target) -> Target:
    """That by JAX; of differential equations at one point alone, where NumPy solves all points at once."""
    posterior = target.posterior
    at_once = posterior.log_joint(False, target.jacobian).values_at_once
    if at_once is None or not posterior.model.traits.solves_equations:
        return compiled
    return TwoBackends(target, compiled)


def jax_target(target: PosteriorTarget, settings: Settings) -> Target:
    """The target by JAX; NotTraceable where that cannot run the program."""
    traits, device = target.posterior.model.traits, ready(settings, target.posterior.width)
    quick = (settings.quick_jit or traits.solves_equations) and settings.device == "cpu"
    key = target.jacobian, device, quick
    shared: Any = cached(target.posterior, key, lambda: compiled.compiled_target(target.posterior, *key))
    return replace(shared, cores=cores_of(settings.cores))


def after(target: PosteriorTarget, settings: Settings, points: int) -> Target | None:
    """The target by JAX if so many points, or more after as many, are computed first by it, its compilation
    included.

    How much memory is free is read only then: it takes a tenth of a small fit.
    """
    problem = target.posterior.problem
    pays = points >= points_that_pay(problem, target.width) and is_soon_compiled(problem)
    room = pays and is_possible(problem) and has_room(numbers_of(problem.extent, settings))
    return by_jax(target, settings) if room else None


def rows_on_backend(posterior: LogDensity, settings: Settings) -> Target:
    """The same for the posterior split by rows, which "auto" leaves to autograd."""
    split = partial(rows.by_rows, posterior, settings.rows)
    if settings.backend != "jax":
        return cached(posterior, settings.rows, split)
    device = ready(settings)
    try:
        return cached(posterior, (settings.rows, device), lambda: batches.compiled_by_rows(split(), device))
    except NotTraceable as why:
        raise refusal(why) from None


def sharded(posterior: LogDensity, settings: Settings, jacobian: bool = True) -> Target:
    """The posterior with its rows spread over all devices of JAX's; by minibatches where they are asked for.

    Raises:
        InferenceError: JAX is not there, or the rows cannot be spread; the message says why.
    """
    ready(settings)
    mesh = devices.mesh_of(settings.device)
    few, options = settings.minibatch is not None, (jacobian, settings.quick_jit)

    def make() -> Any:
        split = rows.by_rows(posterior, settings.rows)
        return devices.batches_over_mesh(split, mesh) if few else devices.over_mesh(split, mesh, *options)

    try:
        return cached(posterior, (settings.rows, mesh, few, *options), make)
    except NotTraceable as why:
        raise InferenceError(f"The rows of this program cannot be distributed over devices: {why}.") from None


def cached(posterior: LogDensity, key: Hashable, make: Callable[[], Any]) -> Target:
    """The posterior's target of that key, made when it is first asked for."""
    if key not in posterior.targets:
        posterior.targets[key] = make()
    return posterior.targets[key]


def ready(settings: Settings, width: float = inf) -> Any:
    """The device that JAX is to use for arrays of so many numbers; InferenceError where there is none, or no
    JAX.
    """
    if find_spec("jax") is None:
        raise MissingPackage('backend = "jax"', "JAX", *requirements("jax"))
    jit.make_ready(shares_arrays=width >= compiled.COMPILED.concurrent_width)
    return jit.device_of(settings.device)


def refusal(why: NotTraceable) -> InferenceError:
    return InferenceError(f'backend = "jax" cannot run this program: {why}.')


def for_sampler(target: PosteriorTarget, settings: SampleSettings) -> Target:
    """The target for chains, of a hundred thousand gradients at one point each: by JAX wherever it can be, in
    batches where that pays.

    There such a gradient takes a tenth of the time, so that the seconds of compilation soon pay, of code that
    runs best too: of `gp_regression` one takes 61 microseconds in place of 116, for 0.8 s more.

    Raises:
        InferenceError: JAX is asked for by name, and is not there, or cannot run the program.
    """
    if settings.engine == "batch":
        own = Settings(backend=settings.backend, device=settings.device, cores=settings.cores)
        return on_backend(target, own)
    own = Settings(backend=settings.backend, device=settings.device, quick_jit=False)
    problem = target.posterior.problem
    numbers = numbers_of_chains(problem.extent, settings)
    if own.backend == "jax" or (own.backend == "auto" and is_possible(problem) and has_room(numbers)):
        return by_jax(target, own)
    return target


def is_possible(problem: Problem) -> bool:
    """Whether JAX is there, has room for data that lie on disk, and no `profile` block is timed.

    The density of an updated fit is not compiled.
    """
    if problem.is_updated or problem.is_timed or find_spec("jax") is None:
        return False
    return has_room(4 * sum(x.size for x in problem.data.values() if is_mapped(x)))


def has_room(numbers: int) -> bool:
    """Whether there is memory for JAX beside so many numbers, which a run has in memory."""
    return available() >= JAX_PAYS.memory + ARRAY_SIZES.number * numbers


def jax_pays(problem: Problem, settings: Settings) -> bool:
    """Whether JAX is there and would be done first, its compilation included.

    Runs beside each other are processes, each of which would have to compile.
    """
    large = problem.width >= JAX_PAYS.width or problem.extent.dim >= JAX_PAYS.dimensions
    pays = large or jax_pays_at_any_size(problem, settings)
    return pays and settings.runs == 1 and is_soon_compiled(problem) and is_possible(problem)


def is_soon_compiled(problem: Problem) -> bool:
    """Whether the program is short enough for JAX to repay in a fit."""
    return problem.traits.calls <= JAX_PAYS.most_calls


def jax_pays_at_any_size(problem: Problem, settings: Settings) -> bool:
    """Whether it is for what the program does, or for the device."""
    matrices = (np.size(x) for x in problem.data.values() if np.ndim(x) == 2)
    equations = problem.traits.solves_equations  # twenty times faster, five seconds to compile
    recurs = problem.recurrence_calls >= JAX_PAYS.recurrence
    return settings.device == "gpu" or recurs or equations or max(matrices, default=0) >= JAX_PAYS.matrix


def points_that_pay(problem: Problem, width: int) -> int:
    """After how many points a fit that is not done would be done first by JAX, its compilation included.

    Each works through as many numbers as the `width` of the target says.
    """
    numbers = width + problem.recurrence_calls + JAX_PAYS.numbers_a_step * problem.loop_steps
    return JAX_PAYS.work // numbers
