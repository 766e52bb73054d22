"""Labels in another order that leave a density as it is: which may be exchanged, and which order q is in.

The components of a mixture and the topics of a text may be in any order. Transpositions generate all orders:
K labels are exchangeable if the first may change places with each of the others. The order nearest to q is
that of a linear assignment (Kuhn 1955, Naval Research Logistics 2). None of the K! orders is listed.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import lgamma
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats, Indices
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Axis, Target
from ppl.late import assignment
from ppl.methods.numerics.index_sets import distinct


class LabelLimits(NamedTuple):
    """Where exchangeable labels are looked for."""

    most: int = 64
    """Labels, at most: longer axes are seldom of labels."""

    most_axes: int = 6
    """Axes of one size of which labels are looked for; beyond, only in all of them together."""

    slope: float = 1e-6
    """The difference of slopes of two labels below which there is none, in nats an sd."""

    rounding: float = 1e-10
    """The share of a log density by which those of two orders may differ."""

    distance: float = 1.5
    """Half of the distance from q to its image, in sds, below which both are one mode."""


EXCHANGES = LabelLimits()


class Labels(NamedTuple):
    """Labels `members` (count,) of which any two may change places along all of these axes.

    `groups` (count,) has the same number for labels that overlap under q: q has all orders within a group.
    """

    axes: tuple[Axis, ...]
    members: Indices
    groups: Indices

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def log_count(self) -> float:
        """The log of the number of orders, of which q has one and all that only differ within groups."""
        return log_factorial(self.size) - sum(map(log_factorial, np.bincount(self.groups)))

    def entries(self, u: Floats) -> list[Floats]:
        """What members are made of at points u (n, dim), (n, members, others) along each axis."""
        return [np.asarray((axis.basis @ u[:, axis.at])[:, self.members]) for axis in self.axes]

    def with_entries(self, u: Floats, entries: Sequence[Floats]) -> Floats:
        """Points u (n, dim) with other entries."""
        changed = u.copy()
        for axis, own in zip(self.axes, entries, strict=True):
            all_labels = axis.basis @ u[:, axis.at]
            all_labels[:, self.members] = own
            changed[:, axis.at] = axis.basis.T @ all_labels
        return changed

    def ordered(self, u: Floats, order: Indices) -> Floats:
        """Points u (n, dim) with member `order[:, k]` (n, members) at place k."""
        return self.with_entries(
            u, [np.take_along_axis(own, order[..., None], axis=1) for own in self.entries(u)]
        )

    def averaged(self, u: Floats) -> Floats:
        """Points u (n, dim) with members of one group equal."""
        same = self.groups[:, None] == self.groups
        return self.with_entries(u, [same / same.sum(axis=1, keepdims=True) @ own for own in self.entries(u)])

    def products(self, u: Floats, toward: Floats) -> Floats:
        """Of `toward` (dim,) at each place with each member of u (n, dim), (n, places, members)."""
        pairs = zip(self.entries(toward[None]), self.entries(u), strict=True)
        return np.asarray(sum(place[0] @ own.transpose(0, 2, 1) for place, own in pairs))

    def nearest(self, products: Floats) -> Indices:
        """The orders (n, places) with the largest sum of products, within a group as they are."""
        best = [assignment.linear_sum_assignment(each, maximize=True)[1] for each in products]
        order = np.array(best, dtype=np.intp).reshape(products.shape[:2])
        for group in distinct(self.groups):
            own = self.groups == group
            order[:, own] = np.sort(order[:, own], axis=1)
        return order

    def at_random(self, n: int, rng: np.random.Generator) -> Indices:
        """Orders (n, places) at random, with each member as often at one place as at another."""
        places = np.arange(self.size)
        orders = rng.permuted(np.tile(places, (-(-n // self.size), 1)), axis=1)
        draws = rng.permutation(n)[:, None]  # in turn those of an order and its rotations
        rotated = (places + draws) % self.size
        return np.asarray(np.take_along_axis(orders[draws[:, 0] // self.size], rotated, axis=1))


def log_factorial(count: int) -> float:
    return lgamma(count + 1)


def labels_of(
    target: Target, q: Gaussian, sds: Floats, u: Floats, components: Sequence[Indices]
) -> Iterator[Labels]:
    """Labels that do not all overlap under q; u (n, dim) are points at which densities are compared.

    `components` that change their signs may have labels, too. The weights of a mixture and the parameters of
    its components share the labels: sets of axes of one size are tried, small ones first, for those of other
    labels of the same number need not be exchanged too.
    """
    taken, at = np.zeros(target.dim, dtype=bool), target.log_densities(u)
    taken_by_sign = np.isin(np.arange(target.dim), np.concatenate([np.zeros(0, dtype=np.intp), *components]))
    for axes in sets_of_axes(target, components):
        reflected = (taken_by_sign[axis.at].any() for axis in axes if len(axis.at) < len(axis.basis))
        if taken[coordinates_of(axes)].any() or any(reflected):
            continue
        for members in exchangeable(target, axes, sds, u, at):
            groups = overlapping(q, sds, axes, members)
            if groups.any():
                taken[coordinates_of(axes)] = True
                yield Labels(axes, members, groups)


def coordinates_of(axes: Sequence[Axis]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.intp), *(axis.at.ravel() for axis in axes)])


def sets_of_axes(target: Target, components: Sequence[Indices]) -> Iterator[tuple[Axis, ...]]:
    """Sets of axes of one size: of components, then of parameters."""
    of_length = [[own for own in components if len(own) == n] for n in sorted({*map(len, components)})]
    of_components = [Axis(np.array(same), np.eye(len(same))) for same in of_length]
    for every in (of_components, target.axes(EXCHANGES.most)):
        for size in sorted({len(axis.basis) for axis in every} - {1}):
            axes = [axis for axis in every if len(axis.basis) == size]
            least = 1 if len(axes) <= EXCHANGES.most_axes else len(axes)
            for count in range(least, len(axes) + 1):
                yield from combinations(axes, count)


def exchangeable(
    target: Target, axes: tuple[Axis, ...], sds: Floats, u: Floats, at: Floats
) -> Iterator[Indices]:
    """Classes of at least two labels that may change places at u (n, dim), of log densities `at` (n,)."""
    size = len(axes[0].basis)
    every = Labels(axes, np.arange(size), np.zeros(size, dtype=np.intp))
    slopes, units = every.entries(target.gradients_alone(every.averaged(u))), [sds[axis.at] for axis in axes]
    in_nats = [slope * unit.mean(axis=0) for slope, unit in zip(slopes, units, strict=True)]
    of_label = np.concatenate(in_nats, axis=2)  # (n, labels, others)
    left = every.members
    while len(left) > 1:
        first, others = left[0], left[1:]
        differ = (np.abs(of_label[:, others] - of_label[:, [first]]) > EXCHANGES.slope).any(axis=(0, 2))
        near = others[~differ]
        alike = near[[may_change(target, every, first, k, u, at) for k in near.tolist()]]
        left = others[~np.isin(others, alike)]
        if len(alike):
            yield np.append(first, alike)


def may_change(target: Target, labels: Labels, j: int, k: int, u: Floats, at: Floats) -> bool:
    """Whether labels j and k in each other's place leave the log densities `at` (n,) of u (n, dim)."""
    order = np.tile(labels.members, (len(u), 1))
    order[:, [j, k]] = k, j
    return equal(target, labels.ordered(u, order), at)


