"""How the axes of variables are named for ArviZ and xarray."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ppl.errors import ArgumentError, UnknownName
from ppl.records import dataclass, field

Coords = Mapping[str, Sequence[Any]]
Dims = Mapping[str, Sequence[str]]
AxisNames = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True)
class Axes:
    """Labels by dimension and dimensions by variable, as given, and those that the program declares.

    An axis has to take the labels that are `required`.
    """

    coords: Coords = field(default_factory=dict)
    dims: Dims = field(default_factory=dict)
    declared: AxisNames = field(default_factory=dict)
    required: Collection[str] = ()

    def of(self, name: str, shape: Sequence[int]) -> list[str | None]:
        """The dimension of each axis of a variable, None where it has no name.

        In this order: as given in `dims`; the declared size, where `coords` has its labels; the only
        dimension of `coords` with so many labels; the declared size.
        """
        named = self.declared.get(name, ())
        declared = named if len(named) == len(shape) else [None] * len(shape)
        names = {axis for axes in self.declared.values() for axis in axes}
        others = {key: len(labels) for key, labels in self.coords.items() if key not in names}
        free: list[str | None] = []
        for axis, length in zip(declared, shape, strict=True):
            labelled = [key for key, n in others.items() if n == length]
            free.append(labelled[0] if axis not in self.coords and len(labelled) == 1 else axis)
        repeated = {axis for axis in free if free.count(axis) > 1}
        given = self.dims.get(name, ())
        chosen = [*given, *(None if axis in repeated else axis for axis in free[len(given) :])]
        return chosen[: len(shape)] + [None] * (len(shape) - len(chosen))

    def of_all(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, list[str | None]]:
        """The dimensions of every variable; a declared size of two lengths (missing data) has no name."""
        named = {name: self.of(name, shape) for name, shape in shapes.items()}
        lengths: dict[str | None, set[int]] = {}
        for name, axes in named.items():
            for axis, length in zip(axes, shapes[name], strict=True):
                lengths.setdefault(axis, set()).add(length)
        specified = {*self.coords, *(axis for axes in self.dims.values() for axis in axes)}
        unclear = {axis for axis, sizes in lengths.items() if len(sizes) > 1 and axis not in specified}
        clear = {name: [None if axis in unclear else axis for axis in axes] for name, axes in named.items()}
        self.refuse_misfits(clear, shapes)
        return clear

    def refuse_misfits(
        self, named: Mapping[str, Sequence[str | None]], shapes: Mapping[str, Sequence[int]]
    ) -> None:
        """Refuse labels that no axis takes, and dimensions that no variable has.

        Raises:
            ArgumentError: `coords` or `dims` do not fit the variables.
            UnknownName: `dims` names no variable.
        """
        for name, axes in self.dims.items():
            if name not in shapes and name not in self.declared:
                raise UnknownName("dims: no variable", name, shapes)
            if len(axes) > (rank := len(shapes.get(name, axes))):
                raise ArgumentError(f"dims: {name} has {rank} axes, not {len(axes)}: {', '.join(axes)}")
        lengths = [
            (axis, name, n)
            for name, axes in named.items()
            for axis, n in zip(axes, shapes[name], strict=True)
        ]
        for key in self.required:
            labels = self.coords[key]
            own = [(name, n) for axis, name, n in lengths if axis == key]
            if not own:
                there = ", ".join(sorted({f"{name} {n}" for _, name, n in lengths})) or "none"
                raise ArgumentError(
                    f"coords: no axis takes the {len(labels)} labels of {key}; the lengths are {there}. "
                    'Name the axis in dims, {"variable": ["' + key + '"]}.'
                )
            for name, n in own:
                if n != len(labels):
                    raise ArgumentError(
                        f"coords: {key} has {len(labels)} labels, but {name} has {n} along it"
                    )

    def labels(self, named: Mapping[str, Sequence[str | None]]) -> dict[str, list[Any]]:
        """The labels of those dimensions that occur."""
        used = {axis for axes in named.values() for axis in axes}
        return {key: list(labels) for key, labels in self.coords.items() if key in used}
