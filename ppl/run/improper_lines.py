"""Lines along which a posterior is flat without end: `y ~ normal(a + b, 1)` does not change along a - b.

A direction in which no gradient has a part is looked for among a few more gradients than there are
parameters, and tried: the log density must not change along it, however far, and no transform may end it.
"""

from collections.abc import Sequence

import numpy as np

from ppl.density.problem import Problem
from ppl.floats import Floats
from ppl.kernel.advi.target import Kinds, Target
from ppl.records import dataclass


@dataclass(frozen=True)
class LineSearch:
    """Where lines are looked for, and when the log density counts as flat along one."""

    most_parameters: int = 500
    """Parameters up to which it is done, for it takes a gradient for each."""

    most_work: int = 1_000_000
    """Numbers that these gradients work through at most."""

    points: int = 5
    """Gradients beyond the number of parameters, and points from which a line is tried."""

    tries: int = 4
    """Draws of a point, which may be impossible, for each that is wanted."""

    rank: float = 1e-9
    """A singular value smaller than this, beside the largest, is rounding."""

    part: float = 1e-6
    """A part of a direction nearer to a whole number than this is that number."""

    far: float = 30.0
    """How far parameters are moved on the unconstrained scale."""

    farther: float = 1e5
    """How far those without a transform are: a prior of sd 1e7 still shows there."""

    rounding: float = 1e-10
    """The change of a log density that is rounding, beside its size or 1."""

    falls: float = 5.0
    """Nats by which the Jacobian is lower far out on both sides where the density does come to an end."""

    most_named: int = 3
    """Lines that the message names."""

    most_terms: int = 6
    """Parameters that a line is written out with."""

    seed: int = 0x6C696E
    """The seed "lin" of the points, so that the same program is told the same."""


LINE_SEARCH = LineSearch()


def flat_lines(problem: Problem, whole: Target, plain: Target) -> list[Floats]:
    """Directions (dim,) along which the posterior is flat without end, with as many zeros as can be."""
    dim, enough = plain.dim, plain.dim + LINE_SEARCH.points
    if not 2 <= dim <= LINE_SEARCH.most_parameters or dim * problem.width > LINE_SEARCH.most_work:
        return []
    with np.errstate(all="ignore"):
        points, gradients = slopes(plain, enough)
        if len(points) < enough:
            return []
        return [line for line in sparse(null_space(gradients)) if is_endless(whole, plain, points, line)]


def slopes(plain: Target, count: int) -> tuple[Floats, Floats]:
    """`count` points (n, dim) at which the target is finite, and its gradients; fewer if it seldom is."""
    rng = np.random.default_rng(LINE_SEARCH.seed)
    points, gradients = np.empty((2, 0, plain.dim))
    for _ in range(LINE_SEARCH.tries):
        tried = rng.uniform(-1.5, 1.5, (count, plain.dim))
        values, slopes_ = plain.log_density_gradients(tried)
        good = np.isfinite(values) & np.isfinite(slopes_).all(axis=1)
        points = np.concatenate([points, tried[good]])[:count]
        gradients = np.concatenate([gradients, slopes_[good]])[:count]
        if len(points) == count or not good.any():
            break
    return points, gradients


def null_space(gradients: Floats) -> Floats:
    """Directions (k, dim), orthonormal, in which no gradient (n, dim) has a part."""
    sizes = np.sqrt((gradients**2).sum(axis=1, keepdims=True))
    _, values, directions = np.linalg.svd(gradients / np.where(sizes > 0, sizes, 1.0))
    rank = int((values > LINE_SEARCH.rank * max(values[0], np.finfo(float).tiny)).sum())
    return np.asarray(directions[rank:])


def sparse(directions: Floats) -> list[Floats]:
    """The same space by elimination, the largest part of each direction 1, and whole numbers exact."""
    rows = directions.copy()
    for k in range(len(rows)):
        pivot = int(np.argmax(np.abs(rows[k])))
        rows[k] /= rows[k, pivot]
        others = np.arange(len(rows)) != k
        rows[others] -= rows[others, pivot, None] * rows[k]
    # An error of 1e-11 in a part is a change of the density 1e5 from here.
    return [np.where(np.abs(row - np.round(row)) < LINE_SEARCH.part, np.round(row), row) for row in rows]


def is_endless(whole: Target, plain: Target, points: Floats, line: Floats) -> bool:
    """Whether the target is the same along a line through each of some points, and no Jacobian ends it."""
    _, free, _ = whole.kinds
    is_free = bool(free[line != 0].all())
    here, *ends = (
        whole.log_density(u) - plain.log_density(u)
        for u in (points[0] + side * LINE_SEARCH.far * line for side in (0, 1, -1))
    )
    if not is_free and max(ends) <= here - LINE_SEARCH.falls:
        return False
    far = (0.3, 3.0, LINE_SEARCH.far, *((LINE_SEARCH.farther,) if is_free else ()))
    for u in points[: LINE_SEARCH.points]:
        here, gradient = plain.log_density_gradient(u)
        size = np.abs(gradient * line).sum()
        for step in (side * distance for distance in far for side in (1, -1)):
            rounding = LINE_SEARCH.rounding * max(1.0, abs(here)) + 4 * np.finfo(float).eps * abs(step) * size
            if not abs(plain.log_density(u + step * line) - here) <= rounding:
                return False
    return True


def sentence(names: Sequence[str], kinds: Kinds, lines: list[Floats]) -> str:
    """What is wrong, along which lines, and what to do."""
    where = " and along ".join(
        f"`{in_words(names, kinds, line)}`" for line in lines[: LINE_SEARCH.most_named]
    )
    rest = len(lines) - LINE_SEARCH.most_named
    more = f" and {rest} more lines" if rest > 0 else ""
    moved = sorted({names[k].split(".")[0] for k in np.flatnonzero(lines[0]).tolist()})
    who = "it" if len(moved) == 1 else f"one of {', '.join(f'`{name}`' for name in moved)}"
    return (
        f"The posterior is improper along {where}{more}: the log density is constant along it, so it cannot "
        "be normalised.\n"
        f"Give {who} a proper prior, as in `{moved[0]} ~ normal(0, 1);`, or set it to a constant."
    )


def in_words(names: Sequence[str], kinds: Kinds, line: Floats) -> str:
    """A direction as a sum, `a - b`; `log(a)` where the range of `a` has one end."""
    _, free, bounded = kinds
    parts, sum_ = line / line[line != 0][0], ""
    for k in np.flatnonzero(line)[: LINE_SEARCH.most_terms].tolist():
        word = names[k] if free[k] else f"log({names[k]})" if bounded[k] else f"unconstrained {names[k]}"
        term = word if abs(abs(parts[k]) - 1) < LINE_SEARCH.part else f"{abs(parts[k]):.3g} {word}"
        sum_ += f" {'+' if parts[k] > 0 else '-'} {term}" if sum_ else term
    return sum_ + (" ..." if np.count_nonzero(line) > LINE_SEARCH.most_terms else "")
