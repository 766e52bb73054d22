"""Programs with hundreds or thousands of latent variables, each with a long run of Stan's NUTS."""

from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from tests.benchmarks.verdicts.case import Data
from tests.benchmarks.verdicts.fixed_data import FixedData
from tests.benchmarks.verdicts.simulated import as_lists

Ints = NDArray[np.int64]


def capture_recapture(rng: Generator, animals: int = 250, augmented: int = 385, occasions: int = 8) -> Data:
    """Animals that differ in how easily they are caught, and others that are not there."""
    caught = rng.binomial(occasions, expit(rng.normal(-1.0, 0.8, animals)))
    y = caught[caught > 0]
    return as_lists(C=len(y), M=augmented, T=occasions, y=y)


def radon(rng: Generator, counties: int = 386, rows: int = 12_573) -> Data:
    """Counties of very different size; x is the floor, 1 in a fifth of the houses."""
    sizes = rng.gamma(0.7, size=counties)
    county = np.concatenate(
        [np.arange(counties), rng.choice(counties, rows - counties, p=sizes / sizes.sum())]
    )
    alpha, beta = rng.normal(1.3, 0.4, counties), rng.normal(-0.6, 0.3, counties)
    x = rng.binomial(1, 0.2, rows)
    y = rng.normal(alpha[county] + beta[county] * x, 0.8)
    return as_lists(N=rows, J=counties, county=county + 1, x=x, y=np.round(y, 3))


def irt_2pl_1000(rng: Generator, items: int = 20, people: int = 1000) -> Data:
    """Everyone answers every item."""
    a, b = rng.lognormal(0.0, 0.4, items), rng.normal(0.3, 1.0, items)
    theta = rng.standard_normal(people)
    item, person = np.tile(np.arange(items), people), np.repeat(np.arange(people), items)
    y = rng.binomial(1, expit(a[item] * (theta[person] - b[item])))
    return as_lists(I=items, J=people, N=len(y), item=item + 1, person=person + 1, y=y)


def car_2000(rng: Generator, height: int = 40, width: int = 50) -> Data:
    """Areas on a grid, each the neighbour of those beside it and above."""
    areas = height * width
    node1, node2 = grid_edges(height, width)
    adjacent = np.zeros((areas, areas))
    adjacent[node1, node2] = adjacent[node2, node1] = 1
    neighbours = adjacent.sum(axis=1)
    root = np.sqrt(neighbours)
    eigenvalues = np.linalg.eigvalsh(adjacent / root / root[:, None])
    factor = np.linalg.cholesky((np.diag(neighbours) - 0.95 * adjacent) / 0.7**2)
    phi = np.linalg.solve(factor.T, rng.standard_normal(areas))
    x, expected = rng.standard_normal(areas), rng.gamma(3.0, 2.0, areas)
    y = rng.poisson(expected * np.exp(-0.2 + 0.3 * x + phi))
    edges = {"N_edges": len(node1), "node1": node1 + 1, "node2": node2 + 1}
    return as_lists(N=areas, **edges, neighbours=neighbours, eigenvalues=eigenvalues, x=x, E=expected, y=y)


def grid_edges(height: int, width: int) -> tuple[Ints, Ints]:
    """The pairs of neighbours on a grid, counted from 0 along its rows."""
    cell = np.arange(height * width).reshape(height, width)
    right, down = (cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:])
    first, second = (np.concatenate([right[k].ravel(), down[k].ravel()]) for k in (0, 1))
    return first, second


def horseshoe_1500(rng: Generator, rows: int = 200, coefficients: int = 1500, relevant: int = 6) -> Data:
    """Few coefficients are not zero; scale_global is that of their section 3.1 with sigma = 2."""
    x = rng.standard_normal((rows, coefficients))
    beta = np.zeros(coefficients)
    beta[:relevant] = [2.5, -2.5, 2.0, -2.0, 1.5, -1.5]
    y = rng.binomial(1, expit(0.5 + x @ beta))
    scale = relevant / (coefficients - relevant) * 2 / np.sqrt(rows)
    prior = {"scale_global": float(scale), "slab_scale": 2.0, "slab_df": 4.0}
    return as_lists(N=rows, D=coefficients, x=x, y=y, **prior)


PROGRAMS = FixedData(
    Path(__file__).with_name("latent"),
    0x6C61746E,  # "latn"
    (capture_recapture, radon, car_2000, irt_2pl_1000, horseshoe_1500),
)
LATENT = PROGRAMS.group()
