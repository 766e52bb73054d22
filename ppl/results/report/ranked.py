"""Models of the same data in an order, the best first, by position or by name."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar, Generic, NoReturn, Protocol, TypeVar

from ppl import html
from ppl.errors import UnknownName
from ppl.records import dataclass
from ppl.results.report.text_table import TABLE_WIDTH, text_table

Result = TypeVar("Result")


@dataclass(frozen=True, repr=False, eq=False)
class ByOutcome(Mapping[str, Result], Generic[Result]):
    """A result for each outcome, in the order of the data; figures of different outcomes are not added up."""

    of_each: Mapping[str, Result]

    def __len__(self) -> int:
        return len(self.of_each)

    def __iter__(self) -> Iterator[str]:
        return iter(self.of_each)

    def __getitem__(self, name: str) -> Result:
        """The result of that outcome.

        Raises:
            UnknownName: there is none; a KeyError.
        """
        if name not in self.of_each:
            raise UnknownName("no outcome", name, self.of_each)
        return self.of_each[name]

    def __getattr__(self, name: str) -> NoReturn:
        """Refuses what the result of one outcome has.

        Raises:
            AttributeError: always; names the outcomes.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        names = ", ".join(self)
        raise AttributeError(
            f"there is no {name} of several outcomes ({names}): choose one, [{next(iter(self))!r}], or name "
            "those whose rows belong together (outcome)."
        )


class Named(Protocol):
    """A row of a comparison."""

    @property
    def name(self) -> str: ...

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as a table shows them, the name first."""


Row = TypeVar("Row", bound=Named)


@dataclass(frozen=True, repr=False)
class Ranked(ABC, Generic[Row]):
    """Models of the same data, the best first; by position or by name."""

    models: tuple[Row, ...]
    headings: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.models)

    def __getitem__(self, name: str | int) -> Row:
        """The model of that name, or at that position.

        Raises:
            UnknownName: there is none; a KeyError.
        """
        if isinstance(name, int):
            return self.models[name]
        names = [model.name for model in self]
        if name not in names:
            raise UnknownName("no model", name, names)
        return self.models[names.index(name)]

    def table(self, width: int = TABLE_WIDTH) -> Iterator[str]:
        """The lines of the table, a model each."""
        return text_table(("", *self.headings), [model.texts for model in self], width)

    @property
    @abstractmethod
    def reading(self) -> str:
        """The conclusion from the table, in a sentence or two."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} models: best {self.models[0].name}>"

    def __str__(self) -> str:
        return "\n".join([*self.table(), "", self.reading])

    def _repr_html_(self) -> str:
        table = html.table(("", *self.headings), [model.texts for model in self])
        return table + html.paragraph(self.reading)
