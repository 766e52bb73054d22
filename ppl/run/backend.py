"""Which backend computes a log density: autograd, always there, or JAX, the extra "jax"."""

from collections.abc import Callable, Hashable
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from ppl.data.blocks import is_mapped
from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError, MissingPackage
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.kernel.advi.target import Target
from ppl.memory import ARRAY_SIZES, available
from ppl.methods.run.phases import integrates_blocks
from ppl.methods.run.settings import SampleSettings, Settings
from ppl.records import dataclass, replace
from ppl.run.memory_needed import numbers_of, numbers_of_chains
from ppl.run.posterior_target import PosteriorTarget, TwoBackends
from ppl.system.distribution import requirements
from ppl.system.threads import cores_of

T = TypeVar("T", bound=Target)


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

    width: int = 15_000
    """Rows, where no blocks are integrated out. Default fits of 30,000 rows by autograd and JAX took 9.2 and
    4.2 s of CPU for a Weibull regression, 9.4 and 6.7 for a mixture of two normals, 3.5 and 3.0 for a
    regression with Student's t; by blocks, with 50 groups, 3.7 and 6.3 for Poisson effects, 3.9 and 7.9 for
    binary ones, 7.9 and 21.6 for negative binomial ones. Where draws are moved `moved_work` counts.
    """

    moved_work: int = 2**26
    """Numbers that moves have worked through, and are not done, when JAX repays its two seconds of compiling:
    autograd takes about as long for so many, 35 ns each (a mixture of two normals of 2,000 rows, GARCH(1,1)
    of 400 times), and JAX a half to a fifth of that.
    """

    numbers_a_step: int = 20
    """Numbers that take as long as a step of a loop that stayed one, 0.7 microseconds."""

    memory: int = 1 << 30
    """Bytes that JAX takes for itself: a fit of 100,000 rows has 1.2 GB of address space more with it."""

    dimensions: int = 3000
    """Parameters, where draws are neither moved nor made by blocks: at 512 points gradients of 2,004 (a
    CAR model) take JAX 0.4 of the time, of 3,003 (a horseshoe) 0.2, as it does not write every elementwise
    operation of all points. By blocks 4,000 effects took autograd 11.4 s and JAX 13.9, 10,000 28.5 and 34.9.
    """

    most_calls: int = 1000
    """Calls written in a program, above which JAX is for chains alone: it traces each several times, for some
    milliseconds. Of 3,000 scalar parameters with a statement each it had compiled no gradient after 100 s of
    CPU; a whole fit by autograd takes 15 s.
    """


JAX_PAYS = JaxPays()


def on_backend(target: PosteriorTarget, settings: Settings) -> Target:
    """The target as the backend that `settings` names computes it; "auto" takes JAX where it `jax_pays`, if
    that is for its size alone after blocks were looked for.

    Raises:
        InferenceError: JAX is asked for by name, and is not there, or cannot run the program.
    """
    if settings.backend == "jax" and target.posterior.earlier is not None:
        raise InferenceError('An updated fit is computed by autograd: omit backend = "jax".')
    auto = settings.backend == "auto"
    pays = auto and jax_pays(target, settings) and has_room(numbers_of(target.posterior, settings))
    by_blocks = integrates_blocks(settings) and not jax_pays_at_any_size(target, settings)
    if settings.backend == "jax" or (pays and not by_blocks):
        return by_jax(target, settings)
    return replace(target, faster=partial(after, target, settings, pays), large=pays) if auto else target


def by_jax(target: PosteriorTarget, settings: Settings) -> Target:
    """The target by JAX; what "auto" leaves to autograd, because JAX cannot run it, says so in its `note`."""
    try:
        found = jax_target(target, settings)
    except NotTraceable as why:
        if settings.backend == "jax":
            raise refusal(why) from None
        return PosteriorTarget(target.posterior, target.jacobian, f"backend: autograd, because {why}.")
    return by_both(target, found) if settings.backend == "auto" and settings.device == "cpu" else found


def by_both(target: PosteriorTarget, compiled: Target) -> Target:
    """That by JAX; of differential equations at one point alone, where NumPy solves all points at once."""
    posterior = target.posterior
    at_once = posterior.log_joint(False, target.jacobian).values_at_once
    if at_once is None or not posterior.model.traits.solves_equations:
        return compiled
    return TwoBackends(target, compiled)


def jax_target(target: PosteriorTarget, settings: Settings) -> Target:
    """The target by JAX; NotTraceable where that cannot run the program."""
    device = ready(settings)
    from ppl.jax_backend.target import compiled_target

    quick = (
        settings.quick_jit or target.posterior.model.traits.solves_equations
    ) and settings.device == "cpu"
    key = target.jacobian, device, quick
    found = cached(target.posterior, key, lambda: compiled_target(target.posterior, *key))
    return replace(found, cores=cores_of(settings.cores))


def after(target: PosteriorTarget, settings: Settings, large: bool, points: int) -> Target | None:
    """The target by JAX if, after so many points, more are computed first by it, its compilation included.

    How much memory is free is read only then: it takes a tenth of a small fit.
    """
    pays = points >= points_that_pay(target) and is_soon_compiled(target) and is_possible(target)
    if large or (pays and has_room(numbers_of(target.posterior, settings))):
        return if_traceable(target, settings)
    return None


