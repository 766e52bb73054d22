"""Variational families."""

from collections.abc import Callable

from ppl.inference.families.family import Family
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.low_rank import LowRank
from ppl.inference.families.mean_field import MeanField

FAMILIES: dict[str, Callable[[int], Family]] = {
    "meanfield": MeanField,
    "fullrank": FullRank,
    "lowrank": LowRank.of,
}