def equal(target: Target, images: Floats, at: Floats) -> bool:
    """Whether images (n, dim) of points have the log densities (n,) of these."""
    there = target.log_densities(images)
    return bool((np.abs(there - at) <= EXCHANGES.rounding * (1 + np.abs(at))).all())


def overlapping(q: Gaussian, sds: Floats, axes: Sequence[Axis], members: Indices) -> Indices:
    """Groups (members,) of those between which q does not lie apart, numbered from 0."""
    groups = np.arange(len(members))
    for j, k in combinations(range(len(members)), 2):
        ways = [(axis.at, axis.basis[members[j]] - axis.basis[members[k]]) for axis in axes]
        if groups[j] != groups[k] and half_way(q, sds, ways) < EXCHANGES.distance:
            groups[groups == groups[k]] = groups[j]
    return np.searchsorted(distinct(groups), groups)


def half_way(q: Gaussian, sds: Floats, ways: Sequence[tuple[Indices, Floats]]) -> float:
    """How far the mean of q lies from zero along ways: coordinates (width, others), their shares (width,)."""
    mean = np.concatenate([way @ q.mean[at] for at, way in ways])
    if q.factor.ndim == 1:
        variances = np.concatenate([way**2 @ sds[at] ** 2 for at, way in ways])
        return float(np.sqrt((mean**2 / variances).sum()))
    rows = np.concatenate([np.tensordot(way, q.factor[at], 1) for at, way in ways])
    return float(np.linalg.norm(np.linalg.lstsq(rows, mean, rcond=None)[0]))
