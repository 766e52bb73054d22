"""A kind of picture: what it needs, how it is drawn and read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ppl.errors import DataError
from ppl.records import dataclass, replace
from ppl.results.pictures.canvas import WIDE_LOOK, Look, Panels, figure_of, finish, styled
from ppl.results.pictures.material import Material, NamedDraws

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Need(NamedTuple):
    """A need of pictures: a part of the material, how a command is given it, and whether it is there."""

    what: str
    how: str
    there: Callable[[Material], bool]
    in_python: str = ""


COLUMN = Need("a column that varies", "", lambda m: len(m.draws.columns) > 0)
TWO = Need("two columns that vary", "", lambda m: len(m.draws.columns) > 1)
RUNS = Need("draws of several runs or chains", "several FILEs", lambda m: len(m.files) > 1)
ELBO_TRACE = Need(
    "the ELBO of a run whose loop evaluated it",
    "--trace FILE, the file of --diagnostic-file or a saved fit, of a run whose loop evaluated the ELBO",
    lambda m: m.trace is not None and len(m.trace.points) > 0,
)
ENERGY = Need(
    "the energy of chains of the No-U-Turn sampler",
    "files of `ppl sample`",
    lambda m: all("energy__" in file.internal for file in m.files),
)
OUTCOMES = Need(
    "an outcome with replicated data",
    "replicated data, NAME_rep, among the generated quantities, or the program that simulates them (--model "
    "MODEL), and NAME of the same size among the data (--data FILE); for other names --outcome NAME "
    "--replicated NAME",
    lambda m: len(m.outcomes) > 0,
)
GROUPS = Need(
    "groups of observations",
    "a column of the data: --by NAME",
    lambda m: any(r.groups for r in m.outcomes.values()),
    ': a column of the data, by="clinic"',
)
ROWS = Need(
    "the log likelihood of each row",
    "log_lik among the generated quantities, or the program (--model MODEL) and its data",
    lambda m: len(m.log_liks) > 0,
)
PRIOR = Need(
    "draws of the prior", "a program that can be simulated: --model MODEL", lambda m: m.prior is not None
)


EFFECTS = Need(
    "a predictor, and a program that predicts outcomes",
    "a column of the data: --predictor NAME, and the program: --model MODEL",
    lambda m: m.effects is not None,
    ': a column of the data, effects("age")',
)


class Caption(NamedTuple):
    """The caption above a picture, and how it is to be read."""

    title: str
    reading: str


def first_columns(material: Material, count: int) -> tuple[tuple[str, ...], str]:
    return material.draws.columns[:count], "the first"


@dataclass(frozen=True)
class Kind:
    """A kind of picture: how it is drawn, its caption, what it needs.

    `values` is the axis on which values of draws or data stand, "" for none. `room` is how many columns it
    has room for, on a page and where the user has named them; `choose` picks so many, and says which. Where
    nobody names a picture, those are drawn that are `usual` for the material.
    """

    name: str
    draw: Callable[[Material, Look], Panels]
    caption: Callable[[Material], Caption]
    needs: tuple[Need, ...] = (COLUMN,)
    values: str = ""
    room: tuple[int, int] | None = None
    choose: Callable[[Material, int], tuple[tuple[str, ...], str]] = first_columns
    usual: Callable[[Material], bool] = lambda _: True

    @property
    def by_outcome(self) -> bool:
        """Whether several outcomes have a picture each."""
        return OUTCOMES in self.needs or ROWS in self.needs

    def missing(self, material: Material) -> list[Need]:
        """The needs that the material lacks."""
        return [need for need in self.needs if not need.there(material)]

    def axes(self, material: Material, look: Look = WIDE_LOOK) -> Panels:
        """The panels of the picture.

        Raises:
            DataError: something that it needs is missing, or it has no axis of values, or none for logs.
        """
        if missing := self.missing(material):
            raise DataError(f"{self.name} needs {missing[0].what}{missing[0].in_python}.")
        if (look.log or look.line is not None) and not self.values:
            raise DataError(f"{self.name} has no axis of values for a log scale or a line.")
        if look.log:
            self.require_positive(material)
        with styled():
            each = self.draw(material, look := replace(look, values=self.values))
            finish(each, look)
        return each

    def figure(self, material: Material, look: Look = WIDE_LOOK) -> "Figure":
        """The picture as a figure; raises DataError as `axes`."""
        return figure_of(self.axes(material, look))

    def require_positive(self, material: Material) -> None:
        """DataError where a log axis cannot show all values."""
        shown = material.shown(self.columns(material))
        values = (
            [(name, y) for name, (y, *_) in material.outcomes.items()]
            if self.by_outcome
            else [(name, shown.column(name)) for name in shown.columns]
        )
        for name, x in values:
            if np.min(x, initial=np.inf) <= 0:
                raise DataError(
                    f"{name} has values that are not positive, which a log axis cannot show.", name
                )

    # --- Room ---

    def most(self, material: Material) -> int:
        """How many columns it has room for."""
        return self.room[material.named] if self.room else len(material.draws.columns)

    def columns(self, material: Material) -> NamedDraws:
        """The draws of as many columns as it has room for."""
        return material.draws.only(self.choose(material, self.most(material))[0])

    def left_out(self, material: Material) -> str:
        """A sentence on the columns that it has no room for; "" where it shows them all."""
        columns, most = material.draws.columns, self.most(material)
        if len(columns) <= most:
            return ""
        there, which = self.choose(material, most)
        example = ",".join([material.label(name) for name in columns if name not in there][:2])
        return (
            f"{self.name} shows {most} of {len(columns)} columns, {which}; for others name them, "
            f"as in --variables {example}."
        )


def always(title: str, reading: str) -> Callable[[Material], Caption]:
    return lambda _: Caption(title, reading)
