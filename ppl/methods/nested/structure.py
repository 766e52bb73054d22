"""Which coordinates of a target are independent given a few others, as its gradient tells.

If the log density is a sum of terms of which none has both x and y, the gradient in y does not change with
x. So a point is moved in one coordinate, and the gradient looked at for what changed. What is found is never
taken on trust: the draws made by it are weighted by the density of the whole (see `weighted_draws`).
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats, Indices
from ppl.kernel.advi.target import Shared, Target
from ppl.methods.nested.adjacency import Graph
from ppl.methods.nested.couplings import COUPLINGS, MinusHessian, are_constant, couplings
from ppl.methods.nested.graph import (
    GRAPH,
    changes,
    graph_of,
    steps_of,
    with_graphs_beside,
)
from ppl.methods.nested.sparse import FIELD, Field, are_little_work, field_of
from ppl.methods.numerics.index_sets import all_but
from ppl.records import replace


class StructureLimits(NamedTuple):
    """The structure to be looked for."""

    fewest: int = 5
    """Coordinates of a target of which some are worth it."""

    most: int = 200_000
    """Coordinates; draws of more take more than a quarter of an hour."""

    fewest_latent: int = 2
    """Latent coordinates for each outer one: of coefficients and their scales, neither is the other's."""


STRUCTURE = StructureLimits()


def structure_of(target: Target, u: Floats, rng: np.random.Generator) -> Field | None:
    """The field of a target, seen from a point u (dim,) with a finite gradient; None where it has none."""
    field = field_seen_from(target, u, rng)
    return field and replace(field, is_normal=is_normal(target, field.latent, u, rng))


def is_normal(target: Target, latent: Indices, u: Floats, rng: np.random.Generator) -> bool:
    """Whether gradients by latent coordinates are linear in these, at u (dim,) and two distant points."""
    step, shift = np.zeros(len(u)), rng.normal(size=u.shape)
    step[latent] = rng.normal(size=len(latent))
    places = np.array([u, u + shift, u - shift])[:, None] + np.arange(3)[:, None] * step
    slopes = target.gradients_alone(places.reshape(-1, len(u))).reshape(places.shape)[..., latent]
    bend, size = slopes[:, 0] - 2 * slopes[:, 1] + slopes[:, 2], np.abs(slopes).max(axis=1)
    known = np.isfinite(slopes).all(axis=(1, 2))
    return bool(known.any() and (np.abs(bend) <= GRAPH.smallest_change * size)[known].all())


def field_seen_from(target: Target, u: Floats, rng: np.random.Generator) -> Field | None:
    """The field itself: without sums by which many coordinates meet, if need be.

    Coordinates that hardly meet at u may do so elsewhere, as those of a Gaussian process by its length scale.
    """
    within = STRUCTURE.fewest <= target.dim <= STRUCTURE.most
    graph = graph_of(target, u, rng) if within else None
    if graph is None:
        return None
    if whole := complete_field(target, u, rng, graph):
        return whole
    scalars, free, _ = target.kinds
    complete = partial(may_be_complete, target, u, rng.spawn(1)[0])
    fewest = STRUCTURE.fewest_latent
    if field := field_of(graph, scalars, free, fewest):
        everywhere = with_graphs_beside(graph, target, u, rng)
        if everywhere is None:
            return None
        if everywhere.size == graph.size:
            return field
        return field_of(everywhere, scalars, free, fewest, complete)
    if target.dim > GRAPH.most_alone or not (~scalars).any():
        return None
    touched = graph.matrix | np.eye(target.dim, dtype=bool)
    sums, rest = couplings(curvature(target, u, rng), touched, ~scalars)
    if sums and are_constant(sums, rest, curvature(target, u + rng.normal(size=u.shape), rng)):
        field = field_of(Graph.of_matrix(rest), scalars, free, fewest)
        return field and replace(field, couplings=tuple(each[field.latent] for each in sums))
    return field_of(graph, scalars, free, fewest, complete)


def complete_field(target: Target, u: Floats, rng: np.random.Generator, graph: Graph) -> Field | None:
    """The field of all coordinates without a constraint, if many more that are no scalar parameters meet at
    distant points than at u.

    So do the weights of a Gaussian process by its spectrum, of which little is left at a long length scale.
    """
    if target.dim > GRAPH.few or not are_little_work(target.dim, target.width):
        return None
    (own,), everywhere = rng.spawn(1), graph
    for _ in range(GRAPH.distant_points):
        beside = with_graphs_beside(everywhere, target, u, own, GRAPH.distance)
        if beside is None:
            return None
        everywhere = beside
    scalars, free, _ = target.kinds
    rest = np.flatnonzero(~scalars)
    if everywhere.among(rest).size <= GRAPH.grows * graph.among(rest).size:
        return None
    all_meet = Graph.of_matrix(np.ones((target.dim, target.dim), dtype=bool))
    complete = partial(may_be_complete, target, u, own)
    return field_of(all_meet, scalars, free, STRUCTURE.fewest_latent, complete)


def may_be_complete(target: Target, u: Floats, rng: np.random.Generator, outer: Indices, size: int) -> bool:
    """Whether the gradients of a Hessian of so many coordinates, one for each, are not too much work."""
    whole = target.width
    if are_little_work(size, whole):
        return True
    if size <= FIELD.most_normal and size * whole <= FIELD.most_numbers_normal:
        latent = all_but(target.dim, outer)
        if is_normal(target, latent, u, rng):
            return True
    most = min(FIELD.most_numbers_shared, FIELD.most_evaluations * whole)
    if size**2 > most:
        return False
    shared = target.view(Shared(outer))
    return shared is not None and size * shared.width <= most


def curvature(target: Target, u: Floats, rng: np.random.Generator) -> MinusHessian:
    """That between all pairs of coordinates, at distant points if the target is not quadratic."""
    steps, (values, noise) = steps_of(target.dim, rng), np.zeros((2, target.dim, target.dim))
    for part, change, size in changes(target, u, steps, np.eye(target.dim, dtype=bool)):
        values[part] = -change / steps[part, None]
        noise[part] = COUPLINGS.noise * size / np.abs(steps[part, None])
    return MinusHessian(values, noise)
