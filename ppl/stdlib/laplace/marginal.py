"""log p(y) by Laplace's approximation, with its derivatives in m, K and the likelihood's own parameter.

    log p(y | theta) - a' theta / 2 - log |B| / 2    at the mode theta = K a,    B = I + root(W) K root(W)

Rasmussen and Williams 2006, algorithm 5.1; Margossian and others 2020, section 3.  The derivatives follow
from the factor of B that the value takes, so nothing of Newton's method is on a tape.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import NUMPY, Array, Namespace, Node, stack
from ppl.errors import Rejection
from ppl.records import dataclass
from ppl.stdlib.batching import refuse_outside
from ppl.stdlib.laplace.likelihoods import Likelihood, counted
from ppl.stdlib.laplace.mode import Problem, diagonal_of, modes, spread, times

FACTORISING = 7
"""Numbers gone through for each entry of K, of some six factorisations, where a function of it counts one."""


class Outcomes(NamedTuple):
    """The data: outcomes, and the theta that each belongs to."""

    y: Array
    index: Array


def refuse(name: str, rows: Outcomes, m: Array, k: Array, block: Array, rest: Sequence[Array]) -> None:
    """Raise Rejection where sizes do not agree; IndexError where a y_index is none of theta."""
    y, index, size, (height, width) = *rows, np.shape(m)[-1], np.shape(k)[-2:]
    if np.shape(y) != np.shape(index):
        raise Rejection(f"`{name}`: y has {len(y)} entries, y_index has {len(index)}; they must be as many.")
    if (height, width) != (size, size):
        raise Rejection(f"`{name}`: the covariance is {height} by {width}, the offset has {size} entries.")
    for own in rest:
        if np.shape(own)[-1] != size:
            raise Rejection(f"`{name}`: eta has {np.shape(own)[-1]} entries, the offset has {size}.")
    refuse_block(name, int(block), size)
    refuse_outside(index, size)


def refuse_block(name: str, block: int, size: int) -> None:
    if block < 1 or size % block:
        raise Rejection(f"`{name}`: hessian_block_size is {block}, which does not divide {size}.")


@dataclass(frozen=True)
class EmbeddedLaplace:
    """(xp, y, y_index, *dispersion, m, K, block, tolerance, most steps) -> log p(y) of each leading index."""

    like: Likelihood

    def __call__(self, xp: Namespace, y: Array, index: Array, *args: Array) -> Array:
        if max(np.ndim(y) - 1, np.ndim(index) - 1, *map(np.ndim, args[-3:])) > 0:
            return one_by_one(xp, self, (y, index, *args))
        *parameters, block, tolerance, most_steps = args
        on_tape = [x for x in parameters if isbox(x)]
        if any(isbox(x._value) for x in on_tape):
            raise TypeError("The embedded Laplace approximation has no second derivatives.")
        *rest, m, k = (np.asarray(xp.plain(x), dtype=float) for x in parameters)
        rows = Outcomes(np.asarray(y), np.asarray(index))
        refuse(f"laplace_marginal_{self.like.name}_lpmf", rows, m, k, block, rest)
        lead, p = problem(self.like, rows, m, k, rest)
        with np.errstate(all="ignore"):
            approximation = approximated(p, rows, float(tolerance), int(most_steps), bool(on_tape))
        value, *slopes = (np.reshape(x, (*lead, *np.shape(x)[1:])) for x in approximation)
        return with_slopes(len(slopes))(xp, *parameters, value, *slopes) if slopes else value[()]

    @property
    def cores(self) -> tuple[int, ...]:
        """How many axes each argument has, leading ones left out."""
        return (1, 1, *(1,) * self.like.dispersed, 1, 2, 0, 0, 0)

    def work(self, *args: Array) -> int:
        """How many numbers a call goes through."""
        return FACTORISING * int(np.size(args[-4]))


@cache
def with_slopes(count: int) -> Node:
    """(parameters, value, their slopes) -> the value, as a function of so many parameters."""

    def adjoint(i: int) -> Callable[..., Array]:
        def of(xp: Namespace, g: Array, ans: Array, *args: Array) -> Array:
            slope = args[count + 1 + i]
            return xp.np.reshape(g, np.shape(g) + (1,) * (np.ndim(slope) - np.ndim(ans))) * slope

        return of

    return Node(lambda xp, *args: args[count], tuple(map(adjoint, range(count))))


def problem(
    like: Likelihood, rows: Outcomes, m: Array, k: Array, rest: list[Array]
) -> tuple[tuple[int, ...], Problem]:
    """The leading axes of all, and what is to be solved with one axis in their place."""
    lead = np.broadcast_shapes(np.shape(m)[:-1], np.shape(k)[:-2], *(np.shape(r)[:-1] for r in rest))
    size = np.shape(m)[-1]

    def flat(x: Array, *core: int) -> Array:
        return np.reshape(np.broadcast_to(x, (*lead, *core)), (-1, *core))

    each = tuple(flat(r, size) for r in rest)
    return lead, Problem(like, counted(*rows, size), flat(k, size, size), flat(m, size), each)


def one_by_one(xp: Namespace, f: "EmbeddedLaplace", args: tuple[Array, ...]) -> Array:
    """One call for each leading index, where the data have such too."""
    own = [np.shape(a)[: np.ndim(a) - core] for a, core in zip(args, f.cores, strict=True)]
    lead = np.broadcast_shapes(*own)
    whole = [
        xp.np.broadcast_to(a, (*lead, *np.shape(a)[len(axes) :])) for a, axes in zip(args, own, strict=True)
    ]
    return xp.np.reshape(stack(0, *(f(xp, *(a[at] for a in whole)) for at in np.ndindex(*lead))), lead)


def approximated(
    p: Problem, rows: Outcomes, tolerance: float, most_steps: int, with_slopes: bool
) -> tuple[Array, ...]:
    """log p(y) of each draw, nan where no mode is found; and its `slopes` where they are wanted."""
    theta, a = modes(p, tolerance, most_steps)
    root = np.sqrt(p.local(theta).weight)
    log_root, inverse = factored(spread(p.k, root), with_slopes)
    log_density = np.sum(p.like.log_density(NUMPY, rows.y, *each_row(p, rows, theta)), axis=-1)
    value = log_density - 0.5 * np.sum(a * theta, axis=-1) - log_root
    return value, *(slopes(p, rows, theta, a, inverse) if with_slopes else ())


def slopes(p: Problem, rows: Outcomes, theta: Array, a: Array, inverse: Array) -> tuple[Array, ...]:
    """The derivatives, of B^-1, in the likelihood's own parameter, if it has one, m and K.

    With Sigma = (K^-1 + W)^-1, the diagonal of W Sigma is that of I - B^-1.  `through_mode` is
    (I + W K)^-1 times the derivative of the value in theta, which log |B| alone has, as theta is the mode.
    """
    local = p.local(theta)
    root = np.sqrt(local.weight)
    share = 1.0 - diagonal_of(inverse)
    by_theta = -0.5 * share * local.tilt
    precision = root[:, :, None] * inverse * root[:, None, :]
    through_mode = by_theta - times(precision, times(p.k, by_theta))
    through_k = times(p.k, through_mode)
    by_m = a + by_theta - local.weight * through_k
    by_k = (0.5 * a + through_mode)[:, :, None] * a[:, None, :] - 0.5 * precision
    if p.like.by_dispersion is None:
        return by_m, by_k
    own = p.like.by_dispersion(p.counts, theta + p.m, *p.rest)
    slope = p.like.log_density.vjps[2]
    assert slope is not None
    by_rows = slope(NUMPY, 1.0, None, rows.y, *each_row(p, rows, theta))
    at, size = rows.index - 1, theta.shape[-1]
    direct = [np.bincount(at, weights=row, minlength=size) for row in by_rows]
    return direct - 0.5 * share * own.log_weight + through_k * own.first, by_m, by_k


def each_row(p: Problem, rows: Outcomes, theta: Array) -> tuple[Array, ...]:
    """theta + m, and the likelihood's own parameter, if any, of the theta of each row: (draws, rows)."""
    return tuple(x[:, rows.index - 1] for x in (theta + p.m, *p.rest))


def factored(b: Array, inverted: bool) -> tuple[Array, Array]:
    """Half of log |B| for each draw, and B^-1 where it is wanted; nan where B is not positive definite."""
    lapack, log_root = NUMPY.slinalg.lapack, np.full(len(b), np.nan)
    for i, matrix in enumerate(b):
        lower, info = lapack.dpotrf(matrix.T, lower=1)
        if info:
            matrix[:] = np.nan
            continue
        log_root[i] = np.sum(np.log(np.diagonal(lower)))
        if inverted:
            half = lapack.dpotri(lower, lower=1, overwrite_c=1)[0]  # the lower triangle, below zeros
            np.add(half, half.T, out=matrix)
    diagonal_of(b)[...] *= 0.5
    return log_root, b
