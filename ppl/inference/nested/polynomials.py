"""Polynomials over a ball, fitted to gradients at nodes and summed over a grid."""

from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import product

import numpy as np
from numpy.polynomial import chebyshev

from ppl.inference.objective.target import Array


@dataclass(frozen=True)
class PolynomialLimits:
    """Where polynomials are known, and on how many points."""

    radii: tuple[float, ...] = (5.5, 4.7, 4.7)
    """The radius of the ball by width, in sds: less than a ten-thousandth of a normal's mass is beyond.
    Polynomials of two variables fit worse in a larger one: at 5.5, of 60 blocks, 60 of 2,048 draws could not
    be made.
    """

    spacings: tuple[float, ...] = (0.5, 0.6, 0.85)
    """The distance between two points of a grid by width, in sds: the trapezoidal rule errs by e^-20 for a
    normal at the largest.
    """

    equations: float = 1.4
    """Equations for each coefficient, where there are more variables than one."""

    centre_weight: float = 8.0
    """A node at distance r counts as exp(-r^2 / this)."""


POLYNOMIALS = PolynomialLimits()


@dataclass(frozen=True)
class Polynomials:
    """Polynomials of a degree in `width` variables, zero at the centre of the ball."""

    width: int
    degree: int

    @staticmethod
    @cache
    def of(width: int, degree: int) -> "Polynomials":
        """The same object for the same polynomials, whose matrices are made once."""
        return Polynomials(width, degree)

    @property
    def radius(self) -> float:
        return POLYNOMIALS.radii[self.width - 1]

    @cached_property
    def powers(self) -> list[tuple[int, ...]]:
        every = product(range(self.degree + 1), repeat=self.width)
        return [powers for powers in every if 0 < sum(powers) <= self.degree]

    @cached_property
    def nodes(self) -> Array:
        """Where gradients are taken (m, w): Chebyshev's nodes, or points spread evenly over directions."""
        radius, w = self.radius, self.width
        if w == 1:
            return np.asarray(radius * chebyshev.chebpts1(self.degree)[:, None])
        count = int(np.ceil(POLYNOMIALS.equations * len(self.powers) / w))
        rng = np.random.default_rng(count)  # the same points for every fit
        pool = rng.standard_normal((64 * count, w))
        pool /= np.sqrt((pool**2).sum(axis=1))[:, None]
        chosen, nearest = [pool[0]], pool @ pool[0]
        for _ in range(count - 1):  # each as far as can be from those before
            chosen.append(pool[nearest.argmin()])
            nearest = np.maximum(nearest, pool @ chosen[-1])
        sizes = radius * ((rng.permutation(count) + 0.5) / count) ** (1 / w)
        return np.array(chosen) * sizes[:, None]

    def values(self, z: Array) -> Array:
        """All of them (..., p) at z (..., w)."""
        return np.asarray(self.products(self.each(z)) - self.products(self.each(np.zeros(self.width))))

    def products(self, v: Array) -> Array:
        """Of one function of each variable (..., w, degree + 1), by the powers: (..., p)."""
        degrees = np.array(self.powers).T
        return reduce(np.multiply, (v[..., k, own] for k, own in enumerate(degrees)))

    def each(self, z: Array) -> Array:
        """Chebyshev's polynomials (..., w, degree + 1) of every variable."""
        return np.asarray(chebyshev.chebvander(z / self.radius, self.degree))

    @cached_property
    def solver(self) -> Array:
        """The matrix (p, m w) from gradients at the nodes to coefficients, by weighted least squares."""
        z, v = self.nodes, self.each(self.nodes)
        slopes = np.stack(
            [
                chebyshev.chebval(z / self.radius, chebyshev.chebder(unit)) / self.radius
                for unit in np.eye(self.degree + 1)
            ],
            axis=-1,
        )
        own = np.eye(self.width, dtype=bool)[:, :, None]
        matrix = np.stack([self.products(np.where(mine, slopes, v)) for mine in own], axis=1)  # (m, w, p)
        weights = np.repeat(np.exp(-(z**2).sum(axis=1) / POLYNOMIALS.centre_weight), self.width)
        rows = matrix.reshape(-1, len(self.powers)) * weights[:, None]
        return np.asarray(np.linalg.pinv(rows) * weights)

    @cached_property
    def grid(self) -> Array:
        """Points (k, w) of a grid in the ball."""
        radius, spacing = self.radius, POLYNOMIALS.spacings[self.width - 1]
        line = spacing * np.arange(-int(radius / spacing), int(radius / spacing) + 1)
        points = np.array(list(product(line, repeat=self.width)))
        return np.asarray(points[(points**2).sum(axis=1) <= radius**2 + 1e-9])

    @property
    def log_cell(self) -> float:
        """The log volume of a cell of the grid."""
        return self.width * float(np.log(POLYNOMIALS.spacings[self.width - 1]))

    @cached_property
    def grid_powers(self) -> Array:
        """1, the coordinates and their products at points of the grid, (k, 1 + w + w^2)."""
        z = self.grid
        return np.column_stack([np.ones(len(z)), z, (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)])

    @cached_property
    def on_grid(self) -> Array:
        return self.values(self.grid)
