"""Polynomials over a ball, fitted to gradients at nodes and summed over points."""

from collections.abc import Mapping
from functools import cache, cached_property, reduce
from itertools import product
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.records import dataclass


class PolynomialLimits(NamedTuple):
    """Where polynomials are known, and on how many points."""

    radii: tuple[float, ...] = (5.5, 4.7, 4.7, 4.0, 4.1, 4.2)
    """The radius of the ball by width, in sds: less than a ten-thousandth of a normal's mass is beyond, of
    four variables and more less than a hundredth. Polynomials fit worse in a larger one: of two variables at
    5.5, of 60 blocks, 60 of 2,048 draws could not be made; of four, in logistic regressions with 15 rows a
    block, log weights of 60 blocks have an sd of 0.52 at 4.85 and 0.29 at 4.
    """

    spacings: tuple[float, ...] = (0.5, 0.6, 0.85)
    """The distance between two points of a grid by width, in sds: the trapezoidal rule errs by e^-20 for a
    normal at the largest.
    """

    hermite: Mapping[int, int] = {4: 5, 5: 5, 6: 4}
    """Gauss-Hermite nodes of each variable by width, where a grid would have too many points."""

    least_weight: float = 1e-6
    """Of such points those with a smaller weight are left out."""

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

    @property
    def quadratic(self) -> bool:
        """Whether they are log densities of normals in several variables."""
        return self.degree == 2 and self.width > 1

    @cached_property
    def powers(self) -> list[tuple[int, ...]]:
        every = product(range(self.degree + 1), repeat=self.width)
        return [powers for powers in every if 0 < sum(powers) <= self.degree]

    @cached_property
    def nodes(self) -> Floats:
        """Where gradients are taken (m, w): Chebyshev's nodes, or points spread evenly over directions."""
        radius, w = self.radius, self.width
        if w == 1:
            return np.asarray(
                radius * np.sin(np.pi / 2 / self.degree * np.arange(1 - self.degree, self.degree, 2))[:, None]
            )
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

    def heights(self, z: Floats, coefficients: Floats) -> Floats:
        """The sums (...) of those with coefficients (..., p), at z (..., w)."""
        each = [chebyshev_values(z[..., k] / self.radius, self.degree) for k in range(self.width)]
        total = -(coefficients @ self.at_zero)
        for k, powers in enumerate(self.powers):
            factors = [v[d] for v, d in zip(each, powers, strict=True) if d]
            total += coefficients[..., k] * reduce(np.multiply, factors)
        return np.asarray(total)

    @cached_property
    def at_zero(self) -> Floats:
        """The products (p,) at the centre, which are taken off."""
        return self.products(self.each(np.zeros(self.width)))

    def values(self, z: Floats) -> Floats:
        """All of them (..., p) at z (..., w)."""
        return np.asarray(self.products(self.each(z)) - self.at_zero)

    def products(self, v: Floats) -> Floats:
        """Of one function of each variable (..., w, degree + 1), by the powers: (..., p)."""
        degrees = np.array(self.powers).T
        return reduce(np.multiply, (v[..., k, own] for k, own in enumerate(degrees)))

    def each(self, z: Floats) -> Floats:
        """Chebyshev's polynomials (..., w, degree + 1) of every variable."""
        return np.stack(chebyshev_values(z / self.radius, self.degree), axis=-1)

    @property
    def standard_normal(self) -> Floats:
        """The coefficients (p,) of the standard normal."""
        squares = (2 in powers and sum(powers) == 2 for powers in self.powers)
        return np.where(list(squares), -(self.radius**2) / 4, 0.0)

    def at_centre(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """The slopes (..., w) and precisions (..., w, w) of quadratic ones by their coefficients (..., p)."""
        w, r = self.width, self.radius
        precisions = np.empty((*coefficients.shape[:-1], w, w))
        slopes = np.empty_like(precisions[..., 0])
        for k, powers in enumerate(self.powers):
            own, (first, last) = coefficients[..., k], np.repeat(range(w), powers)[[0, -1]]
            if sum(powers) == 1:
                slopes[..., first] = own / r
            else:  # the second of Chebyshev's polynomials is 2 x^2 - 1
                curvature = own * (-4 if first == last else -1) / r**2
                precisions[..., first, last] = precisions[..., last, first] = curvature
        return slopes, precisions

    @cached_property
    def solver(self) -> Floats:
        """The matrix (p, m w) from gradients at the nodes to coefficients, by weighted least squares."""
        z, r = self.nodes, self.radius
        slopes = np.stack(chebyshev_slopes(z / r, self.degree), axis=-1) / r
        own = np.eye(self.width, dtype=bool)[:, :, None]
        columns = [self.products(np.where(mine, slopes, self.each(z))) for mine in own]
        matrix = np.stack(columns, axis=1)  # (m, w, p)
        weights = np.repeat(np.exp(-(z**2).sum(axis=1) / POLYNOMIALS.centre_weight), self.width)
        rows = matrix.reshape(-1, len(self.powers)) * weights[:, None]
        return np.asarray(np.linalg.pinv(rows) * weights)

    @cached_property
    def grid(self) -> Floats:
        """Points (k, w) in the ball that a density is summed over."""
        return self.rule[0]

    @property
    def log_cells(self) -> Floats:
        """The log volumes (k,) that the points stand for."""
        return self.rule[1]

    @cached_property
    def rule(self) -> tuple[Floats, Floats]:
        """The points and log volumes: of a grid, or of Gauss and Hermite's rule."""
        count = POLYNOMIALS.hermite.get(self.width, 0)
        line, log_lengths = hermite(count) if count else regular(self.radius, self.width)
        points = np.array(list(product(line, repeat=self.width)))
        log_cells = np.array([sum(each) for each in product(log_lengths, repeat=self.width)])
        squares = (points**2).sum(axis=1)
        inside = squares <= self.radius**2 + 1e-9
        if count:
            log_weights = log_cells - 0.5 * squares - 0.5 * self.width * LOG_2PI
            inside &= log_weights > np.log(POLYNOMIALS.least_weight)
        return points[inside], log_cells[inside]

    @cached_property
    def grid_powers(self) -> Floats:
        """1, the coordinates and their products at points of the grid, (k, 1 + w + w^2)."""
        z = self.grid
        return np.column_stack([np.ones(len(z)), z, (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)])

    @cached_property
    def cell_powers(self) -> Floats:
        """The same times the volumes that the points stand for."""
        return self.grid_powers * np.exp(self.log_cells)[:, None]

    @cached_property
    def on_grid(self) -> Floats:
        return self.values(self.grid)


def chebyshev_values(x: Floats, degree: int) -> list[Floats]:
    """Chebyshev's polynomials of x up to a degree, each by the two before it."""
    values = [np.ones_like(x), x]
    for _ in range(degree - 1):
        values.append(2 * x * values[-1] - values[-2])
    return values


def chebyshev_slopes(x: Floats, degree: int) -> list[Floats]:
    """The derivatives of these polynomials by x."""
    slopes = [np.zeros_like(x), np.ones_like(x)]
    for value in chebyshev_values(x, degree)[1:-1]:
        slopes.append(2 * value + 2 * x * slopes[-1] - slopes[-2])
    return slopes


def regular(radius: float, width: int) -> tuple[Floats, Floats]:
    """Places along a line that are equally far apart, and the logs of this distance."""
    spacing = POLYNOMIALS.spacings[width - 1]
    line = np.asarray(spacing * np.arange(-int(radius / spacing), int(radius / spacing) + 1))
    return line, np.full(len(line), np.log(spacing))


def hermite(count: int) -> tuple[Floats, Floats]:
    """The nodes of Gauss and Hermite's rule, and log weights by which any function of one variable is summed:
    exactly, if it is a normal density times a polynomial of less than twice the degree.
    """
    line, weights = map(np.asarray, np.polynomial.hermite_e.hermegauss(count))
    return line, np.asarray(np.log(weights) + 0.5 * line**2)
