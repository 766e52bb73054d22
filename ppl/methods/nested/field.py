"""Latent variables that meet only a few others given the outer coordinates: chains, areas, crossed effects.

Their precision matrix is banded in the order of reverse Cuthill-McKee, so that Newton's method, the log
determinant and draws of the Gaussian at the mode cost the number of coordinates times the square of the
bandwidth (Rue and Held 2005, "Gaussian Markov random fields", section 2.4). Columns of Hessians that meet no
row in common come from one gradient (Curtis, Powell and Reid 1974).
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.kernel.advi.target import Inner, Shared, Target
from ppl.methods.nested.banded import factors_of
from ppl.methods.nested.coupled import Factored, coupled
from ppl.methods.nested.modes import MODES, Modes
from ppl.methods.nested.sparse import Field, are_little_work
from ppl.records import dataclass


class FieldModeLimits(NamedTuple):
    """How the modes of fields are found."""

    most_steps: int = 60
    """Evaluations of gradients, of Newton's steps and of steps that are halved."""

    longest: float = 20.0
    """The longest step of a coordinate, in units."""

    lower: float = 1e-9
    """A step that loses more than this, beside the size of the log density, is halved."""

    difference: float = 1e-6
    """The step of a difference of gradients, beside the size of the coordinate or 1."""

    points_at_once: int = 256
    """Points at which gradients are had by one call, if there are fewer outer points."""

    few_colours: int = 12
    """Gradients of a Hessian up to which each step of Newton's method has its own; with more one serves while
    the steps by it fall off.
    """

    falls_off: float = 0.25
    """The gain of a step, as a share of that of the one before."""

    kept_within: float = 0.02
    """How far from where it was computed such a Hessian is that of the mode, in sds: differences of log
    determinants, at modes that move by a twentieth of an sd, lost what these moves are worth with 0.1.
    """

    numbers_at_once: int = 4_000_000
    """Numbers of precision matrices that are held at once."""

    beside: float = 3.0
    """The length, in sds, of a normal draw of coordinates that meet from which on it is not brought to the
    distance at which other modes are looked for, but that counts as so much.
    """

    shares: float = 2.0
    """By how much what depends on the outer coordinates alone, computed once, must shorten a gradient."""


FIELD_MODES = FieldModeLimits()


