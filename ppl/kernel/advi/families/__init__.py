"""Variational families."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.low_rank import LowRank
from ppl.kernel.advi.families.marginal import Marginal, Point
from ppl.kernel.advi.families.mean_field import Diagonal, MeanField
from ppl.kernel.advi.families.standard import STANDARDS

FAMILIES: dict[str, Callable[[int], Family]] = {
    "meanfield": MeanField,
    "fullrank": FullRank,
    "lowrank": LowRank.of,
    "diagonal": Diagonal,
}

# The names in files: also of what is left by searches that fit no family.
KINDS: dict[type, str] = {
    **{type(make(1)): name for name, make in FAMILIES.items()},
    Point: "point",
    Marginal: "marginal",
}


def describe(family: Family) -> dict[str, Any]:
    """The arguments of `family_from` beside the dimension, fit for JSON."""
    standard = next(name for name, kind in STANDARDS.items() if kind is type(family.standard))
    own = {name: getattr(family, name) for name in _own(type(family))}
    return {"family": KINDS[type(family)], "standard": standard, **vars(family.standard), **own}


def family_from(description: Mapping[str, Any], dim: int) -> Family:
    """The family over R^dim that was described."""
    rest = dict(description)
    kind = {name: kind for kind, name in KINDS.items()}[rest.pop("family")]
    own = {name: rest.pop(name) for name in _own(kind)}
    # JSON turns tuples into lists.
    own = {name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}
    return kind(dim, **own, standard=STANDARDS[rest.pop("standard")](**rest))


def _own(kind: Any) -> list[str]:
    """The fields of a family beside the dimension and those with a default."""
    return [field.name for field in fields(kind) if field.default is MISSING and field.name != "dim"]


def family_of(name: str, dim: int, rank: int | None = None) -> Family:
    """The family of that name over R^dim, of that rank where it has one."""
    return LowRank(dim, rank) if name == "lowrank" and rank else FAMILIES[name](dim)
