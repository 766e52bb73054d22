"""A posterior seen a few rows at a time.

Kucukelbir et al. 2017, section 2.6; Titsias and Lazaro-Gredilla 2014, section 2.
The log density of a batch is the rest of the target plus N/B times the row terms of the batch, so that its
mean over an epoch is the full log density.
"""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, value_and_grads
from ppl.backend.emit import emit
from ppl.backend.load import Module, compile_text, load
from ppl.backend.located import located
from ppl.backend.text import python_name
from ppl.errors import InferenceError
from ppl.ir.nodes import Program
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.split_rows import RowSplit, row_sizes, split_rows
from ppl.source import SourceText

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

TRIES = 3
TOLERANCE = 1e-8


class Compiled(Protocol):
    """What is needed of a model."""

    @property
    def source(self) -> SourceText: ...
    @property
    def resolved(self) -> Program: ...
    @property
    def softplus(self) -> bool: ...


class Whole(Protocol):
    """What is needed of the posterior of all rows; model.Posterior has it."""

    @property
    def model(self) -> Compiled: ...
    @property
    def d(self) -> SimpleNamespace: ...
    def param_unc_num(self) -> int: ...
    def log_density(self, u: Floats) -> float: ...
    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]: ...
    def log_densities(self, us: Floats) -> Floats: ...
    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]: ...
    def explain(self, u: Floats) -> str: ...
    def checked(self, u: Floats) -> Floats: ...
    def blocks(self, u: Floats) -> list[Floats]: ...


@dataclass(frozen=True, eq=False)
class ByRows:
    """A posterior whose row terms can be had for any subset of rows; rows count from 0.

    It is a target of inference (inference.subsampling.Subsampled): whole by itself, `minibatch(rows)` of it.

    Example:
        >>> batches = posterior.by_rows()
        >>> value, gradient = batches.minibatch(np.array([0, 3, 7])).log_density_gradient(u)
    """

    posterior: Whole
    split: RowSplit
    rows: Module
    rest: Module
    rest_data: SimpleNamespace

    @property
    def n_rows(self) -> int:
        return rows_of(self.posterior, self.split.size)

    @property
    def dim(self) -> int:
        return self.posterior.param_unc_num()

    def log_density(self, u: Floats) -> float:
        return self.posterior.log_density(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.posterior.log_density_gradient(u)

    def log_densities(self, us: Floats) -> Floats:
        return self.posterior.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        return self.posterior.log_density_gradients(us)

    def explain(self, u: Floats) -> str:
        return self.posterior.explain(u)

    def minibatch(self, rows: Rows) -> "Batch":
        return Batch(self, rows)

    def row_terms(self, u: Floats, rows: Rows) -> float:
        """The sum of the row terms of a subset, not scaled."""
        with np.errstate(all="ignore"), located(self.rows):
            blocks = self.posterior.blocks(self.posterior.checked(u))
            return float(self.rows.log_joint(Batch(self, rows).data, blocks, False))


@dataclass(frozen=True, eq=False)
class Batch:
    """The posterior in which only some rows count, each n_rows / len(rows) times."""

    whole: ByRows
    rows: Rows

    @cached_property
    def data(self) -> SimpleNamespace:
        """The size made smaller, everything with one entry a row cut."""
        split, known = self.whole.split, self.whole.posterior.d
        d = SimpleNamespace(**vars(known))
        setattr(d, python_name(split.size), len(self.rows))
        setattr(d, split.total, self.whole.n_rows)
        for name, axis in split.data:
            whole = getattr(known, python_name(name))
            setattr(d, python_name(name), np.take(whole, self.rows, axis=axis))
        d.rows = self.rows
        self.whole.rows.prepare(d)
        return d

    @property
    def dim(self) -> int:
        return self.whole.dim

    def log_density(self, u: Floats) -> float:
        with np.errstate(all="ignore"), located(self.whole.rows):
            return float(self.estimate(self.blocks(u)))

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The log density at `u` estimated from these rows, and its gradient."""
        with np.errstate(all="ignore"), located(self.whole.rows):
            value, parts = value_and_grads(self.estimate, self.blocks(u))
        return value, np.concatenate([np.ravel(part) for part in parts])

    def estimate(self, blocks: list[Any]) -> Any:
        scale = self.whole.n_rows / len(self.rows)
        rest = self.whole.rest.log_joint(self.whole.rest_data, blocks, True)
        return rest + scale * self.whole.rows.log_joint(self.data, blocks, False)

    def blocks(self, u: Floats) -> list[Floats]:
        return self.whole.posterior.blocks(self.whole.posterior.checked(u))

    def explain(self, u: Floats) -> str:
        return self.whole.explain(u)


def rows_of(posterior: Whole, size: str) -> int:
    """The value of a size variable."""
    return int(getattr(posterior.d, python_name(size)))


def by_rows(posterior: Whole, size: str | None = None, seed: int = 0) -> ByRows:
    """Split a posterior by rows; without `size`, by the largest size along which it splits.

    Raises:
        InferenceError: the target does not split; the message names the size and the terms tried.
    """
    program = posterior.model.resolved
    sizes = row_sizes(program)
    if size is not None and size not in sizes:
        raise InferenceError(f"`{size}` counts no rows: the sizes of data are {', '.join(sizes) or 'none'}.")
    candidates = [size] if size is not None else sorted(sizes, key=lambda s: -rows_of(posterior, s))
    reasons = []
    for candidate in candidates:
        batches = split_by(posterior, candidate)
        reason = why_not(batches, np.random.default_rng(seed))
        if reason is None:
            return batches
        reasons.append(reason)
    reason = "\n".join(reasons) or "The data block has no size that could count rows."
    raise InferenceError(reason, "PPL974")


def split_by(posterior: Whole, size: str) -> ByRows:
    model = posterior.model
    split = split_rows(model.resolved, size)
    rows, rest = module_of(model, split.rows), module_of(model, split.rest)
    rest_data = SimpleNamespace(**vars(posterior.d))
    with np.errstate(all="ignore"), located(rest):
        rest.prepare(rest_data)
    return ByRows(posterior, split, rows, rest, rest_data)


def module_of(model: Compiled, program: Program) -> Module:
    emitted = emit(hoist_data(program))
    return load(emitted, compile_text(emitted, model.source.name), AUTOGRAD, model.softplus)


def why_not(batches: ByRows, generator: np.random.Generator) -> str | None:
    """Why the row terms do not add up over rows; None when they do, tried at random points and cuts."""
    size, everything = batches.split.size, np.arange(batches.n_rows)
    if not batches.split.terms or len(everything) < 2:
        return f"By `{size}`: no term of the target depends on its rows."
    for _ in range(TRIES):
        u = generator.normal(0.0, 0.5, batches.dim)
        shuffled = generator.permutation(everything)
        cut = int(generator.integers(1, len(everything)))
        try:
            whole = batches.row_terms(u, everything)
            parts = sum(batches.row_terms(u, np.sort(part)) for part in (shuffled[:cut], shuffled[cut:]))
        except (InferenceError, ValueError, IndexError) as error:
            return f"By `{size}`: the terms of a subset cannot be computed.\n{error}"
        if np.isfinite(whole) and not abs(parts - whole) <= TOLERANCE * max(1.0, abs(whole)):
            return f"By `{size}`: these terms do not add up over rows.\n{shown(batches.split)}"
    return None


def shown(split: RowSplit) -> str:
    return "\n".join(span.describe() for span in dict.fromkeys(split.terms))
