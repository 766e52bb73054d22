"""A posterior seen a few rows at a time.

Kucukelbir et al. 2017, section 2.6; Titsias and Lazaro-Gredilla 2014, section 2.
The log density of a batch is the rest of the target plus N/B times the row terms of the batch, so that its
mean over an epoch is the full log density.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property

import numpy as np

from ppl.data.blocks import is_mapped, row_blocks, taken
from ppl.data.shares import Share
from ppl.density.log_density import LogDensity, OfPosterior
from ppl.density.log_joint import Forms, LogJoint
from ppl.density.many_points import sizes_of
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.target import OfRows, Target, View
from ppl.kernel.density.layout import Data, Rows
from ppl.kernel.ir.rows import row_sizes
from ppl.optimise.forms import ARRAYS, Form, rest_of, rows_of, rows_on_sides
from ppl.optimise.passes.one_side import Sides, sides_of
from ppl.optimise.passes.split_rows import RowSplit, split_rows
from ppl.records import dataclass, replace
from ppl.source import Span


@dataclass(frozen=True)
class RowLimits:
    """How it is checked that a log density is a sum over rows."""

    tries: int = 10
    """Random points at which the parts are compared with the whole; ceil(p) is 0 at half of them."""

    tolerance: float = 1e-8
    """The relative difference of the sum of the parts from the whole."""

    enough_rows: int = 2000
    """Rows that are compared, where there are more."""

    rows_tried: int = 100
    """Rows of the minibatch that is tried at first."""

    most_terms: int = 10**9
    """Row terms, those of every draw at every row, that are computed; see `ByRows.estimated`."""

    rows_sampled: int = 100_000
    """Rows of which all terms are computed, where there are more."""


ROW_SPLIT = RowLimits()


@dataclass(frozen=True, eq=False)
class ByRows(OfPosterior):
    """A posterior whose row terms can be had for any subset of rows; rows count from 0.

    It is a target of inference, whole by itself, `minibatch(rows)` under the view `OfRows`.

    Example:
        >>> batches = by_rows(posterior)
        >>> value, gradient = batches.minibatch(np.array([0, 3, 7])).log_density_gradient(u)
    """

    posterior: LogDensity
    split: RowSplit
    sides: Sides = ()
    """The sides that branches on parameters take in the row terms, whatever the point; of a trial."""

    @property
    def n_rows(self) -> int:
        return int(self.posterior.d.of(self.split.size))

    @property
    def share(self) -> Share | None:
        """Data of which this process has read some rows only, the same of all; None where it has all."""
        data = (self.posterior.d.of(name) for name, _ in self.split.data)
        return next((x for x in data if isinstance(x, Share)), None)

    @property
    def n_at_hand(self) -> int:
        """How many rows this process has read."""
        return len(self.share.rows) if self.share else self.n_rows

    def at_hand(self, places: Rows) -> Rows:
        """The rows that this process has read at some places of their order, from 0."""
        return self.share.rows[places] if self.share else places

    @property
    def rows(self) -> Form:
        """The form of the row terms."""
        return rows_on_sides(self.split.size, self.sides) if self.sides else rows_of(self.split.size)

    @cached_property
    def rest(self) -> LogJoint:
        """The terms that are no row terms, with the Jacobian."""
        form = rest_of(self.split.size)
        d = self.posterior.model.prepared(self.posterior.d, form)
        return LogJoint(self.posterior.model, Forms.of(form), d, True, self.dim)

    @cached_property
    def row_bytes(self) -> int:
        """What a row of the data on disk takes there; 0 where none are."""
        data = ((self.posterior.d.of(name), axis) for name, axis in self.split.data)
        return sum(x.nbytes // max(1, x.shape[axis]) for x, axis in data if is_mapped(x))

    @cached_property
    def row_width(self) -> int:
        """How many numbers the largest array of an evaluation has for each row, as far as a few rows show."""
        few = self.minibatch(self.at_hand(np.arange(min(ROW_SPLIT.rows_tried, self.n_at_hand))))
        sizes = sizes_of(self.posterior.model.code_of(self.rows), few.data, self.dim)
        return -(-sizes.largest // max(1, len(few.rows)))

    @property
    def width(self) -> int:
        """How many numbers an evaluation works through, about."""
        on_disk = self.n_rows * self.row_bytes // np.dtype(float).itemsize
        return on_disk or self.width_of(self.n_rows)

    def width_of(self, n_rows: int) -> int:
        """How many numbers the largest array of an evaluation on so many rows has, or thereabouts."""
        return max(n_rows * self.row_width, self.dim)

    def log_densities(self, us: Floats) -> Floats:
        """At each row of `us` (n, dim), (n,); data on disk are read once for all of them, block by block."""
        if self.share_of_rows(len(us)) < 1:
            return self.estimated(us)
        if not self.row_bytes:
            return self.posterior.log_densities(us)
        return sum((batch.terms.values(us) for batch in self.in_blocks()), self.rest.values(us))

    def share_of_rows(self, points: int) -> float:
        """The share of the rows that the log densities of so many points at once are computed from."""
        if points * self.n_rows <= ROW_SPLIT.most_terms:
            return 1.0
        return min(1.0, ROW_SPLIT.rows_sampled / self.n_rows)

    def estimated(self, us: Floats) -> Floats:
        """The same, of which all rows give the linear part around the mean of `us`, and a sample the rest.

        The rest is about dim / 2 nats at draws of a posterior, and its relative error about one in the square
        root of the rows sampled. Bardenet, Doucet and Holmes (2017), JMLR 18(47), section 7.1.
        """
        centre = us.mean(axis=0)
        value, gradient = self.log_density_gradient(centre)
        rng = np.random.default_rng(self.n_rows)
        sample = self.minibatch(np.sort(rng.choice(self.n_rows, ROW_SPLIT.rows_sampled, replace=False)))
        value_there, gradient_there = sample.log_density_gradient(centre)
        linear: Floats = value - value_there + (us - centre) @ (gradient - gradient_there)
        return linear + sample.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        """The same with the gradients (n, dim)."""
        if not self.row_bytes:
            return self.posterior.log_density_gradients(us)
        values, gradients = self.rest.values_and_gradients(us)
        for batch in self.in_blocks():
            more_values, more_gradients = batch.terms.values_and_gradients(us)
            values, gradients = values + more_values, gradients + more_gradients
        return values, gradients

    def in_blocks(self) -> Iterator["Minibatch"]:
        """All rows, each once, as many at a time as `data.blocks` has it."""
        for rows in row_blocks(self.n_rows, self.row_bytes):
            yield Minibatch(self, np.arange(rows.start, rows.stop))

    def view(self, view: View) -> "Minibatch | None":
        return self.minibatch(view.rows) if isinstance(view, OfRows) else None

    def minibatch(self, rows: Rows) -> "Minibatch":
        return Minibatch(self, rows)

    def row_terms(self, u: Floats, rows: Rows) -> float:
        """The sum of the row terms of a subset, not scaled."""
        return Minibatch(self, rows).terms.value(self.posterior.checked(u))


@dataclass(frozen=True, eq=False)
class Minibatch(Target):
    """The posterior in which only some rows count, each n_rows / len(rows) times."""

    whole: ByRows
    rows: Rows

    @property
    def cut(self) -> Data:
        """The data, the size made smaller, everything with one entry a row cut."""
        split, posterior = self.whole.split, self.whole.posterior
        cut = {name: taken(posterior.d.of(name), self.rows, axis) for name, axis in split.data}
        counts = {split.total: self.whole.n_rows, "rows": self.rows}
        return posterior.d.with_values({split.size: len(self.rows), **cut}, **counts)

    @cached_property
    def data(self) -> Data:
        """The same with what the row terms compute of them once."""
        return self.whole.posterior.model.prepared(self.cut, self.whole.rows)

    @cached_property
    def terms(self) -> LogJoint:
        """The row terms of these rows, not scaled."""
        form = self.whole.rows
        return LogJoint(self.whole.posterior.model, Forms.of(form), self.data, False, self.width)

    @property
    def dim(self) -> int:
        return self.whole.dim

    @property
    def scale(self) -> float:
        """How often each row counts."""
        return self.whole.n_rows / len(self.rows)

    @property
    def width(self) -> int:
        return self.whole.width_of(len(self.rows))

    def log_density(self, u: Floats) -> float:
        """The log density at `u` estimated from these rows."""
        return self.whole.rest.value(u) + self.scale * self.terms.value(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The same with its gradient."""
        rest, rest_gradient = self.whole.rest.value_and_gradient(u)
        rows, gradient = self.terms.value_and_gradient(u)
        return rest + self.scale * rows, rest_gradient + self.scale * gradient

    def log_densities(self, us: Floats) -> Floats:
        """The estimate at each row of `us` (n, dim), (n,)."""
        return self.whole.rest.values(us) + self.scale * self.terms.values(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        """The same with the gradients (n, dim)."""
        rest, rest_gradients = self.whole.rest.values_and_gradients(us)
        rows, gradients = self.terms.values_and_gradients(us)
        return rest + self.scale * rows, rest_gradients + self.scale * gradients

    def explain(self, u: Floats) -> str:
        return self.whole.explain(u)


def by_rows(posterior: LogDensity, size: str | None = None) -> ByRows:
    """Split a posterior by rows; without `size`, by the largest size along which it splits.

    Raises:
        InferenceError: the target does not split; the message names the size and the terms tried.
    """
    sizes = row_sizes(posterior.model.program(ARRAYS))
    if size is not None and size not in sizes:
        known = ", ".join(sizes) or "none"
        raise InferenceError(f"`{size}` does not count rows: the sizes of data are {known}.")
    candidates = [size] if size is not None else sorted(sizes, key=lambda s: -posterior.d.of(s))
    reasons = []
    for candidate in candidates:
        batches = whole_rows(posterior, candidate)
        reason = why_not(batches, np.random.default_rng(0))
        if reason is None:
            return batches
        reasons.append(reason)
    reason = "\n".join(reasons) or "The data block has no size that could count rows."
    raise InferenceError(reason, "PPL974")


def whole_rows(posterior: LogDensity, rows: str) -> ByRows:
    """The posterior by rows that a size counts; whether its terms add up is not tried."""
    return ByRows(posterior, split_rows(posterior.model.program(ARRAYS), rows))


def why_not(batches: ByRows, rng: np.random.Generator, rows: Rows | None = None) -> str | None:
    """Why the row terms do not add up over rows, these or some; None when they do, tried at random points and
    cuts.
    """
    size, everything = batches.split.size, some_rows(batches, rng) if rows is None else rows
    if batches.split.terms and len(everything) < 2:
        return f"By `{size}`: with one row, it is unknown whether the terms of the target add up over rows."
    if not batches.split.terms:
        return f"By `{size}`: no term of the target depends on its rows."
    if named := batches.split.named:
        return f"By `{size}`: a row is read by its index, which is another row in a subset.\n{excerpt(named)}"
    if sums := batches.split.sums:
        return f"By `{size}`: target() is read, which differs over a subset of rows.\n{excerpt(sums)}"
    try:
        added = adds_up(batches, everything, rng)
    except (InferenceError, ValueError, IndexError) as error:
        return f"By `{size}`: the terms of a subset cannot be computed.\n{error}"
    if not added or not adds_up_on_sides(batches, everything, rng):
        return f"By `{size}`: these terms do not add up over rows.\n{excerpt(batches.split.terms)}"
    return None


def adds_up(batches: ByRows, everything: Rows, rng: np.random.Generator) -> bool:
    """Whether the terms of two parts add up to those of all rows, at random points and cuts."""
    for _ in range(ROW_SPLIT.tries):
        u = rng.normal(0.0, 0.5, batches.dim)
        shuffled = rng.permutation(everything)
        cut = int(rng.integers(1, len(everything)))
        whole = batches.row_terms(u, everything)
        parts = sum(batches.row_terms(u, np.sort(part)) for part in (shuffled[:cut], shuffled[cut:]))
        if np.isfinite(whole) and not abs(parts - whole) <= ROW_SPLIT.tolerance * max(1.0, abs(whole)):
            return False
    return True


def adds_up_on_sides(batches: ByRows, everything: Rows, rng: np.random.Generator) -> bool:
    """The same on each side of every branch on parameters, which none of these points may take.

    A side that cannot be computed at points that do not take it says nothing.
    """
    for sides in sides_of(batches.posterior.model.lowered):
        with suppress(InferenceError, ValueError, LookupError, ArithmeticError, RecursionError):
            if not adds_up(replace(batches, sides=sides), everything, rng):
                return False
    return True


def some_rows(batches: ByRows, rng: np.random.Generator) -> Rows:
    """The rows to try a split on: all of them, or as many as show whether they stand alone."""
    count = batches.n_at_hand
    if count <= ROW_SPLIT.enough_rows:
        return batches.at_hand(np.arange(count))
    return batches.at_hand(np.sort(rng.choice(count, ROW_SPLIT.enough_rows, replace=False)))


def excerpt(spans: Iterable[Span]) -> str:
    return "\n".join(span.describe() for span in dict.fromkeys(spans))
