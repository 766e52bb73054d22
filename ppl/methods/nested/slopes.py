"""Gradients of Laplace's approximation of the marginal log density of the outer coordinates.

With P minus the Hessian by the latent coordinates at their mode, the gradient of log det P is one of traces
of P^-1 times third derivatives (Kristensen et al. 2016, section 2.1). Where latent coordinates meet few
others, P^-1 is a sum of few squares s s' as far as it counts, and the traces are second differences of the
gradient along these. How the mode moves costs one more solution with P.
"""

from collections.abc import Iterator

import numpy as np

from ppl.floats import Floats
from ppl.methods.nested.coupled import Factored
from ppl.methods.nested.field import Fields
from ppl.methods.nested.modes import MODES, Modes
from ppl.methods.nested.sparse import Field

DIFFERENCE = 3e-3
"""The step of second differences, in sds."""
OUTER_MOVE = 1e-2
"""The step of differences of log marginals."""
MOVE = 1e-2
"""The step of the difference along the move of the mode, which is linear in it."""


def slopes(inner: Fields, outer: Floats, at: Floats, factors: Factored) -> Floats:
    """The gradients (n, d) of the log marginals at outer points (n, d) with the modes (n, k), by the factors
    of precisions there.
    """
    if inner.shared:
        return by_differences(inner, outer, at)
    here, traces = third_derivatives(inner, outer, at, factors)
    if inner.structure.is_normal:
        return np.asarray((here + 0.5 * traces)[:, inner.structure.outer])
    move = MOVE * factors.solve(inner.latent(traces))
    ahead, behind = gradients_beside(inner, outer, at, np.stack([move, -move]))
    return np.asarray((here + 0.5 * traces + (ahead - behind) / (4 * MOVE))[:, inner.structure.outer])


def by_differences(inner: Fields, outer: Floats, at: Floats) -> Floats:
    """The same by differences of log marginals, of fields of which these cost less than gradients."""
    d = outer.shape[1]
    moves = OUTER_MOVE * np.concatenate([np.eye(d), -np.eye(d)])
    points = (outer + moves[:, None]).reshape(-1, d)
    log_marginals = inner.modes(points, np.tile(at, (2 * d, 1)), MODES.near).log_marginals
    ahead, behind = log_marginals.reshape(2, d, -1)
    return np.asarray((ahead - behind).T / (2 * OUTER_MOVE))


def profile_slopes(inner: Fields, outer: Floats, modes: Modes, directions: Floats) -> Floats:
    """The slopes (2 d + 1, d) along directions (d, d) of log marginals at a point and at both ends of each.

    Those of the log density at the modes are gradients, those of the log determinants differences, also to
    the points between two ends, which come last among the outer points: so each takes one Hessian.
    """
    d, heights = len(directions), modes.half_log_dets
    ends = slice(0, 2 * d + 1)
    here = inner.target.gradients_alone(inner.points(outer[ends], modes.at[ends]))
    centre, ahead, behind, between = np.split(heights, [1, 1 + d, 1 + 2 * d])
    bend = np.diag(ahead + behind - 2 * centre)
    first, second = np.triu_indices(d, 1)
    bend[first, second] = bend[second, first] = between - ahead[first] - ahead[second] + centre
    slopes_ = here[:, inner.structure.outer] @ directions.T - (ahead - behind) / 2
    return np.asarray(slopes_ - np.concatenate([np.zeros_like(bend[:1]), bend, -bend]))


def profile(inner: Fields, outer: Floats, at: Floats, factors: Factored) -> tuple[Floats, Floats]:
    """Minus the Hessians (n, d, d) of the log density of the whole by outer coordinates, with the rest at its
    mode: those of the log marginal but for the determinant. And how modes move with each, (n, d, k).

    They are at outer points (n, d) with the modes (n, k), by the factors of precisions there.
    """
    n, d = outer.shape
    sizes = DIFFERENCE * np.maximum(np.abs(outer), 1.0)
    steps = sizes * np.eye(d)[:, None]
    points = np.concatenate([outer + steps, outer - steps]).reshape(-1, d)
    gradients = inner.target.gradients_alone(inner.points(points, np.tile(at, (2 * d, 1))))
    ahead, behind = gradients.reshape(2, d, n, -1)
    changes = (behind - ahead) / (2 * sizes.T[..., None])
    crossed = changes[..., inner.structure.latent]
    solved = np.stack([factors.solve(each) for each in crossed])
    curvatures = changes[..., inner.structure.outer] - np.einsum("ink,jnk->inj", crossed, solved)
    both = curvatures.transpose(1, 0, 2), curvatures.transpose(1, 2, 0)
    return (both[0] + both[1]) / 2, -solved.transpose(1, 0, 2)


def third_derivatives(inner: Fields, outer: Floats, at: Floats, factors: Factored) -> tuple[Floats, Floats]:
    """At outer points (n, d) and modes (n, k) the gradient (n, dim) by all coordinates, and that of traces of
    P^-1 times the Hessian, by the factors of P; of a field with a density of its own at shared outer points
    only by coordinates of the field.
    """
    signs, squares = map(np.array, zip(*by_colours(inner.structure, factors.inverses), strict=True))
    steps = DIFFERENCE * squares
    each = gradients_beside(inner, outer, at, np.concatenate([steps, -steps, 0 * steps[:1]]))
    (ahead, behind), here = each[:-1].reshape(2, *steps.shape[:2], -1), each[-1]
    traces = np.tensordot(signs, ahead + behind - 2 * here, axes=1) / DIFFERENCE**2
    return here, traces


def gradients_beside(inner: Fields, outer: Floats, at: Floats, steps: Floats) -> Floats:
    """Gradients (k, n, dim) at steps (k, n, ...) from latent coordinates (n, ...)."""
    latent = (at + steps).reshape(-1, *at.shape[1:])
    points = inner.points(np.tile(outer, (len(steps), 1)), latent)
    return (inner.shared or inner.target).gradients_alone(points).reshape(*steps.shape[:2], -1)


def by_colours(structure: Field, inverses: Floats) -> Iterator[tuple[float, Floats]]:
    """Vectors s (n, k), each with a sign, whose s s' add up to inverses within the bands (n, b + 1, k).

    They go by colours as the precisions are read. With a of the coordinates of a colour and b of the rows
    read there, a b' + b a' is a difference of two.
    """
    reading, sds = structure.reading, np.sqrt(inverses[:, 0])
    for colour in range(structure.colours.max() + 1):
        own = reading.colour == colour
        row, of_coordinate = reading.row[own], reading.coordinate[own]
        a, b = np.zeros((2, *sds.shape))
        a[:, of_coordinate] = 0.5 * sds[:, of_coordinate]
        share = np.where(row == of_coordinate, 0.5, 1.0)
        b[:, row] = share * inverses[:, reading.below[own], reading.column[own]] / sds[:, of_coordinate]
        yield 1.0, a + b
        yield -1.0, a - b
