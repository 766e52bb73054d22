"""Blocks of latent variables at many values of the outer coordinates at once: gradients, modes, curvature.

The gradient of a sum of terms tells the blocks apart: its entries of one block are those of the terms of
that block alone. So one gradient of the target moves all blocks by a step of Newton's method each, and w more
give the Hessians of all blocks of w coordinates (Curtis, Powell and Reid 1974: a colour for each place in a
block).
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.kernel.advi.target import Inner, Target
from ppl.methods.nested.structure import Structure
from ppl.records import dataclass


class BlockModeLimits(NamedTuple):
    """How modes of blocks are found."""

    most_steps: int = 30
    """Steps of Newton's method."""

    most_steps_far: int = 12
    """The same for distant points that may count for nothing. In eight programs those that count took at
    most 7; steps of the others were up to half of all gradients of a fit.
    """

    longest: float = 3.0
    """The longest step, in sds of the curvature where it begins, or in units where that is longer."""

    near: float = 1e-3
    """A mode is found where the next step is shorter, in sds: differences of the heights there are taken."""

    quadratic: float = 1e-5
    """A block is quadratic, and its curvature known, where a whole step leaves so much of the way to go."""

    about: float = 0.7
    """The same where only the place of a block is wanted."""

    difference: float = 1e-4
    """The step of a difference of gradients, beside the size of the coordinate or 1."""

    widest_sd: float = 5.0
    """The sd where the log density does not curve downward."""

    largest_curvature: float = 1e100
    """With more LAPACK finds no eigenvalues; a point where a scale is so near 0 counts for nothing."""

    condition: float = 1e-10
    """The smallest curvature of a block beside its largest."""

    nearly_all: float = 0.8
    """The share of a step that is not taken back at once, as where slopes grow exponentially."""

    overrated: float = 2.0
    """How many times what a full step seems to gain, twice, may be gained until the mode."""

    at_once: int = 2**15
    """Numbers that the points of one call work through, where gradients are wanted at several values of the
    blocks: of few points a call is what costs.
    """

    overshot: float = 0.3
    """A step is taken back where the slope along it turns to this share of what it was, and points back."""


BLOCK_MODES = BlockModeLimits()


class Modes(NamedTuple):
    """Of n outer points: the modes of the blocks (n, g, w) or of a field (n, k).

    `half_log_dets` (n,) are log determinants of the precisions there, halved, `values` (n,) log densities of
    the whole, -inf at points given up, `found` (n,) whether all are at their modes, `factors` (n, g, w, w)
    Cholesky factors of the precisions of blocks, (n, 0) of a field.
    """

    at: Floats
    half_log_dets: Floats
    values: Floats
    found: NDArray[np.bool_]
    factors: Floats

    def at_rows(self, rows: NDArray[np.bool_] | slice) -> "Modes":
        """Those of some of the outer points."""
        return Modes._make(each[rows] for each in self)

    @property
    def scales(self) -> Floats:
        """Those (n, g, w, w) in which the curvature at the modes is one."""
        return inverses(self.factors).swapaxes(-1, -2)

    @property
    def log_marginals(self) -> Floats:
        """The log density of the outer coordinates, (n,), by Laplace's approximation; -inf without modes."""
        return np.where(self.found, self.about_here, -np.inf)

    @property
    def about_here(self) -> Floats:
        """The same by the curvature where the search for modes ended, (n,)."""
        return np.asarray(self.values - self.half_log_dets + 0.5 * prod(self.at.shape[1:]) * LOG_2PI)


