"""The random choices that a program is made of: the same seed makes the same program."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from ppl.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    random: Random

    @classmethod
    def seeded(cls, seed: int, number: int) -> "Choices":
        """Those of one program of a run."""
        return cls(Random(f"{seed}/{number}"))

    def one(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        return self.random.choices([o for _, o in options], [w for w, _ in options])[0]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self.random.sample(list(options), len(options))
