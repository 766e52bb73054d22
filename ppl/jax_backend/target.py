"""A posterior as inference sees it, computed by JAX."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ppl.density.log_density import LogDensity, OfPosterior
from ppl.errors import PPLError
from ppl.floats import Floats
from ppl.jax_backend.data import BAKED, split
from ppl.jax_backend.density import Functions, density_of, prepared
from ppl.jax_backend.iterations import Ahead, FusedParts
from ppl.jax_backend.jit import CompileProfile
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.kernel.advi.fused_steps import AffineMap
from ppl.kernel.advi.optimise import Algorithm, Run
from ppl.kernel.advi.subsampling import Rows
from ppl.records import dataclass
from ppl.source import Span

UNTRACEABLE = (NotTraceable, PPLError, IndexError, TypeError, ValueError, AttributeError, NotImplementedError)
"""Exceptions from tracing a program that does with numbers what JAX cannot."""

BatchSizes = tuple[tuple[int, int], ...]
"""Numbers of points to evaluate together, the best first, and how large an array for all of them may be.

Other numbers of points are cut and filled up to it.  From some 2^12 numbers on a point takes as long in any
batch, and a few points, as where some of many trajectories are tried again, fill up less of a small one.
Beyond 2^18 arrays leave the cache; a few points still share one reading of a matrix.  Beyond 2^21 they are
evaluated one by one, to spare memory.
"""
CPU_BATCHES: BatchSizes = ((64, 2**15), (8, 2**18), (4, 2**21), (2, 2**21))
"""Points in a batch on a CPU, and the numbers that the largest arrays of all of them may have."""
GPU_BATCHES: BatchSizes = ((64, 2**18), (16, 2**20), (4, 2**21), (2, 2**21))
"""The same on a GPU, where each batch waits for the device."""


class TargetLimits(NamedTuple):
    """When compiling a loop pays."""

    interpreted_iterations: int = 2_000
    """Iterations that take as long one by one as it takes to compile a loop of them, of a small program whose
    q has at most `interpreted_params` parameters.
    """

    interpreted_params: int = 1_000
    """Parameters of such a q."""

    solver_speedup: int = 20
    """How often a compiled solver is done in the time of one in NumPy, for which the work is counted."""

    concurrent_width: int = 2**17
    """Numbers that the largest array of an evaluation must have for its steps to be run beside each other,
    and for threads to share it."""

    small_width: int = 2**12
    """Numbers in the largest array of a program that is compiled quickly, values not apart from gradients."""

    threaded_work: int = 2**20
    """Numbers that batches work through from which on threads share them: ten milliseconds or so."""


COMPILED = TargetLimits()


@dataclass(frozen=True, eq=False)
class CompiledTarget(OfPosterior):
    """A posterior's log density by compiled code (inference.target.Target), in double precision.

    `largest` is about the size of the largest array of an evaluation, its width. One that is `quick` leaves
    uncompiled what a single fit would hardly pay for: a loop of few iterations, values apart from gradients.
    Batches of points are evaluated on so many `cores` at once, the same whatever their number.

    Example:
        >>> target = compiled_target(posterior)
        >>> value, gradient = target.log_density_gradient(np.zeros(target.dim))
    """

    posterior: LogDensity
    density: Functions
    shape: Any
    arguments: Any
    largest: int
    jacobian: bool = True
    device: Any = None
    cores: int = 1
    part_width: int | None = None

    @property
    def width(self) -> int:
        return self.largest

    @property
    def quick(self) -> bool:
        return self.density.profile is CompileProfile.FAST

    @property
    def width_at_once(self) -> int:
        """The same of what a device evaluates, a part of the rows where they are spread over a mesh."""
        return self.part_width or self.width

    @property
    def batches(self) -> BatchSizes:
        """How many points the device evaluates at once."""
        return GPU_BATCHES if getattr(self.device, "platform", "cpu") == "gpu" else CPU_BATCHES

    def log_density(self, u: Floats) -> float:
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        joint = self._in_turn(self.density.gradient, [u])[0]
        return float(joint[0]), joint[1:]

    def log_densities(self, us: Floats) -> Floats:
        """The log density at each row of `us`, (n, dim) -> (n,)."""
        if self.quick or len(us) == 1:
            return self.log_density_gradients(us)[0]
        return self._at_each(self.density.values, us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        """Log density (n,) and gradient (n, dim) at each row of `us`."""
        if len(us) == 1:  # a batch would be filled up with it
            value, gradient = self.log_density_gradient(us[0])
            return np.array([value]), gradient[None]
        joint = self._at_each(self.density.gradients, us).reshape(len(us), 1 + self.dim)
        return joint[:, 0], joint[:, 1:]

    def gradients_alone(self, us: Floats) -> Floats:
        """The gradient (n, dim) alone at each row of `us`; of small programs it hardly pays to compile it."""
        if is_small(self.width) or len(us) == 1:
            return self.log_density_gradients(us)[1]
        return self._at_each(self.density.gradients_alone, us).reshape(len(us), self.dim)

    def fused_steps(
        self,
        algorithm: Algorithm,
        run: Run,
        noise: Floats,
        count: int,
        place: AffineMap | None,
        rows: Rows | None = None,
    ) -> Run | None:
        """The run up to `count` iterations on; see `ppl.kernel.advi.fused_steps.FusedSteps`."""
        hardly_pays = (
            run.iteration < COMPILED.interpreted_iterations and run.params.size <= COMPILED.interpreted_params
        )
        if self.quick and hardly_pays:
            return None
        eta = getattr(algorithm.step_rule, "eta", None)
        parts = FusedParts.of(algorithm, max(1, CPU_BATCHES[-1][1] // self.width_at_once))
        with jax.enable_x64(True), jax.default_device(self.device):
            arguments = self.arguments if rows is None else self.density.on_rows(self.arguments, rows)
            call = partial(self.density.iterate, parts, self.shape, self.jacobian, arguments, place)
            start = jax.tree_util.tree_map(np.asarray, run.state)
            state = jax.tree_util.tree_map(np.array, call(start, Ahead(eta, noise, count)))
        # A plain number where there is but one.
        ahead = jax.tree_util.tree_map(lambda x: x if x.ndim else x.item(), state)
        return run._replace(**ahead._asdict())

    def _at_each(self, function: Any, us: Floats) -> Floats:
        """The values for each row, in batches of the first size that may be, or of one.

        The last batch is filled up by its first point.
        """
        size = next((size for size, most in self.batches if size * self.width_at_once <= most), 1)
        parts = [us[k : k + size] for k in range(0, len(us), size)]
        if parts and len(parts[-1]) < size:
            missing = size - len(parts[-1])
            parts[-1] = np.concatenate([parts[-1], np.repeat(parts[-1][:1], missing, axis=0)])
        values = self._of_each(function, parts, size)
        return np.concatenate(values)[: len(us)] if values else np.zeros(0)

    def _of_each(self, function: Any, parts: list[Floats], size: int) -> list[Floats]:
        """The values for each batch; in threads, which compiled code leaves to run beside each other.

        The first batch is alone, for it may have to be compiled.
        """
        cores = min(self.cores, len(parts) - 1)
        if cores < 2 or (len(parts) - 1) * size * self.width_at_once < COMPILED.threaded_work:
            return self._in_turn(function, parts)
        first, others = self._in_turn(function, parts[:1]), parts[1:]
        share = -(-len(others) // cores)
        own, *elsewhere = (others[k : k + share] for k in range(0, len(others), share))
        with ThreadPoolExecutor(cores - 1) as threads:
            beside = threads.map(partial(self._in_turn, function), elsewhere)
            return sum(beside, first + self._in_turn(function, own))

    def _in_turn(self, function: Any, parts: list[Floats]) -> list[Floats]:
        with jax.enable_x64(True), jax.default_device(self.device):
            call = partial(function, self.shape, self.jacobian, self.arguments)
            return [np.array(call(np.asarray(part, dtype=float))) for part in parts]


def compiled_target(
    posterior: LogDensity, jacobian: bool = True, device: Any = None, quick: bool = False
) -> CompiledTarget:
    """The posterior compiled by JAX for a device, with as little of its data inside the code as will do.

    A small one is `quick` if it may be (see CompiledTarget).

    Raises:
        NotTraceable: JAX cannot run the program; the message says why, and where.
        PPLError: the program cannot be run with these data at all.
    """
    posterior.log_density(np.zeros(posterior.param_unc_num()))  # indices and sizes are checked here, once
    dim = posterior.param_unc_num()
    density = density_of(posterior.model).by_profile[profile_for(posterior.width, quick)]

    def place_data(baked: str) -> tuple[Any, Any]:
        shape, arguments = split(prepared(posterior.model, posterior.prepared), density.reads, baked)
        return shape, jax.device_put(arguments, device)

    shape, arguments = first_traceable(density, place_data, dim, jacobian, device)
    width = posterior.width + posterior.sizes.solved // COMPILED.solver_speedup
    return CompiledTarget(posterior, density, shape, arguments, width, jacobian, device)


def profile_for(width: int, quick: bool) -> CompileProfile:
    """How to compile a density whose largest array is of `width` numbers, and which may be `quick`."""
    if width >= COMPILED.concurrent_width:
        return CompileProfile.LARGE_ARRAYS
    return CompileProfile.FAST if quick and is_small(width) else CompileProfile.STANDARD


def is_small(width: int) -> bool:
    """Whether an evaluation of that width is too short for code of its own that spares some of it."""
    return width <= COMPILED.small_width


def first_traceable(
    density: Functions,
    place_data: Callable[[str], tuple[Any, Any]],
    dim: int,
    jacobian: bool = True,
    device: Any = None,
) -> tuple[Any, Any]:
    """The first shape, with its arguments, under which the density can be traced on a device.

    `place_data(baked)` gives them, where they are to lie, for each of `data.BAKED`.

    Raises:
        NotTraceable: as `compiled_target`.
    """
    errors: list[Exception] = []
    for baked in BAKED:
        try:
            with jax.enable_x64(True), jax.default_device(device):
                shape, arguments = place_data(baked)
                density.gradient.trace(shape, jacobian, arguments, np.zeros(dim))  # kept for the first call
            return shape, arguments
        except UNTRACEABLE as error:
            errors.append(error)
    raise NotTraceable(reason(errors[-1])) from errors[-1]


def reason(error: Exception) -> str:
    """Why JAX cannot, with the line of the program."""
    span: Span | None = getattr(error, "span", None)
    return f"line {span.line}, {why(error)}" if span else why(error)


def why(error: Exception) -> str:
    match error:
        case NotTraceable():
            return str(error)
        case jax.errors.TracerBoolConversionError():
            return "a branch depends on parameters"
        case jax.errors.TracerIntegerConversionError() | jax.errors.NonConcreteBooleanIndexError():
            return "a size or a range depends on parameters"
        case PPLError():
            return "it is rejected for all parameters"
        case _:
            return f"JAX cannot trace it ({type(error).__name__})"
