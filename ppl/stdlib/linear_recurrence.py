"""Linear recurrences: each entry is a weighted sum of those before it, and something of its own."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ppl.arrays import NUMPY, Array, Namespace, ScanState, flip, with_vjps
from ppl.late import lapack


def states_after(
    xp: Namespace, step: Callable[..., ScanState], start: ScanState, entries: Sequence[Array]
) -> tuple[Array, ...]:
    """Every state after each step(*state, *entry), the steps along the first axis.

    A state keeps the shape that it has in `start`. Where the namespace has a scan, the step is compiled once.
    """
    if xp.scan is not None:
        return xp.scan(step, start, entries)
    states, state = [], start
    for entry in zip(*entries, strict=True):
        state = step(*state, *entry)
        states.append(state)
    if not states:
        return tuple(np.zeros((0, *np.shape(x))) for x in start)
    return tuple(xp.np.stack(each) for each in zip(*states, strict=True))


def _before(xp: Namespace, x: Array, most: int) -> Array:
    """x[t - 1], x[t - 2], ... (..., N, most), and 0 before the first."""
    none = np.zeros((*np.shape(x)[:-1], most))
    padded = xp.np.concatenate([none, x], axis=-1)
    if xp is NUMPY:  # no copies
        return sliding_window_view(padded[..., :-1], most, axis=-1)[..., ::-1]
    return padded[..., np.arange(np.shape(x)[-1])[:, None] + most - 1 - np.arange(most)]


def _after(xp: Namespace, weights: Array) -> Array:
    """The weights of an entry in those that come after it, the next first."""
    rows, most = np.shape(weights)[-2:]
    lags = np.arange(most)
    none = np.zeros((*np.shape(weights)[:-2], most, most))
    return xp.np.concatenate([weights, none], axis=-2)[..., np.arange(rows)[:, None] + lags + 1, lags]


def _sums(xp: Namespace, weights: Array, x: Array) -> Array:
    """The contribution to each entry of those before it."""
    return xp.np.einsum("...tk,...tk->...t", weights, _before(xp, x, np.shape(weights)[-1]))


def _read(weights: Array) -> Array:
    """Whether an entry has a weight in a later one: others may have no value."""
    return np.any(_after(NUMPY, weights) != 0, axis=-1)


def _adjoint(xp: Namespace, g: Array, scale: Array, weights: Array) -> Array:
    """The adjoint of every entry: the recurrence with its time reversed."""
    ahead = flip(xp, _after(xp, weights), -2)
    later = linear_recurrence(xp, flip(xp, scale * g, -1), flip(xp, scale, -1), ahead)
    return g + flip(xp, _sums(xp, ahead, later), -1)


def _x_adjoint(xp: Namespace, g: Array, ans: Array, x: Array, scale: Array, weights: Array) -> Array:
    return _adjoint(xp, g, scale, weights)


def _scale_adjoint(xp: Namespace, g: Array, ans: Array, x: Array, scale: Array, weights: Array) -> Array:
    known = xp.np.where(_read(xp.plain(weights)), ans, 0.0)
    return _adjoint(xp, g, scale, weights) * _sums(xp, weights, known)


def _weights_adjoint(xp: Namespace, g: Array, ans: Array, x: Array, scale: Array, weights: Array) -> Array:
    before = _before(xp, ans, np.shape(weights)[-1])
    return xp.np.expand_dims(scale * _adjoint(xp, g, scale, weights), -1) * before


@with_vjps(_x_adjoint, _scale_adjoint, _weights_adjoint)
def linear_recurrence(xp: Namespace, x: Array, scale: Array, weights: Array) -> Array:
    """y[t] = x[t] + scale[t] * (weights[t, 1] * y[t - 1] + weights[t, 2] * y[t - 2] + ...), y as long as x.

    Shapes (..., N), (..., N) and (..., N, most).  There is no weight for entries before the first.
    """
    lead = np.broadcast_shapes(np.shape(x)[:-1], np.shape(scale)[:-1], np.shape(weights)[:-2])
    if xp.scan is not None:
        return _by_scan(xp, lead, x, scale, weights)
    read = _read(weights)
    if np.size(scale) == np.shape(scale)[-1] and np.size(weights) == np.prod(np.shape(weights)[-2:]):
        return _by_solve(np.broadcast_to(x, (*lead, np.shape(x)[-1])), scale.ravel(), weights, read)
    return _by_steps(lead, x, scale, weights, read)


def _by_solve(x: Array, scale: Array, weights: Array, read: Array) -> Array:
    """The same where all draws have one scale and weights: a triangular system with a band."""
    rows = len(scale)
    weights = scale[:, None] * weights.reshape(rows, -1)[:, : max(rows - 1, 1)]
    band = np.zeros((1 + weights.shape[1], rows))  # the diagonal, which is not read, and those below it
    for k in range(weights.shape[1]):
        band[k + 1, : rows - k - 1] = -weights[k + 1 :, k]
    known = np.where(read, x, 0.0)
    y, _ = lapack.dtbtrs(band, known.reshape(-1, rows).T, uplo="L", diag="U")
    return np.asarray(y.T).reshape(x.shape) + (x - known)


def _by_steps(lead: tuple[int, ...], x: Array, scale: Array, weights: Array, read: Array) -> Array:
    rows, most = np.shape(weights)[-2:]
    x, scale, read = (np.moveaxis(each, -1, 0) for each in (x, scale, read))
    aligned = weights.reshape(*[1] * (len(lead) + 2 - np.ndim(weights)), *np.shape(weights))
    oldest_first = np.moveaxis(aligned[..., ::-1], (-2, -1), (0, 1))
    y, known = np.empty((rows, *lead)), np.zeros((most + rows, *lead))
    for t in range(rows):
        y[t] = x[t] + scale[t] * (oldest_first[t] * known[t : most + t]).sum(axis=0)
        known[most + t] = np.where(read[t], y[t], 0.0)
    return np.moveaxis(y, 0, -1)


def _by_scan(xp: Namespace, lead: tuple[int, ...], x: Array, scale: Array, weights: Array) -> Array:
    """The same with the entries before, the last first, as the state of a scan."""
    entries = (
        *(xp.np.moveaxis(each, -1, 0) for each in (x, scale, _read(xp.plain(weights)))),
        xp.np.moveaxis(weights, -2, 0),
    )

    def step(
        y: Array, before: Array, x: Array, scale: Array, read: Array, weights: Array
    ) -> tuple[Array, Array]:
        y = xp.np.broadcast_to(x + scale * xp.np.sum(weights * before, axis=-1), lead)
        known = xp.np.where(read, y, 0.0)
        return y, xp.np.concatenate([known[..., None], before], axis=-1)[..., :-1]

    start = np.zeros(lead), np.zeros((*lead, np.shape(weights)[-1]))
    return xp.np.moveaxis(states_after(xp, step, start, entries)[0], 0, -1)


def with_recurrence(xp: Namespace, x: Array, scale: Array, weights: Array) -> Array:
    """The same for as many first entries of x as there are scales; those behind them stay."""
    rows = min(np.shape(scale)[-1], np.shape(x)[-1])
    y = linear_recurrence(xp, x[..., :rows], scale[..., :rows], weights[..., :rows, :])
    rest = x[..., rows:]
    return xp.np.concatenate([y, xp.np.broadcast_to(rest, (*np.shape(y)[:-1], np.shape(rest)[-1]))], axis=-1)


def weights_before(
    xp: Namespace, w: Array, lower: Array, upper: Array, first: Array, last: Array, backwards: int
) -> Array:
    """The weights of those before each entry, (..., N, most): w[first:last] are those of lower:upper.

    Raises:
        IndexError: a range that has entries begins before 1, or lies outside `w`.
        ValueError: there are not as many weights as entries.
    """
    length = np.maximum(upper - lower + 1, 0)
    for i in np.flatnonzero(length != np.maximum(last - first + 1, 0)):
        raise ValueError(f"Sizes do not match: [{length[i]}] and [{max(last[i] - first[i] + 1, 0)}].")
    used, size = length > 0, np.shape(w)[-1]
    for a, b, most in ((lower, upper, len(lower)), (first, last, size)):
        for i in np.flatnonzero(used & ((a < 1) | (b > most))):
            raise IndexError(f"The range {a[i]}:{b[i]} lies outside 1:{most}.")
    place = np.arange(1, len(lower) + 1)
    entry = place[:, None] - np.arange(1, np.max((place - lower)[used], initial=0) + 1)
    ahead = entry - lower[:, None]
    at = last[:, None] - ahead if backwards else first[:, None] + ahead
    inside = (ahead >= 0) & (entry <= upper[:, None])
    padded = xp.np.concatenate([w, np.zeros((*np.shape(w)[:-1], 1))], axis=-1)
    return padded[..., np.where(inside, at - 1, size)]