def if_traceable(target: PosteriorTarget, settings: Settings) -> Target:
    """The target by JAX, if that can run the program."""
    try:
        return jax_target(target, settings)
    except NotTraceable:
        return target


def rows_on_backend(posterior: LogDensity, settings: Settings) -> Target:
    """The same for the posterior split by rows, which "auto" leaves to autograd."""
    from ppl.density.rows import by_rows

    rows = settings.rows
    if settings.backend != "jax":
        return by_rows(posterior, rows)
    device = ready(settings)
    from ppl.jax_backend.batches import compiled_by_rows

    try:
        return cached(posterior, (rows, device), lambda: compiled_by_rows(by_rows(posterior, rows), device))
    except NotTraceable as why:
        raise refusal(why) from None


def sharded(posterior: LogDensity, settings: Settings, jacobian: bool = True) -> Target:
    """The posterior with its rows spread over all devices of JAX's; by minibatches where they are asked for.

    Raises:
        InferenceError: JAX is not there, or the rows cannot be spread; the message says why.
    """
    ready(settings)
    from ppl.density.rows import by_rows
    from ppl.jax_backend.mesh import batches_over_mesh, mesh_of, over_mesh

    rows, quick, few = settings.rows, settings.quick_jit, settings.minibatch is not None
    mesh = mesh_of(settings.device)

    def make() -> Target:
        batches = by_rows(posterior, rows)
        return batches_over_mesh(batches, mesh) if few else over_mesh(batches, mesh, jacobian, quick)

    try:
        return cached(posterior, (rows, mesh, few, jacobian, quick), make)
    except NotTraceable as why:
        raise InferenceError(f"The rows of this program cannot be distributed over devices: {why}.") from None


def cached(posterior: LogDensity, key: Hashable, make: Callable[[], T]) -> T:
    """The posterior's target of that key, made when it is first asked for."""
    if key not in posterior.targets:
        posterior.targets[key] = make()
    found: T = posterior.targets[key]
    return found


def ready(settings: Settings) -> Any:
    """The device that JAX is to use; InferenceError where there is none, or no JAX."""
    if find_spec("jax") is None:
        raise MissingPackage('backend = "jax"', "JAX", *requirements("jax"))
    from ppl.jax_backend.jit import device_of, make_ready

    make_ready()
    return device_of(settings.device)


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
    numbers = numbers_of_chains(target.posterior, settings)
    if own.backend == "jax" or (own.backend == "auto" and is_possible(target) and has_room(numbers)):
        return by_jax(target, own)
    return target


def is_possible(target: PosteriorTarget) -> bool:
    """Whether JAX is there, has room for data that lie on disk, and no `profile` block is timed.

    The density of an updated fit is not compiled.
    """
    posterior = target.posterior
    if posterior.earlier is not None:
        return False
    on_disk = sum(x.size for x in posterior.data.values() if is_mapped(x))
    return find_spec("jax") is not None and has_room(4 * on_disk) and not posterior.model.keeps_time


def has_room(numbers: int) -> bool:
    """Whether there is memory for JAX beside so many numbers, which a run has in memory."""
    return available() >= JAX_PAYS.memory + ARRAY_SIZES.number * numbers


def jax_pays(target: PosteriorTarget, settings: Settings) -> bool:
    """Whether JAX is there and would be done first, its compilation included.

    Runs beside each other are processes, each of which would have to compile.
    """
    large = target.posterior.width >= JAX_PAYS.width or target.dim >= JAX_PAYS.dimensions
    pays = large or jax_pays_at_any_size(target, settings)
    return pays and settings.runs == 1 and is_soon_compiled(target) and is_possible(target)


def is_soon_compiled(target: PosteriorTarget) -> bool:
    """Whether the program is short enough for JAX to repay in a fit."""
    return target.posterior.model.traits.calls <= JAX_PAYS.most_calls


def jax_pays_at_any_size(target: PosteriorTarget, settings: Settings) -> bool:
    """Whether it is for what the program does, or for the device."""
    posterior = target.posterior
    data = (posterior.d.of(v.name) for v in posterior.model.lowered.data if not v.items)
    matrices = (np.size(x) for x in data if np.ndim(x) == 2)
    equations = posterior.model.traits.solves_equations  # twenty times faster, five seconds to compile
    recurs = calls_of_recurrences(posterior) >= JAX_PAYS.recurrence
    return settings.device == "gpu" or recurs or equations or max(matrices, default=0) >= JAX_PAYS.matrix


def calls_of_recurrences(posterior: LogDensity) -> int:
    """About how many functions the steps of its longest recurrence call; 0 where there is none."""
    return int(posterior.model.traits.calls_of_a_step * posterior.width)


def points_that_pay(target: PosteriorTarget) -> int:
    """After how many points moves that are not done would be done first by JAX, its compilation included."""
    posterior = target.posterior
    numbers = target.width + calls_of_recurrences(posterior) + JAX_PAYS.numbers_a_step * posterior.loop_steps
    return JAX_PAYS.moved_work // numbers
