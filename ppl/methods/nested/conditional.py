"""The densities of blocks given the outer coordinates, as exponentials of polynomials, and draws of them.

A polynomial is fitted to the gradients of a block at a few nodes about its mode, the same for all blocks. Its
integral is a sum over a grid; draws come by rejection, so that their density is known. A quadratic one is a
normal's.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.methods.nested.blocks import (
    BLOCK_MODES,
    Blocks,
    Modes,
    cholesky,
    inverses,
    repaired_factors,
    solve_lower,
    solve_upper,
    times,
)
from ppl.methods.nested.polynomials import Polynomials
from ppl.methods.numerics.quantiles import quantiles
from ppl.records import dataclass, replace


class ConditionalLimits(NamedTuple):
    """How densities of blocks are approximated."""

    first_degree: int = 4
    """The degree of the polynomial that says where a block lies."""

    degrees: Mapping[int, tuple[int, ...]] = {
        1: (2, 4, 6, 8, 10, 14),
        2: (2, 4, 6, 8),
        3: (2, 4, 6),
        4: (2, 3, 4),
        5: (2, 3, 4),
        6: (2, 3),
    }
    """The degrees of the polynomials that draws are made by, by width of a block."""

    same: float = 0.3
    """The sd of log weights up to which a polynomial of fewer terms will do."""

    same_at: float = 0.9
    """At what share of the outer points they are so."""

    centre_passes: int = 4
    """How often polynomials are moved to where the mass is, at the mode of the outer coordinates."""

    passes: int = 3
    """The same at every draw of these."""

    off_centre: float = 0.5
    """How far polynomials are moved, in sds, or widened, in logs, that need not be fitted again."""

    depth: float = 16.0
    """Nats below its peak where a density of one variable ends; a ten-millionth of its mass is beyond."""

    widening: float = 1.7
    """How much farther it is looked for where it has not ended; polynomials in a ball that is too small are
    then widened by more than `off_centre`.
    """

    like_normal: float = 0.02
    """Log densities that differ from a normal's by less, where its mass is, are those of a normal."""

    places: int = 67
    """Places along a single variable at which its density is looked at for where it ends."""

    normal_within: float = 3.0
    """Where that is, in sds."""

    degrees_and_width: tuple[int, ...] = (6, 6, 6, 12, 12, 12)
    """The degrees of freedom of the Student's t that draws are proposed by, and a block's width, in sum, by
    width: its density is a power of 3 or 6. Tails of blocks may fall off as an exponential does.
    """

    wider: float = 1.5
    """How many times as wide as by the curvature a normal is where no polynomial lies where its mass is."""

    most_tries: int = 300
    """Proposals for a draw."""

    numbers_at_once: int = 300_000
    """Values on grids that are held at once."""


CONDITIONAL = ConditionalLimits()


class Totals(NamedTuple):
    """Moments by grids of n x g blocks: log integrals over z (n, g), means (n, g, w), Cholesky factors of
    covariances (n, g, w, w), the largest log ratio (n, g) to the Student's t with these, which proposes
    draws that are not normal, and for single variables where each begins and ends, (n, g, 2).
    """

    log_totals: Floats
    means: Floats
    factors: Floats
    bounds: Floats
    ends: Floats