@dataclass(frozen=True)
class Blocks:
    """A target by its structure: outer points (n, d) and values of the blocks (n, g, w)."""

    target: Target
    structure: Structure

    is_costly = False

    @property
    def exact(self) -> "Blocks":
        """The same with Hessians of its own at every point."""
        return self

    @cached_property
    def inside(self) -> Target:
        """The target, of whose gradients at many points only those in the blocks are looked at."""
        return self.target.view(Inner(self.structure.outer)) or self.target

    def points(self, outer: Floats, latent: Floats) -> Floats:
        """The points (n, dim) of the target."""
        s = self.structure
        u = np.empty((len(outer), s.dim + 1))
        u[:, s.outer] = outer
        u[:, s.blocks.ravel()] = latent.reshape(len(outer), -1)
        return np.asarray(u[:, : s.dim])

    def latent(self, u: Floats) -> Floats:
        """The values of the blocks (n, g, w) at points u (n, dim); 0 in places left over."""
        extended = np.concatenate([u, np.zeros((len(u), 1))], axis=1)
        return np.asarray(extended[:, self.structure.blocks])

    def values(self, outer: Floats, latent: Floats) -> Floats:
        """The log density of the whole, (n,)."""
        return self.target.log_densities(self.points(outer, latent))

    def values_and_gradients(self, outer: Floats, latent: Floats) -> tuple[Floats, Floats]:
        """The log density of the whole (n,) with places that are left over; gradients by block (n, g, w).

        These places hold standard normals, so that all blocks are of one width.
        """
        values, slopes = self.inside.log_density_gradients(self.points(outer, latent))
        values = values + self.left_over(latent)
        return values, np.where(self.structure.filled, self.latent(slopes), -latent)

    def gradients(self, outer: Floats, latent: Floats) -> Floats:
        """These alone."""
        slopes = self.inside.gradients_alone(self.points(outer, latent))
        return np.where(self.structure.filled, self.latent(slopes), -latent)

    def gradients_at_each(self, outer: Floats, latents: Sequence[Floats]) -> list[Floats]:
        """The gradients at several values of the blocks (n, g, w), of as many in a call as may be."""
        few = max(1, BLOCK_MODES.at_once // (max(1, len(outer)) * self.target.width))
        calls = [latents[k : k + few] for k in range(0, len(latents), few)]
        each = (self.gradients(np.tile(outer, (len(some), 1)), np.concatenate(some)) for some in calls)
        return [at for some, own in zip(calls, each, strict=True) for at in np.split(own, len(some))]

    def left_over(self, latent: Floats) -> Floats:
        """The log density (n,) of the standard normals in places left over."""
        spare = latent[:, ~self.structure.filled]
        return np.asarray(-0.5 * ((spare**2).sum(axis=1) + spare.shape[1] * LOG_2PI))

    def precisions(self, outer: Floats, latent: Floats, gradients: Floats) -> Floats:
        """Minus the Hessians (n, g, w, w) of the blocks, by differences of gradients."""
        return differences(latent, gradients, self.gradients_at_each(outer, [*points_beside(latent)]))

    def expansion(self, outer: Floats, latent: Floats) -> tuple[Floats, Floats, Floats | None]:
        """`values_and_gradients`, and the precisions where one call for all of few points gives them too."""
        several = 1 + self.structure.width
        if several * len(outer) * self.target.width > BLOCK_MODES.at_once:
            return *self.values_and_gradients(outer, latent), None
        points = np.concatenate([latent, *points_beside(latent)])
        values, slopes = self.values_and_gradients(np.tile(outer, (several, 1)), points)
        here, *beside = np.split(slopes, several)
        return values[: len(outer)], here, differences(latent, here, beside)

    def modes(self, outer: Floats, start: Floats, near: float, least: Floats | None = None) -> Modes:
        """The modes of all blocks at outer points (n, d), by Newton's method from a start (n, g, w).

        Those are given up that seem to have a log marginal below `least` (n,).
        """
        if least is None:
            return modes(self, outer, start, near, np.full(len(outer), -np.inf), BLOCK_MODES.most_steps)
        return modes(self, outer, start, near, least, BLOCK_MODES.most_steps_far)

    def factors(self, outer: Floats, latent: Floats) -> Floats:
        """Cholesky factors (n, g, w, w) of the precisions at values of the blocks."""
        return repaired_factors(self.precisions(outer, latent, self.gradients(outer, latent)))[0]

    def beside(self, outer: Floats, at: Floats, distance: float, rng: np.random.Generator) -> Floats:
        """Points (n, g, w) so many sds from modes, from which others may be found."""
        direction = rng.standard_normal(at.shape)
        direction /= np.sqrt((direction**2).sum(axis=-1, keepdims=True))
        return np.asarray(at + distance * solve_upper(self.factors(outer, at), direction))

    def distances(self, outer: Floats, at: Floats, other: Floats) -> Floats:
        """How far others are from modes, in sds of the block that is farthest, (n,)."""
        return np.asarray(lengths(self.factors(outer, at), other - at).max(axis=1))


def steps_beside(latent: Floats) -> Floats:
    """The steps of differences of gradients at values of the blocks (n, g, w)."""
    return BLOCK_MODES.difference * np.maximum(np.abs(latent), 1.0)


def points_beside(latent: Floats) -> Iterator[Floats]:
    """Values of the blocks (n, g, w), one place of each block after the other a step away."""
    steps = steps_beside(latent)
    for k in range(latent.shape[-1]):
        shifted = latent.copy()
        shifted[..., k] += steps[..., k]
        yield shifted


def differences(latent: Floats, gradients: Floats, beside: Sequence[Floats]) -> Floats:
    """Minus the Hessians (n, g, w, w) by gradients at values of the blocks, and at those beside them."""
    steps = steps_beside(latent)
    columns = [(gradients - there) / steps[..., k, None] for k, there in enumerate(beside)]
    matrices = np.stack(columns, axis=-1)
    return np.asarray(0.5 * (matrices + matrices.swapaxes(-1, -2)))


def modes(blocks: Blocks, outer: Floats, start: Floats, near: float, least: Floats, most_steps: int) -> Modes:
    """As `Blocks.modes`, in so many steps at most."""
    n, shape, constant = len(outer), start.shape, 0.5 * start[0].size * LOG_2PI
    at, values, settled = start.copy(), np.full(n, -np.inf), np.zeros(n, dtype=bool)
    factors = np.broadcast_to(np.eye(shape[2]), (*shape, shape[2])).copy()
    steps, slopes, whole = np.zeros(shape), np.zeros(shape[:2]), np.full(shape[:2], -1.0)
    going = np.arange(n)
    for _ in range(most_steps):
        values[going], gradient, precisions = blocks.expansion(outer[going], at[going])
        known = curvature_known(factors[going], gradient, whole[going], near)
        settled[going[known]] = True
        going, gradient = going[~known], gradient[~known]
        if not going.size:
            break
        if precisions is None:
            precisions = blocks.precisions(outer[going], at[going], gradient)
        else:
            precisions = precisions[~known]
        factors[going], concave = repaired_factors(precisions)
        step, slope, gain, shortened = newton_step(factors[going], at[going], gradient)
        seems = values[going] - half_log_dets(factors[going]) + BLOCK_MODES.overrated * gain + constant
        hopeless = concave & (seems < least[going])
        hopeless |= ~np.isfinite(values[going]) & ~steps[going].any(axis=(1, 2))  # outside the support
        back, share = turned(gradient, steps[going], slopes[going])
        step = np.where(back[..., None], -share[..., None] * steps[going], step)
        length, remaining = lengths(factors[going], step), np.where(back, 1 - share, 0.5)
        finite = np.isfinite(values[going]) & np.isfinite(step).all(axis=(1, 2))
        # where the density does not curve downward, a short step does not lead to a mode
        ended = finite & (length.max(axis=1) < np.where(concave, near, min(near, BLOCK_MODES.near)))
        values[going[ended]] += 0.5 * (gradient * step)[ended].sum(axis=(1, 2))  # what the step still gains
        here = finite[:, None, None]
        at[going] += np.where(here, step, -0.5 * steps[going])
        steps[going] = np.where(here & ~back[..., None], step, remaining[..., None] * steps[going])
        slopes[going] = np.where(finite[:, None] & ~back, slope, remaining * slopes[going])
        whole[going] = np.where(finite[:, None] & ~back & ~shortened, length, -1.0)
        settled[going] = ended
        values[going[hopeless & ~ended]] = -np.inf
        going = going[~(ended | hopeless)]
        if not going.size:
            break
    return Modes(at, half_log_dets(factors), values, settled, factors)


def curvature_known(factors: Floats, gradient: Floats, whole: Floats, near: float) -> NDArray[np.bool_]:
    """At which points (n,) all blocks are at their modes, with the curvature of where they came from.

    `whole` (n, g) are the lengths of the steps they took, below 0 where a step was shortened.
    """
    left = np.sqrt((solve_lower(factors, gradient) ** 2).sum(axis=-1))
    near = min(near, BLOCK_MODES.near)
    quadratic = (left <= BLOCK_MODES.quadratic * whole) | ((whole >= 0) & (np.maximum(whole, left) < near))
    return np.asarray(quadratic.all(axis=1))


def newton_step(
    factors: Floats, at: Floats, gradient: Floats
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """The steps (n, g, w) by factors of precisions, and the slopes along them (n, g).

    Also twice what steps that are not shortened seem to gain, (n,), and which are (n, g).
    """
    half = solve_lower(factors, gradient)
    step = solve_upper(factors, half)
    sds, units = np.sqrt((half**2).sum(axis=-1)), np.abs(step).max(axis=-1)
    longest, sizes = BLOCK_MODES.longest, np.abs(at).max(axis=-1)
    room = longest * np.maximum(1.0, sizes)
    share = np.maximum(longest / np.maximum(sds, longest), room / np.maximum(units, room))
    step *= share[..., None]
    return step, (gradient * step).sum(axis=-1), (half**2).sum(axis=(1, 2)), share < 1


def turned(gradient: Floats, step: Floats, slope: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Where the last step (n, g, w) went too far, and the share of it to take back.

    That is to where the slope is 0 if it is linear, but half where it would be nearly all.
    """
    now = (gradient * step).sum(axis=-1)
    back = (slope > 0) & (now < -BLOCK_MODES.overshot * slope)
    share = np.where(back, now / np.where(back, now - slope, 1.0), 0.0)
    return back, np.where(share > BLOCK_MODES.nearly_all, 0.5, share)


def half_log_dets(factors: Floats) -> Floats:
    """The log determinants (n,) of all factors (n, g, w, w)."""
    return np.asarray(np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=(1, 2)))


def repaired_factors(precisions: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Lower Cholesky factors (n, g, w, w) of symmetric matrices whose eigenvalues are made positive, and of
    which rows (n,) all were.
    """
    sensible = np.abs(precisions) < BLOCK_MODES.largest_curvature  # not where nan
    clean = np.where(sensible, precisions, np.eye(precisions.shape[-1]))
    least = BLOCK_MODES.widest_sd**-2
    if precisions.shape[-1] == 1:
        positive = np.where(clean > 0, clean, np.maximum(-clean, least))
        return np.asarray(np.sqrt(positive)), np.asarray((precisions > 0).all(axis=(1, 2, 3)))
    factors = cholesky(clean)
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    sound = diagonal.min(axis=-1) > np.sqrt(BLOCK_MODES.condition) * diagonal.max(axis=-1)  # not where nan
    as_given = (sound & sensible.all(axis=(2, 3))).all(axis=1)
    if not sound.all():
        factors[~sound] = cholesky(made_positive(clean[~sound], least))
    return factors, as_given


def made_positive(matrices: Floats, least: float) -> Floats:
    """Symmetric matrices (n, w, w) with positive eigenvalues, these at least for what was not negative."""
    sizes, vectors = np.linalg.eigh(matrices)
    sizes = np.where(sizes > 0, sizes, np.maximum(-sizes, least))
    sizes = np.maximum(sizes, BLOCK_MODES.condition * sizes.max(axis=-1, keepdims=True))
    return np.asarray((vectors * sizes[..., None, :]) @ vectors.swapaxes(-1, -2))


def cholesky(matrices: Floats) -> Floats:
    """Lower factors of symmetric matrices (..., w, w), nan where these are not positive.

    All at once by columns, as LAPACK is called for each.
    """
    factors = np.zeros_like(matrices)
    for k in range(matrices.shape[-1]):
        own = factors[..., k, :k]
        left = matrices[..., k:, k] - (factors[..., k:, :k] * own[..., None, :]).sum(axis=-1)
        factors[..., k:, k] = left / np.sqrt(left[..., :1])
    return factors


def inverses(matrices: Floats) -> Floats:
    """Of matrices (..., w, w); of numbers without LAPACK, whose calls cost more than they compute."""
    return np.asarray(1 / matrices if matrices.shape[-1] == 1 else np.linalg.inv(matrices))


def solve_lower(factors: Floats, x: Floats) -> Floats:
    """The inverse of lower factors (..., w, w) times vectors (..., w)."""
    out = np.empty(np.broadcast_shapes(x.shape, factors.shape[:-1]))
    for k in range(x.shape[-1]):
        known = (factors[..., k, :k] * out[..., :k]).sum(axis=-1)
        out[..., k] = (x[..., k] - known) / factors[..., k, k]
    return out


def solve_upper(factors: Floats, x: Floats) -> Floats:
    """The inverse of their transposes times vectors."""
    out = np.empty(np.broadcast_shapes(x.shape, factors.shape[:-1]))
    for k in reversed(range(x.shape[-1])):
        known = (factors[..., k + 1 :, k] * out[..., k + 1 :]).sum(axis=-1)
        out[..., k] = (x[..., k] - known) / factors[..., k, k]
    return out


def lengths(factors: Floats, x: Floats) -> Floats:
    """The size of vectors (n, g, w) in sds: |L' x|."""
    return np.asarray(np.sqrt((times(factors.swapaxes(-1, -2), x) ** 2).sum(axis=-1)))


def times(matrices: Floats, x: Floats) -> Floats:
    """Matrices (..., w, w) times vectors (..., w), by columns: `@` of small ones costs a call for each."""
    return np.asarray(sum(matrices[..., k] * x[..., k, None] for k in range(x.shape[-1])))
