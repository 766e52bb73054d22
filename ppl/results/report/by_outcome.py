"""Results of several outcomes: a mapping by the name of the data variable."""

from collections.abc import Iterator, Mapping
from typing import Generic, NoReturn, TypeVar

from ppl.errors import UnknownName
from ppl.records import dataclass

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
