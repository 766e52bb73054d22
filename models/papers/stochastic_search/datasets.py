"""The five data sets of Paisley, Blei and Jordan (2012), each with a column of ones for the offset."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Labelled(NamedTuple):
    """Inputs (n, d) with ones in the first column, labels (n,) of 0 and 1."""

    x: Array
    y: Array


def iris(data: Path) -> Labelled:
    """Setosa against the rest."""
    table = columns(data / "iris/iris.csv", 5)
    return labelled(table[:, :-1], table[:, -1] == 0)


def pima(data: Path) -> Labelled:
    table = columns(data / "pima/pima.csv", 9)
    return labelled(table[:, :-1], table[:, -1] > 0)


def spectf(data: Path) -> Labelled:
    table = columns(data / "spectf/spectf.csv", 45)
    return labelled(table[:, :-1], table[:, -1] > 0)


def voting(data: Path) -> Labelled:
    """Votes for, against and missing are 1, -1 and 0; left on that scale."""
    table = columns(data / "voting/votes_coded.csv", 17)
    return Labelled(np.column_stack([np.ones(len(table)), table[:, :-1]]), (table[:, -1] > 0).astype(float))


def wdbc(data: Path) -> Labelled:
    table = columns(data / "wdbc/wdbc.csv", 31)
    return labelled(table[:, :-1], table[:, -1] > 0)


def columns(path: Path, first: int) -> Array:
    """That many columns of a CSV with a header."""
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(first))


def labelled(x: Array, y: NDArray[np.bool_]) -> Labelled:
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    return Labelled(np.column_stack([np.ones(len(x)), scaled]), y.astype(float))