@dataclass(frozen=True)
class Conditional:
    """The blocks at n outer points: centres (n, g, w), scales (n, g, w, w), and coefficients (n, g, p).

    A block is at centre + scale z, and the log density of z that of a polynomial, less its log integral.
    """

    basis: Polynomials
    centres: Floats
    scales: Floats
    coefficients: Floats
    totals: Totals

    def parts(self) -> Iterator[Floats]:
        """Log densities (k, m, g) on the grid, 0 at the centre, of some outer points at a time."""
        return on_grid(self.basis, self.coefficients)

    def with_rows(self, rows: NDArray[np.bool_], other: "Conditional") -> "Conditional":
        """With others (m, g, ...) in place of some rows, as marked (n,)."""
        return self._replaced(rows, other, slice(None))

    def with_blocks(self, some: NDArray[np.bool_], other: "Conditional") -> "Conditional":
        """With others (m, 1, ...) in place of some blocks, as marked (n, g)."""
        return self._replaced(some, other, (slice(None), 0))

    def _replaced(self, where: NDArray[np.bool_], other: "Conditional", own: Any) -> "Conditional":
        def replaced(array: Floats, others: Floats) -> Floats:
            array = array.copy()
            array[where] = others[own]
            return array

        parts = ("centres", "scales", "coefficients")
        changes: dict[str, Any] = {
            name: replaced(getattr(self, name), getattr(other, name)) for name in parts
        }
        return replace(self, totals=Totals(*map(replaced, self.totals, other.totals)), **changes)

    def at(self, z: Floats) -> Floats:
        """The values of the blocks (n, g, w)."""
        return np.asarray(self.centres + times(self.scales, z))

    def log_densities(self, z: Floats) -> Floats:
        """The log densities (n,) of all blocks together at `at(z)`."""
        heights = self.basis.heights(z, self.coefficients) - self.totals.log_totals
        scales, many = self.scales, z.shape[-1] > 1
        log_det = np.linalg.slogdet(scales)[1] if many else np.log(np.abs(scales[..., 0, 0]))
        return np.asarray((heights - log_det).sum(axis=1))

    def draws(self, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
        """One draw z (n, g, w) of every block, by rejection, and which rows (n,) are complete."""
        shape, w = self.centres.shape, self.basis.width
        _, means, factors, bounds, _ = self.totals
        if self.basis.quadratic:
            z = means + times(factors, rng.standard_normal(shape))
            return z, np.asarray(np.isfinite(z).all(axis=(1, 2)))
        z, left, blocks = np.zeros((bounds.size, w)), np.arange(bounds.size), (means, factors, bounds)
        own = [each.reshape(bounds.size, *each.shape[2:]) for each in (*blocks, self.coefficients)]
        for _ in range(CONDITIONAL.most_tries):
            if not len(left):
                break
            mean, factor, bound, coefficients = own
            noise = student(len(left), w, rng)
            tried = mean + times(factor, noise)
            chance = self.basis.heights(tried, coefficients) - bound
            chance += np.log(student_inverse((noise**2).sum(axis=1), w))
            inside = (tried**2).sum(axis=1) <= self.basis.radius**2
            taken = inside & (np.log(rng.random(len(chance))) < chance)
            z[left[taken]] = tried[taken]
            left, own = left[~taken], [each[~taken] for each in own]
        complete = np.ones(shape[0], dtype=bool)
        complete[left // shape[1]] = False
        return z.reshape(shape), complete


def on_grid(basis: Polynomials, coefficients: Floats) -> Iterator[Floats]:
    """Log densities (k, m, g) of blocks by coefficients (n, g, p), for as many rows as are held at once.

    Sums and maxima over the first axis are those of whole rows of numbers.
    """
    size = max(1, CONDITIONAL.numbers_at_once // (coefficients.shape[1] * len(basis.grid)))
    for k in range(0, len(coefficients), size):
        some = coefficients[k : k + size]
        yield (basis.on_grid @ some.reshape(-1, some.shape[-1]).T).reshape(-1, *some.shape[:2])


def totals_of(basis: Polynomials, heights: Floats) -> Totals:
    """The moments by log densities (k, m, g) on the grid."""
    w, shape = basis.width, heights.shape[1:]
    peaks = heights.max(axis=0)
    heights = heights - peaks
    ratios = np.exp(heights)
    sums = basis.cell_powers.T @ ratios.reshape(len(ratios), -1)
    total, moments = sums[0].reshape(shape), (sums[1:] / sums[0]).T
    means, squares = moments[:, :w].reshape(*shape, w), moments[:, w:].reshape(*shape, w, w)
    factors, _ = repaired_factors(squares - means[..., :, None] * means[..., None, :])
    inverse = inverses(factors)
    lengths = squared_distances(basis, means, inverse.swapaxes(-1, -2) @ inverse)
    bounds = np.log((ratios * student_inverse(lengths, w)).max(axis=0)) + peaks
    ends = ends_of(basis.grid[:, 0], heights) if w == 1 else np.zeros((*shape, 2))
    return Totals(peaks + np.log(total), means, factors, bounds, ends)


def normal_totals(basis: Polynomials, coefficients: Floats) -> Totals:
    """The same of densities that are normal, nan where a polynomial (n, g, p) is of none."""
    slopes, precisions = basis.at_centre(coefficients)
    factors = cholesky(precisions)
    half = solve_lower(factors, slopes)
    log_totals = 0.5 * ((half**2).sum(axis=-1) + basis.width * LOG_2PI)
    log_totals -= np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
    inverse = inverses(factors)
    covariances = inverse.swapaxes(-1, -2) @ inverse
    none = np.zeros((*slopes.shape[:2], 2))
    return Totals(log_totals, solve_upper(factors, half), cholesky(covariances), none[..., 0], none)


def squared_distances(basis: Polynomials, means: Floats, precisions: Floats) -> Floats:
    """(z - m)' P (z - m) at all points of the grid (k, m, g), by one product of matrices."""
    linear = -2 * times(precisions, means)
    constant = -0.5 * (linear * means).sum(axis=-1, keepdims=True)
    flat = precisions.reshape(*means.shape[:2], -1)
    terms = np.concatenate([constant, linear, flat], axis=-1).reshape(-1, basis.grid_powers.shape[1])
    return np.asarray(basis.grid_powers @ terms.T).reshape(-1, *means.shape[:2])


def ends_of(z: Floats, heights: Floats) -> Floats:
    """Where densities (k, m, g) over single variables z (k,) begin and end (m, g, 2), if need be beyond."""
    return np.stack([-end_of(-z[::-1], heights[::-1]), end_of(z, heights)], axis=-1)


def end_of(z: Floats, heights: Floats) -> Floats:
    """Where they end (m, g): on the line through two heights, at points z (k,), about there."""
    number = np.arange(len(z), dtype=np.int16)[:, None, None]
    last = ((heights > -CONDITIONAL.depth) * number).max(axis=0)
    at = np.minimum(last, len(z) - 2).astype(np.intp)
    here, after = (np.take_along_axis(heights, k[None], axis=0)[0] for k in (at, at + 1))
    steps = (here + CONDITIONAL.depth) / np.maximum(here - after, np.finfo(float).tiny)
    return np.asarray(np.minimum(z[at] + steps * (z[1] - z[0]), CONDITIONAL.widening * z[-1]))


def student(n: int, width: int, rng: np.random.Generator) -> Floats:
    """Draws (n, width) of Student's t, that propose those of a block."""
    degrees = CONDITIONAL.degrees_and_width[width - 1] - width
    return rng.standard_normal((n, width)) / np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)


def student_inverse(squares: Floats, width: int) -> Floats:
    """One over its density at points of squared length, up to a constant."""
    total = CONDITIONAL.degrees_and_width[width - 1]
    root = 1 + squares / (total - width)
    cube = root * root * root  # a power of NumPy's costs ten times as much
    return np.asarray(cube if total == 6 else cube * cube)


# --- Where blocks lie ----------------------------------------------------------------------------


class BlockShapes(NamedTuple):
    """Where blocks lie beside their modes, in sds of the curvature there: centres (g, w), scales (g, w, w);
    and the polynomials that their densities are fitted by, unless these are normals by the curvature.
    """

    offsets: Floats
    scales: Floats
    basis: Polynomials
    by_curvature: bool = False


def shape_of(blocks: Blocks, outer: Floats, modes: Modes) -> BlockShapes:
    """The shape of the blocks by their modes at a few outer points (n, d), of which the first is a mode."""
    width, own = blocks.structure.width, modes.scales
    *fewer, richest = (Polynomials.of(width, degree) for degree in CONDITIONAL.degrees[width])
    if width == 1:
        refined = fitted(blocks, outer[:1], *between_ends(blocks, outer[:1], modes.at[:1], own[:1]), richest)
    else:
        first = Polynomials.of(width, min(CONDITIONAL.first_degree, richest.degree))
        refined = fitted(blocks, outer[:1], modes.at[:1], own[:1], first)
        for _ in range(0 if is_normal(refined) else CONDITIONAL.centre_passes):
            refined = fitted(blocks, outer[:1], *placed(refined), richest)
            if not far_off(refined).any():
                break
    inverse = inverses(own[:1])
    offsets = times(inverse, refined.centres - modes.at[:1])[0]
    shape = BlockShapes(offsets, (inverse @ refined.scales)[0], richest)
    best = about(blocks, outer, modes, shape)
    simpler_ones = [shape._replace(basis=basis) for basis in fewer]
    if width > 1 and is_normal(refined):
        simpler_ones.insert(0, simpler_ones[0]._replace(by_curvature=True))
    for simpler in simpler_ones:
        off = distance(best, about(blocks, outer, modes, simpler))
        if quantiles(off, [CONDITIONAL.same_at])[0] < CONDITIONAL.same:
            return simpler
    return shape


def between_ends(blocks: Blocks, outer: Floats, at: Floats, scales: Floats) -> tuple[Floats, Floats]:
    """Centres (n, g, 1) and scales (n, g, 1, 1) of polynomials of single variables, whose radius ends where
    the density does: by gradients along the way from the mode, which no polynomial need follow.
    """
    radius = Polynomials.of(1, 1).radius
    z = np.linspace(-CONDITIONAL.widening * radius, CONDITIONAL.widening * radius, CONDITIONAL.places)
    slopes = blocks.gradients_at_each(outer, [at + scales[..., 0] * each for each in z])
    stacked = (np.stack(slopes) * scales[..., 0])[..., 0]
    areas = 0.5 * (stacked[1:] + stacked[:-1]) * (z[1] - z[0])
    heights = np.concatenate([np.zeros_like(stacked[:1]), np.cumsum(areas, axis=0)])
    ends = ends_of(z, heights - heights.max(axis=0))
    centres = at + scales[..., 0] * ends.mean(axis=-1, keepdims=True)
    return centres, scales * (0.5 * (ends[..., 1] - ends[..., 0]) / radius)[..., None, None]


def is_normal(each: Conditional) -> bool:
    """Whether all blocks are standard normals in their scales, where the mass of these is."""
    squares = (each.basis.grid**2).sum(axis=1)
    near = squares <= CONDITIONAL.normal_within**2
    off = each.coefficients @ each.basis.on_grid[near].T + 0.5 * squares[near]
    return bool((np.abs(off) < CONDITIONAL.like_normal).all())


def about(blocks: Blocks, outer: Floats, modes: Modes, shape: BlockShapes) -> Conditional:
    """The densities of the blocks at outer points (n, d), of a shape about their modes."""
    own = modes.scales
    if shape.by_curvature:
        standard = np.tile(shape.basis.standard_normal, (*modes.at.shape[:2], 1))
        return by_coefficients(shape.basis, modes.at, own, standard)
    centres = modes.at + times(own, shape.offsets)
    return fitted(blocks, outer, centres, own @ shape.scales, shape.basis)


def distance(a: Conditional, b: Conditional) -> Floats:
    """How far two log densities of all blocks are apart: the sd of the difference under the first, (n,)."""
    distances = []
    for heights, others in zip(a.parts(), b.parts(), strict=True):
        weights = np.exp(heights - heights.max(axis=0) + a.basis.log_cells[:, None, None])
        weights /= weights.sum(axis=0)
        off = heights - others
        off -= (weights * off).sum(axis=0)
        distances.append(np.sqrt((weights * off**2).sum(axis=(0, 2))))
    return np.concatenate(distances)


def conditional(blocks: Blocks, outer: Floats, modes: Modes, shape: BlockShapes) -> Conditional:
    """The densities of the blocks at outer points (n, d), by their modes there.

    Where polynomials do not settle the mode, of which only the place was looked for, is found with its
    curvature, and they begin there. Where they do not settle from there, as where they rise again at the edge
    of their ball, the density is a wide normal about the mode: its weights are uneven, but it is where the
    block is.
    """
    refitted = fitted_where_they_lie(blocks, outer, about(blocks, outer, modes, shape))
    rows = np.asarray(far_off(refitted).any(axis=1))
    if not rows.any():
        return refitted
    outer, modes = outer[rows], blocks.modes(outer[rows], modes.at[rows], BLOCK_MODES.near)
    again = fitted_where_they_lie(blocks, outer, about(blocks, outer, modes, shape))
    if (off := far_off(again)).any():
        again = again.with_blocks(off, wide_normals(modes.at[off], modes.scales[off], shape.basis))
    return refitted.with_rows(rows, again)


def wide_normals(at: Floats, scales: Floats, basis: Polynomials) -> Conditional:
    """Normals about m modes (m, w), as densities (m, 1, ...)."""
    standard = np.tile(basis.standard_normal, (len(at), 1, 1))
    return by_coefficients(basis, at[:, None], CONDITIONAL.wider * scales[:, None], standard)


def fitted_where_they_lie(blocks: Blocks, outer: Floats, refitted: Conditional) -> Conditional:
    """Densities of the blocks at outer points (n, d), where one lies elsewhere fitted again to that block."""
    off = far_off(refitted)
    for _ in range(CONDITIONAL.passes):
        if not off.any():
            break
        rows, some = off.any(axis=1), off[..., None]
        better = placed(refitted)
        centres = np.where(some, better[0], refitted.centres)
        scales = np.where(some[..., None], better[1], refitted.scales)
        values = coefficients(blocks, outer[rows], centres[rows], scales[rows], refitted.basis)
        own = (centres[off], scales[off], values[off[rows]])
        again = by_coefficients(refitted.basis, *(each[:, None] for each in own))
        refitted = refitted.with_blocks(off, again)
        off[off] = far_off(again)[:, 0]
    return refitted


def far_off(law: Conditional) -> NDArray[np.bool_]:
    """Which blocks (n, g) lie elsewhere than their polynomials."""
    centres, scales = placed(law)
    off = np.abs(solve_lower(law.scales, centres - law.centres)).max(axis=2)
    before, after = (np.diagonal(each, axis1=-2, axis2=-1) for each in (law.scales, scales))
    widened = np.abs(np.log(after / before)).max(axis=2)
    return np.asarray(~(np.maximum(off, widened) <= CONDITIONAL.off_centre))  # where nan, too


def placed(law: Conditional) -> tuple[Floats, Floats]:
    """Better centres (n, g, w) and scales (n, g, w, w) of polynomials: at the means, in sds.

    Those of single variables so that the radius ends where the density does, on either side.
    """
    totals = law.totals
    if law.basis.width > 1:
        return law.at(totals.means), law.scales @ totals.factors
    centres = law.at(totals.ends.mean(axis=-1, keepdims=True))
    half = 0.5 * (totals.ends[..., 1] - totals.ends[..., 0]) / law.basis.radius
    return centres, law.scales * half[..., None, None]


def fitted(blocks: Blocks, outer: Floats, centres: Floats, scales: Floats, basis: Polynomials) -> Conditional:
    """Polynomials fitted to gradients about centres (n, g, w), in scales (n, g, w, w)."""
    return by_coefficients(basis, centres, scales, coefficients(blocks, outer, centres, scales, basis))


def coefficients(
    blocks: Blocks, outer: Floats, centres: Floats, scales: Floats, basis: Polynomials
) -> Floats:
    """Those of the polynomials (n, g, p)."""
    slopes = blocks.gradients_at_each(outer, [centres + times(scales, z) for z in basis.nodes])
    turned = scales.swapaxes(-1, -2)
    stacked = np.stack([times(turned, each) for each in slopes], axis=2)  # (n, g, m, w)
    return np.asarray(stacked.reshape(*stacked.shape[:2], -1) @ basis.solver.T)


def by_coefficients(basis: Polynomials, centres: Floats, scales: Floats, coefficients: Floats) -> Conditional:
    """The densities by polynomials with these coefficients (n, g, p)."""
    if basis.quadratic:
        return Conditional(basis, centres, scales, coefficients, normal_totals(basis, coefficients))
    sums = [totals_of(basis, heights) for heights in on_grid(basis, coefficients)]
    totals = Totals(*map(np.concatenate, zip(*sums, strict=True)))
    return Conditional(basis, centres, scales, coefficients, totals)
