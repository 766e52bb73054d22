"""Expected values of outcomes at the draws of a fit, with names for each of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.floats import Floats
from ppl.kernel.draws.names import Sized, column_names, flat, indices
from ppl.printable import printable
from ppl.records import dataclass
from ppl.results.report.style import TableStyle
from ppl.results.report.summary import Summary
from ppl.run.table import Table

if TYPE_CHECKING:
    import pandas as pd

Summarise = Callable[[Sequence[str], Floats, TableStyle], Summary]
"""The summary of named columns of draws (draws, columns)."""
Axis = Sequence[str] | None
"""The names of the places of an axis; None for their numbers, from 1."""


@dataclass(frozen=True, repr=False, eq=False)
class ExpectedValues(Mapping[str, Floats]):
    """Expected values by name, each an array (draws, *shape); of categories the last axis has probabilities.

    It prints as its summary: mean, standard error and interval of each value.

    Example:
        >>> program = "data { int N; vector[N] x; vector[N] y; } parameters { real b; } "
        >>> program += "model { b ~ normal(0, 5); y ~ normal(b * x, 1); }"
        >>> data = {"N": 3, "x": [1, 2, 3], "y": [1, 2, 4]}
        >>> expected = compile_model(program).condition(data).variational(seed=1).expected()
        >>> expected["y"].shape, bool(abs(expected.summary()["y[3]"].mean - 3.64) < 0.05)
        ((1000, 3), True)
    """

    draws: Mapping[str, Floats]
    summarise: Summarise
    axes: Mapping[str, Sequence[Axis]]

    def __getitem__(self, name: str) -> Floats:
        return self.draws[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.draws)

    def __len__(self) -> int:
        return len(self.draws)

    def __repr__(self) -> str:
        each = ", ".join(f"{name} {x.shape}" for name, x in self.draws.items())
        return f"<Expected values: {each}>"

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def names(self, name: str) -> Iterator[str]:
        """The names of the values of one variable, in the order of columns: `y[3]`, `y[3,Yes]`."""
        for at in indices(self.draws[name].shape[1:]):
            words = [word(axis, k) for axis, k in zip(self.axes[name], at, strict=True)]
            yield f"{name}[{','.join(words)}]" if words else name

    def by_row(self) -> dict[str, Floats]:
        """The arrays (draws, rows); of several columns, as of categories, one each, `y[Yes]`."""
        columns = dict[str, Floats]()
        for name, x in self.draws.items():
            if x.ndim == 3:
                last = self.axes[name][-1]
                columns |= {f"{name}[{word(last, k)}]": x[:, :, k] for k in range(x.shape[2])}
            else:
                columns[name] = x
        return columns

    def summary(self, interval: float = 0.9, hdi: bool = False, sig_figs: int | None = None) -> Summary:
        """Mean, standard error, sd and interval of each value, in rows `y[3]`; of a category `y[3,Yes]`.

        `interval`, `hdi` and `sig_figs` are as in `Fit.summary`.
        """
        columns = [column for name in self for column in self.names(name)]
        return self.summarise(columns, self.table.rows, TableStyle(interval, hdi, sig_figs))

    @property
    def table(self) -> Table:
        """All values as columns, named as in files of draws: `y.3`."""
        sizes = [Sized(name, (), x.shape[1:]) for name, x in self.draws.items()]
        rows = flat(sizes, self.draws, (len(self.draws[sizes[0].name]),))
        return Table(tuple(column for size in sizes for column in column_names(size)), rows)

    def to_pandas(self) -> "pd.DataFrame":
        """The summary as a DataFrame, in full precision.

        Raises:
            MissingPackage: pandas is not installed.
        """
        return self.summary().to_pandas()


@dataclass(frozen=True, repr=False, eq=False)
class ExpectedOverGrid:
    """Expected values over the values `grid` of a predictor, and over `groups`, those of `by`.

    `points` are the data: predictor, `by` and outcome, (rows,) each. `others` are the values of the other
    predictors.
    """

    predictor: str
    grid: Sequence[Any]
    by: str
    groups: Sequence[Any]
    expected: ExpectedValues
    points: Mapping[str, tuple[Any, Any, Any]]
    others: Mapping[str, Any]


def text_of_value(value: Any) -> str:
    """A level, or a number in four digits."""
    return printable(value, kept="") if isinstance(value, str) else f"{value:.4g}"


def word(axis: Axis, k: int) -> str:
    """The name of a place; of groups that the fit does not know its number."""
    return axis[k] if axis and k < len(axis) else str(k + 1)


def axes_of(posterior: LogDensity, draws: Mapping[str, Floats]) -> dict[str, list[Axis]]:
    """The levels of the axes of outcomes, and those of categories on an axis of their own."""
    labels, axes = posterior.labels, dict[str, list[Axis]]()
    for name, x in draws.items():
        declared = np.ndim(posterior.d.of(name))
        own = (*labels.dims.get(name, (None,) * declared), name)[: x.ndim - 1]
        axes[name] = [labels.levels.get(factor or "") for factor in own]
    return axes
