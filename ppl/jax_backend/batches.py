"""A posterior seen a few rows at a time, the rows gathered by compiled code; see density/rows.py."""

from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ppl.density.rows import ByRows
from ppl.floats import Floats
from ppl.jax_backend.data import DataShape, split
from ppl.jax_backend.density import Density, Functions, module_for
from ppl.jax_backend.namespace import JAX
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.target import CompiledTarget, first_traceable
from ppl.jax_backend.traceable import TracedRun
from ppl.kernel.advi.fused_steps import AffineMap
from ppl.kernel.advi.optimise import Algorithm, Run
from ppl.kernel.advi.target import Forwarding, OfRows, Target, View
from ppl.kernel.emit.text import python_name
from ppl.optimise.forms import for_jax, rest_of
from ppl.optimise.passes.split_rows import RowSplit
from ppl.records import dataclass, replace

Rows = NDArray[np.intp]

CACHED_ROWS = 2**19
"""How many numbers an array of the rows evaluated together may have: longer ones leave the cache."""


@dataclass(frozen=True, eq=False)
class BatchDensity(Functions):
    """The rest of the target plus n_rows / B times the row terms of B rows, `at_once` of them at a time.

    The shape is that of the data that have rows, that of the rest, and the number of rows; the arguments are
    those of both and the rows (B,).
    """

    rows: Density
    rest: Density
    split: RowSplit
    at_once: int

    def log_joint(self, shape: Any, jacobian: bool, arguments: Any, u: Any) -> Any:
        of_rows, of_rest, n_rows = shape
        whole, rest_arguments, rows = arguments
        rest = self.rest.log_joint(of_rest, jacobian, rest_arguments, u)
        return rest + n_rows / rows.shape[0] * self.row_terms(of_rows, n_rows, whole, rows, u)

    def row_terms(self, shape: DataShape, n_rows: int, whole: list[Any], rows: Any, u: Any) -> Any:
        """The terms of these rows, summed, `at_once` rows after the other."""
        terms, many = partial(self.some_terms, shape, n_rows, whole, u), rows.shape[0]
        if many <= self.at_once:
            return terms(rows)
        blocks, rest = jnp.split(rows, [many - many % self.at_once])
        sums = jax.lax.map(jax.checkpoint(terms), blocks.reshape(-1, self.at_once))
        return sums.sum() + (terms(rest) if rest.size else 0.0)

    def some_terms(
        self, shape: DataShape, n_rows: int, whole: list[Any], u: Any, rows: Any, at: Any = None
    ) -> Any:
        """The terms of rows (B,), which are the entries `at` (B,) of the data, or those of their numbers."""
        d, trace = shape.with_arguments(whole), TracedRun()
        read = [(name, axis) for name, axis in self.split.data if hasattr(d, python_name(name))]
        cut = {name: jnp.take(d.of(name), rows if at is None else at, axis=axis) for name, axis in read}
        counts = {self.split.total: n_rows, "rows": rows}
        d = d.with_values({self.split.size: rows.shape[0], **cut}, **counts)
        module = module_for(trace, self.rows.code, JAX)
        module.prepare(d)
        return trace.guarded(jnp.asarray(module.log_joint(d, u, False), dtype=float))

    def on_rows(self, arguments: Any, rows: Any) -> Any:
        whole, rest, _ = arguments
        return whole, rest, jnp.asarray(rows)

    def at(self, arguments: Any, k: Any) -> Any:
        whole, rest, rows = arguments
        return whole, rest, rows[k]


@dataclass(frozen=True, eq=False)
class CompiledByRows(Forwarding):
    """A compiled target that splits by rows.

    `batch` is the target of any batch of the minibatch.ByRows; it is asked for on the rows that are wanted.
    """

    batch: CompiledTarget
    batches: ByRows
    all_rows: CompiledTarget | None = None
    """The target of all rows, for calls that do not evaluate them as one batch."""

    @property
    def n_rows(self) -> int:
        return int(self.batches.n_rows)

    @property
    def width(self) -> int:
        """How many numbers an evaluation works through, about."""
        return int(self.batches.width)

    @cached_property
    def target(self) -> Target:  # type: ignore[override]
        """That of all rows."""
        return self.all_rows or self.minibatch(np.arange(self.n_rows))

    def view(self, view: View) -> CompiledTarget | None:
        return self.minibatch(view.rows) if isinstance(view, OfRows) else None

    def minibatch(self, rows: Rows) -> CompiledTarget:
        """The target in which only these rows count."""
        batch = self.batch
        with jax.enable_x64(True), jax.default_device(batch.device):
            arguments = batch.density.on_rows(batch.arguments, rows)
        width = self.batches.width_of(min(len(rows), rows_at_once(self.batches)))
        return replace(batch, arguments=arguments, largest=width)

    def fused_steps(
        self, algorithm: Algorithm, run: Run, noise: Floats, count: int, place: AffineMap | None, rows: Rows
    ) -> Run | None:
        """The run `count` iterations on, each on its own rows; see `fused_steps.FusedSteps`."""
        return self.batch.fused_steps(algorithm, run, noise, count, place, rows)


def compiled_by_rows(batches: ByRows, device: Any = None) -> CompiledByRows:
    """The rows of a density.rows.ByRows, compiled by JAX for a device.

    Raises:
        NotTraceable: JAX cannot run the program, or its data stay on disk; the message says why.
    """
    if batches.row_bytes:
        raise NotTraceable("the data stay on disk")
    of_rows, of_rest = rows_and_rest(batches)
    density = BatchDensity(of_rows, of_rest, batches.split, rows_at_once(batches))
    names = of_rows.code.emitted.loads
    n_rows, posterior = batches.n_rows, batches.posterior

    def place_data(baked: str) -> tuple[Any, Any]:
        of_rows, whole = split(posterior.d, names, baked)
        of_rest, rest = split(batches.rest.d, density.rest.reads, baked)
        arguments = jax.device_put((whole, rest, np.arange(min(2, n_rows))), device)
        return (of_rows, of_rest, n_rows), arguments

    shape, arguments = first_traceable(density, place_data, batches.dim, True, device)
    target = CompiledTarget(posterior, density, shape, arguments, batches.dim, True, device)
    return CompiledByRows(target, batches)


def rows_and_rest(batches: ByRows) -> tuple[Density, Density]:
    """The terms of the rows, and the others."""
    code = batches.posterior.model.code_of
    return Density(code(for_jax(batches.rows))), Density(code(for_jax(rest_of(batches.split.size))))


def rows_at_once(batches: ByRows) -> int:
    """How many rows are evaluated together."""
    return max(1, CACHED_ROWS // int(batches.row_width))
