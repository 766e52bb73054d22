"""Draws of some coordinates given others that stay: one target for each draw, all moved at once.

Hamiltonian Monte Carlo (Neal 2011). Each target has two chains, begun at two draws. The difference of the two
does not depend on what the draws have in common: its spread scales the moves, and where it no longer
correlates with the difference at the start, the chains have forgotten where they began.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.inference.numerics.triangular import times, transposed_times
from ppl.inference.objective.target import Array

Density = Callable[[Array], tuple[Array, Array]]
"""The log densities (n,) and gradients (n, dim) at points (n, dim), one for each target."""


class ConditionalLimits(NamedTuple):
    """How many moves are made."""

    leapfrog_steps: int = 6
    """Leapfrog steps of a trajectory."""

    first_step: float = 0.9
    """The first step size, in sds, times the fourth root of the dimension."""

    shortest: float = 0.3
    """The shortest step size as a share of the longest: each trajectory draws its own."""

    moves_a_round: int = 5
    """Moves between two looks at the chains."""

    tuning_rounds: int = 6
    """Rounds after which scales and step size stay."""

    most_rounds: int = 100
    """Rounds until the moves end without an answer."""

    target_acceptance: float = 0.8
    """The mean chance of acceptance that the step size is adapted to."""

    most_correlated: int = 100
    """Dimensions up to which scales have correlations, with ten draws for each."""

    correlated: float = 0.3
    """The correlation below which sds alone are the scales."""

    ridge: float = 1e-9
    """What is added to variances of 1, for the factor to exist."""

    forgotten: float = 4.0
    """The largest correlation with the start, in standard errors of one of independent pairs."""


CONDITIONAL_MOVES = ConditionalLimits()


class Moved(NamedTuple):
    """Points (n, dim), and whether they have forgotten where they began."""

    points: Array
    forgotten: bool


def moved(density: Density, first: Array, second: Array, rng: np.random.Generator) -> Moved:
    """A draw of each target, from two starts (n, dim) of each; `density` takes both, one after the other."""
    n, dim = first.shape
    at = np.concatenate([first, second])
    log_p, slope = finite(*density(at))
    step, factor = CONDITIONAL_MOVES.first_step / dim**0.25, scales(at)
    start = difference(at)
    for k in range(CONDITIONAL_MOVES.most_rounds):
        if k == CONDITIONAL_MOVES.tuning_rounds:
            start = difference(at)
        tuning = k < CONDITIONAL_MOVES.tuning_rounds
        for _ in range(CONDITIONAL_MOVES.moves_a_round):
            at, log_p, slope, chance = move(density, at, log_p, slope, factor, step, rng)
            step *= np.exp(chance - CONDITIONAL_MOVES.target_acceptance) if tuning else 1.0
        if tuning:
            factor = scales(at)
        elif (
            k > CONDITIONAL_MOVES.tuning_rounds
            and correlation(start, difference(at)) < CONDITIONAL_MOVES.forgotten
        ):
            return Moved(at[:n], True)
    return Moved(at[:n], False)


def finite(log_p: Array, slope: Array) -> tuple[Array, Array]:
    """No density, and no slope, where either is no number."""
    good = np.isfinite(log_p) & np.isfinite(slope).all(axis=1)
    return np.where(good, log_p, -np.inf), np.where(good[:, None], slope, 0.0)


def difference(at: Array) -> Array:
    """Of the two chains of each target, in units of one."""
    first, second = np.split(at, 2)
    return np.asarray((first - second) / np.sqrt(2))


def scales(at: Array) -> Array:
    """The factor of the covariance of one chain, or sds alone of many dimensions."""
    apart = difference(at)
    n, dim = apart.shape
    spread = np.maximum(np.sqrt((apart**2).mean(axis=0)), np.finfo(float).tiny)
    if dim > CONDITIONAL_MOVES.most_correlated or n < 10 * dim:
        return np.asarray(spread)
    whole = (apart / spread).T @ (apart / spread) / n
    if np.abs(whole - np.diag(np.diag(whole))).max() < CONDITIONAL_MOVES.correlated:
        return np.asarray(spread)
    return np.asarray(spread[:, None] * np.linalg.cholesky(whole + CONDITIONAL_MOVES.ridge * np.eye(dim)))


def correlation(start: Array, now: Array) -> float:
    """The largest correlation of a coordinate with its start, in standard errors."""
    along = (start * now).mean(axis=0) / np.sqrt((start**2).mean(axis=0) * (now**2).mean(axis=0))
    return float(np.abs(along).max() * np.sqrt(len(start)))


def move(
    density: Density,
    at: Array,
    log_p: Array,
    slope: Array,
    factor: Array,
    step: float,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array, float]:
    """Every point moved along a trajectory, or left; the mean chance that one is moved."""
    momentum = rng.standard_normal(at.shape)
    steps = step * rng.uniform(CONDITIONAL_MOVES.shortest, 1.0, (len(at), 1))
    z, now, grad, ahead = at, log_p, slope, momentum + 0.5 * steps * transposed_times(factor, slope)
    for left in reversed(range(CONDITIONAL_MOVES.leapfrog_steps)):
        z = z + steps * times(factor, ahead)
        now, grad = finite(*density(z))
        ahead = ahead + (1.0 if left else 0.5) * steps * transposed_times(factor, grad)
    kinetic = 0.5 * ((momentum**2).sum(axis=1) - (ahead**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        gain = now - log_p + kinetic
    gain = np.where(np.isneginf(log_p) & np.isfinite(now), np.inf, np.where(np.isnan(gain), -np.inf, gain))
    chance = np.exp(np.minimum(0.0, gain))
    accepted = rng.random(len(at)) < chance
    rows = accepted[:, None]
    return (
        np.where(rows, z, at),
        np.where(accepted, now, log_p),
        np.where(rows, grad, slope),
        float(chance.mean()),
    )
