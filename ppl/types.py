"""The types of the language, as the checker, the standard library and the IR speak of them.

A type here is unsized: sizes are values, known once there are data. Written in Stan's own words:
`str(ArrayType(VECTOR, 2))` is "array[,] vector".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Union

from ppl.records import dataclass


@dataclass(frozen=True)
class Plain:
    """A type that one word names: no array, and no tuple."""

    word: str

    def __str__(self) -> str:
        return self.word


@dataclass(frozen=True)
class ArrayType:
    """`dims` array axes over an element that is itself no array."""

    element: "Type"
    dims: int = 1

    def __str__(self) -> str:
        return f"array[{',' * (self.dims - 1)}] {self.element}"


@dataclass(frozen=True)
class Tuple:
    items: tuple["Type", ...]

    def __str__(self) -> str:
        items = ", ".join(map(str, self.items))
        return f"tuple({items}, )" if len(self.items) == 1 else f"tuple({items})"


@dataclass(frozen=True)
class OverAxes:
    """`element` at every place along some axes, the outermost first: what a loop that became arrays computes.

    An axis is known by its name: the index set of a loop, or the draws.  Two of one length are two axes.
    """

    element: "Type"
    axes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.element} over {', '.join(self.axes)}"


Type = Union[Plain, ArrayType, Tuple, OverAxes]

NAMED: Mapping[str, Type] = {
    word: Plain(word)
    for word in (
        *("int", "real", "vector", "row_vector", "matrix", "void"),
        *("complex", "complex_vector", "complex_row_vector", "complex_matrix"),
    )
}
"""The types that one word names."""
INT, REAL, VECTOR, ROW_VECTOR, MATRIX, VOID, *_COMPLEX = NAMED.values()
COMPLEX, COMPLEX_VECTOR, COMPLEX_ROW_VECTOR, COMPLEX_MATRIX = _COMPLEX

COMPLEX_OF: Mapping[Type, Type] = {
    INT: COMPLEX,
    REAL: COMPLEX,
    VECTOR: COMPLEX_VECTOR,
    ROW_VECTOR: COMPLEX_ROW_VECTOR,
    MATRIX: COMPLEX_MATRIX,
}
REAL_OF: Mapping[Type, Type] = {z: x for x, z in COMPLEX_OF.items() if x != INT}

OWN_AXES: Mapping[Type, int] = {
    **dict.fromkeys((VECTOR, ROW_VECTOR, COMPLEX_VECTOR, COMPLEX_ROW_VECTOR), 1),
    **dict.fromkeys((MATRIX, COMPLEX_MATRIX), 2),
}


def array_of(element: Type, dims: int) -> Type:
    """`element` under `dims` more array axes; flattens, so an ArrayType never holds an ArrayType."""
    match element:
        case _ if dims == 0:
            return element
        case OverAxes(element=inner, axes=axes):
            return OverAxes(array_of(inner, dims), axes)
        case ArrayType(inner, n):
            return ArrayType(inner, n + dims)
        case _:
            return ArrayType(element, dims)


def of_items(t: Type, change: Callable[[Type], Type]) -> Type:
    """The type after `change`; of a tuple, that of every item."""
    match t:
        case Tuple(items=items):
            return Tuple(tuple(of_items(item, change) for item in items))
        case ArrayType(element=Tuple() as element, dims=dims):
            return ArrayType(of_items(element, change), dims)
        case _:
            return change(t)


def over_axes(t: Type, *axes: str) -> Type:
    """`t` along these axes, and then those it has; of a tuple, every item."""

    def over(t: Type) -> Type:
        own = t if isinstance(t, OverAxes) else OverAxes(t, ())
        return OverAxes(own.element, (*axes, *own.axes))

    return of_items(t, over) if axes else t


def axes_of(t: Type) -> tuple[str, ...]:
    """The axes that a value varies over, besides those of its own type."""
    match t:
        case OverAxes(axes=axes):
            return axes
        case ArrayType(element=Tuple(items=items)) | Tuple(items=items):
            return next((own for item in items if (own := axes_of(item))), ())
        case _:
            return ()


def entry(t: Type) -> Type:
    """The type at one place along the axes."""
    return of_items(t, lambda t: t.element if isinstance(t, OverAxes) else t)


def core(t: Type) -> Type:
    """The type below all array axes."""
    return core(t.element) if isinstance(t, OverAxes) else t.element if isinstance(t, ArrayType) else t


def array_dims(t: Type) -> int:
    """Number of axes above that of the core."""
    if isinstance(t, OverAxes):
        return len(t.axes) + array_dims(t.element)
    return t.dims if isinstance(t, ArrayType) else 0


def own_axes(t: Type) -> int:
    """Number of axes below the array axes: 1 of a vector, 2 of a matrix."""
    return OWN_AXES.get(core(t), 0)


def rank(t: Type) -> int:
    """Number of axes of the ndarray that holds a value of this type (array axes lead)."""
    return array_dims(t) + own_axes(t)


def is_tuple(t: Type) -> bool:
    """Whether it is a tuple or an array of them."""
    return isinstance(core(t), Tuple)


def items_of(t: Type) -> tuple[Type, ...]:
    """The types of the items of a tuple, or of one in an array."""
    element = core(t)
    assert isinstance(element, Tuple)
    return element.items


def is_complex(t: Type) -> bool:
    """Whether its scalars are complex numbers."""
    return core(t) in REAL_OF


def element_type(t: Type) -> Type:
    """The scalar at the bottom: int, real (a vector's is real) or complex."""
    return INT if core(t) == INT else COMPLEX if is_complex(t) else REAL


def is_discrete(t: Type) -> bool:
    """Whether it holds ints alone; a tuple, whether all its items do."""
    return all(map(is_discrete, items_of(t))) if is_tuple(t) else core(t) == INT


def complex_of(t: Type) -> Type:
    """The type with its scalars made complex; of a tuple, itself."""
    return array_of(COMPLEX_OF.get(core(t), core(t)), array_dims(t))


def real_of(t: Type) -> Type:
    """The type of the real parts of what is complex; any other type as it is."""
    return array_of(REAL_OF.get(core(t), core(t)), array_dims(t))


PICKED_OF_MATRIX: Mapping[tuple[bool, ...], Type] = {
    **dict.fromkeys(((True,), (True, True)), MATRIX),
    **dict.fromkeys(((False,), (False, True)), ROW_VECTOR),
    (True, False): VECTOR,
}
"""The type of a part of a matrix, by whether its axes stay; else a number."""


def indexed_type(base: Type, keeps_axis: Sequence[bool]) -> Type:
    """The type of what indices pick; `keeps_axis` says which axes stay.  Reference manual, "Indexing"."""
    dims = array_dims(base)
    array_part, own = keeps_axis[:dims], keeps_axis[dims:]
    inner = real_of(core(base))
    left = sum(array_part) + dims - len(array_part)
    if not own:
        element = inner
    elif inner in (VECTOR, ROW_VECTOR) and len(own) == 1:
        element = inner if own[0] else REAL
    else:
        element = PICKED_OF_MATRIX.get(tuple(own), REAL)
    return array_of(complex_of(element) if is_complex(base) else element, left)