@dataclass(frozen=True)
class Fields:
    """A target by its structure: outer points (n, d) and values of the field (n, k), in the field's order."""

    target: Target
    structure: Field

    @property
    def most_steps(self) -> int:
        """Of Newton's method."""
        return FIELD_MODES.most_steps

    @cached_property
    def inside(self) -> Target:
        """The target, of whose gradients at many points only those in the field are looked at."""
        return self.shared or self.target.view(Inner(self.structure.outer)) or self.target

    @cached_property
    def shared(self) -> Target | None:
        """A cache of what depends on the outer coordinates alone.

        It has a run of the code for each outer point, and is worth that where gradients work through much and
        it leaves little of that.
        """
        latent = len(self.structure.latent)
        if not self.structure.is_complete or are_little_work(latent, self.target.width):
            return None
        shared = self.target.view(Shared(self.structure.outer))
        return shared if shared and FIELD_MODES.shares * shared.width <= self.target.width else None

    def points(self, outer: Floats, latent: Floats) -> Floats:
        """The points (n, dim) of the target."""
        u = np.empty((len(outer), self.structure.dim))
        u[:, self.structure.outer] = outer
        u[:, self.structure.latent] = latent
        return u

    def latent(self, u: Floats) -> Floats:
        """The values of the field (n, k) at points u (n, dim)."""
        return np.asarray(u[:, self.structure.latent])

    def values(self, outer: Floats, latent: Floats) -> Floats:
        """The log density of the whole, (n,)."""
        return self.inside.log_densities(self.points(outer, latent))

    def values_and_gradients(self, outer: Floats, latent: Floats) -> tuple[Floats, Floats]:
        """The log density of the whole (n,), and its gradients by the field (n, k)."""
        values, slopes = self.inside.log_density_gradients(self.points(outer, latent))
        return values, self.latent(slopes)

    def gradients(self, outer: Floats, latent: Floats) -> Floats:
        """These alone."""
        return self.latent(self.inside.gradients_alone(self.points(outer, latent)))

    def precisions(self, outer: Floats, latent: Floats, gradients: Floats) -> Floats:
        """Minus the Hessians, in lower bands (n, b + 1, k), by differences of gradients, less couplings."""
        reading = self.structure.reading
        share = 1.0 if self.structure.is_normal else FIELD_MODES.difference
        steps = np.maximum(np.abs(latent), 1.0) * share
        n, k = latent.shape
        bands = np.zeros((n, self.structure.bandwidth + 1, k))
        for some in self.colours_at_once(n):
            moves = np.where(self.structure.colours == some[:, None, None], steps, 0.0)
            there = self.gradients(np.tile(outer, (len(some), 1)), (latent + moves).reshape(-1, k))
            for w in self.structure.couplings:
                there += (moves.reshape(-1, k) @ w)[:, None] * w
            own = (reading.colour >= some[0]) & (reading.colour <= some[-1])
            row, at_k = reading.row[own], reading.coordinate[own]
            entries = there.reshape(-1, n, k)[reading.colour[own] - some[0], :, row].T
            bands[:, reading.below[own], reading.column[own]] = (gradients[:, row] - entries) / steps[:, at_k]
        return bands

    def colours_at_once(self, n: int) -> list[NDArray[np.intp]]:
        """The colours, in parts whose gradients at n points each are had by one call."""
        every = np.arange(self.structure.colours.max() + 1)
        if self.shared:
            return [every]
        return np.array_split(every, min(len(every), -(-len(every) * n // FIELD_MODES.points_at_once)))

    @property
    def exact(self) -> "Fields":
        """The same with Hessians of its own at every point."""
        return self

    def is_near(self, outer: Floats) -> NDArray[np.bool_]:
        """At which outer points (n, d) Laplace's approximation can be had, (n,)."""
        return np.ones(len(outer), dtype=bool)

    @cached_property
    def is_costly(self) -> bool:
        """Whether a Hessian takes many gradients."""
        return int(self.structure.colours.max()) >= FIELD_MODES.few_colours

    def factors(self, outer: Floats, latent: Floats) -> Factored:
        """Factors of the precision matrices at values of the field."""
        return self.factored(self.precisions(outer, latent, self.gradients(outer, latent)))

    def factored(self, bands: Floats) -> Factored:
        """Those of bands (n, b + 1, k) and the couplings."""
        return coupled(factors_of(bands), self.structure.couplings)

    def parts(self, n: int) -> Iterator[slice]:
        """Outer points whose precision matrices are held at once."""
        size = max(1, FIELD_MODES.numbers_at_once // self.numbers)
        return (slice(k, k + size) for k in range(0, n, size))

    @property
    def numbers(self) -> int:
        """Numbers that are held for an outer point."""
        return (self.structure.bandwidth + 1) * len(self.structure.latent)

    def modes(self, outer: Floats, start: Floats, near: float, least: Floats | float = -np.inf) -> Modes:
        """The modes at outer points (n, d), by Newton's method from a start (n, k).

        Those are given up that seem to have a log marginal below `least` (n,).
        """
        parts, least = self.parts(len(outer)), np.broadcast_to(least, len(outer))
        parts_ = [self.modes_of_part(outer[k], start[k], near, least[k])[0] for k in parts]
        return Modes(*(np.concatenate(each) for each in zip(*parts_, strict=True)))

    def modes_of_part(
        self, outer: Floats, start: Floats, near: float, least: Floats | float = -np.inf
    ) -> tuple[Modes, Floats]:
        """The same at points that are few enough, and the last precisions (n, b + 1, k) on the way there."""
        if self.structure.is_normal:
            return self.modes_by_a_step(outer, start)
        least = np.broadcast_to(least, len(outer))
        n, constant = len(outer), 0.5 * start.shape[1] * LOG_2PI
        bands = np.zeros((n, self.structure.bandwidth + 1, start.shape[1]))
        at, steps, shorter = start.copy(), np.zeros(start.shape), np.zeros(start.shape)
        settled, hopeless = np.zeros((2, n), dtype=bool)
        values, half_log_dets, going = np.full(n, -np.inf), np.zeros(n), np.arange(n)
        kept, gains, away = np.zeros(n, dtype=bool), np.full(n, np.inf), np.zeros(n)
        farthest = max(near, FIELD_MODES.kept_within)

        def renew(some: NDArray[np.intp], slopes: Floats) -> None:
            if len(some):
                bands[some] = self.precisions(outer[some], at[some], slopes)
                away[some] = 0.0

        def newton(some: NDArray[np.intp], slopes: Floats) -> tuple[Factored, Floats, Floats]:
            factors = self.factored(bands[some])
            step = factors.solve(slopes)
            return factors, step, (slopes * step).sum(axis=1)

        for _ in range(self.most_steps):
            value, gradient = self.values_and_gradients(outer[going], at[going])
            lowest = values[going] - FIELD_MODES.lower * np.maximum(np.abs(values[going]), 1.0)
            good = np.isfinite(value) & (value >= lowest) & np.isfinite(gradient).all(axis=1)
            back = going[~good]
            hopeless[back] = ~steps[back].any(axis=1)  # the start is outside the support
            at[back] += shorter[back] - steps[back]
            steps[back] = shorter[back]
            shorter[back] *= 0.5
            here, gradient = going[good], gradient[good]
            if len(here):
                old = kept[here]
                renew(here[~old], gradient[~old])
                factors, step, gain = newton(here, gradient)
                falls_off = gain < FIELD_MODES.falls_off * gains[here]
                poor = old & ~(falls_off & ((gain >= near**2) | (away[here] <= farthest)))
                if poor.any():
                    renew(here[poor], gradient[poor])
                    factors, step, gain = newton(here, gradient)
                gains[here], kept[here] = gain, self.is_costly
                away[here] += np.sqrt(np.maximum(gain, 0.0))
                limited = step * np.minimum(1.0, FIELD_MODES.longest / np.abs(step).max(axis=1))[:, None]
                shorter[here] = 0.5 * limited  # each coordinate by itself may lead down
                step = np.clip(step, -FIELD_MODES.longest, FIELD_MODES.longest)
                values[here], half_log_dets[here] = value[good], factors.half_log_dets
                steps[here] = step
                at[here] += step
                ended = here[factors.as_given & (gain < near**2)]
                values[ended] += 0.5 * gain[factors.as_given & (gain < near**2)]
                settled[ended] = True
                seems = values[here] - half_log_dets[here] + MODES.overrated * gain + constant
                flat = ~factors.as_given & ~step.any(axis=1)
                hopeless[here] = flat | (factors.as_given & (seems < least[here]))
            going = going[~(settled[going] | hopeless[going])]
            if not going.size:
                break
        values[hopeless & ~settled] = -np.inf
        return Modes(at, half_log_dets, values, settled), bands

    def modes_by_a_step(self, outer: Floats, start: Floats) -> tuple[Modes, Floats]:
        """The same of a field that is normal: one step of Newton's method leads from anywhere to the mode."""
        values, gradients = self.values_and_gradients(outer, start)
        bands = self.precisions(outer, start, gradients)
        factors = self.factored(bands)
        step = factors.solve(gradients)
        values += 0.5 * (gradients * step).sum(axis=1)
        known = factors.as_given & np.isfinite(values)
        return Modes(start + step, factors.half_log_dets, np.where(known, values, -np.inf), known), bands

    def beside(self, outer: Floats, at: Floats, distance: float, rng: np.random.Generator) -> Floats:
        """Points (n, k) away from modes, from which others may be found."""
        noise, labels = rng.standard_normal(at.shape), self.structure.components
        own = np.sqrt([np.bincount(labels, squares) for squares in noise**2])
        noise *= distance / np.minimum(own, FIELD_MODES.beside)[:, labels]
        return at + self.factors(outer, at).solve_transposed(noise)

    def distances(self, outer: Floats, at: Floats, other: Floats) -> Floats:
        """How far others are from modes, in sds, (n,)."""
        return self.factors(outer, at).lengths(other - at)
