"""The types of the language, as the checker, the standard library and the IR speak of them.

A type here is unsized: sizes are values, known once there are data. Written in Stan's own words:
`str(Array(Vector(), 2))` is "array[,] vector".
"""

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Int:
    def __str__(self) -> str:
        return "int"


@dataclass(frozen=True)
class Real:
    def __str__(self) -> str:
        return "real"


@dataclass(frozen=True)
class Vector:
    def __str__(self) -> str:
        return "vector"


@dataclass(frozen=True)
class RowVector:
    def __str__(self) -> str:
        return "row_vector"


@dataclass(frozen=True)
class Matrix:
    def __str__(self) -> str:
        return "matrix"


@dataclass(frozen=True)
class Void:
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class Array:
    """`dims` array axes over an element that is itself no array."""

    element: "Type"
    dims: int = 1

    def __str__(self) -> str:
        return f"array[{',' * (self.dims - 1)}] {self.element}"


@dataclass(frozen=True)
class Tuple:
    items: tuple["Type", ...]

    def __str__(self) -> str:
        return f"tuple({', '.join(map(str, self.items))})"


Type = Union[Int, Real, Vector, RowVector, Matrix, Void, Array, Tuple]

INT, REAL, VECTOR, ROW_VECTOR, MATRIX, VOID = Int(), Real(), Vector(), RowVector(), Matrix(), Void()


def array_of(element: Type, dims: int) -> Type:
    """`element` under `dims` more array axes; flattens, so an Array never holds an Array."""
    match element:
        case _ if dims == 0:
            return element
        case Array(inner, n):
            return Array(inner, n + dims)
        case _:
            return Array(element, dims)


def core(t: Type) -> Type:
    """The type below all array axes."""
    return t.element if isinstance(t, Array) else t


def array_dims(t: Type) -> int:
    return t.dims if isinstance(t, Array) else 0


def rank(t: Type) -> int:
    """Number of axes of the ndarray that holds a value of this type (array axes lead)."""
    own = {Vector: 1, RowVector: 1, Matrix: 2}.get(type(core(t)), 0)
    return array_dims(t) + own


def element_type(t: Type) -> Type:
    """The scalar at the bottom: int or real (a vector's is real)."""
    return INT if core(t) == INT else REAL
