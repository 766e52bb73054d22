"""The data and parameters of a program in the making, declared as they are called for."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from generator.choices import Choices
from generator.shapes import CORE, Shape, Variable

from ppl.records import dataclass, field
from ppl.stdlib.supports import SUPPORTS

MOST_PARAMETERS = 5
BOUNDS = {
    "positive": "<lower=0>",
    "nonnegative": "<lower=0>",
    "unit_interval": "<lower=0, upper=1>",
    "open_unit": "<lower=0, upper=1>",
    "angle": "<lower=-2, upper=2>",
    "count": "<lower=0>",
    "trials": "<lower=0>",
    "binary": "<lower=0, upper=1>",
}
STRUCTURED = {
    "vector": ("simplex", "ordered", "positive_ordered", "unit_vector", "sum_to_zero_vector"),
    "matrix": (
        *("cov_matrix", "corr_matrix", "cholesky_factor_cov", "cholesky_factor_corr"),
        *("row_stochastic_matrix", "column_stochastic_matrix", "sum_to_zero_matrix"),
    ),
}
"""Types of parameters that are vectors or matrices."""
SQUARE = ("cov_matrix", "corr_matrix", "cholesky_factor_cov", "cholesky_factor_corr")
AT_LEAST_TWO = ("sum_to_zero_vector", "sum_to_zero_matrix", "unit_vector")


@dataclass
class World:
    choices: Choices
    sizes: dict[str, int]
    declared: list[str] = field(default_factory=list)
    data: list[Variable] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    parameters: list[Variable] = field(default_factory=list)
    parameter_lines: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    densities: list[str] = field(default_factory=list)
    """Distributions that the program defines, of a vector and a real given a real."""
    effects: list[str] = field(default_factory=list)
    """Functions of a real and a vector that add to the target."""
    names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = np.random.default_rng(self.choices.random.getrandbits(32))
        self.values |= self.sizes
        self.declared += [f"int<lower=0> {name};" for name in self.sizes]

    def fresh(self, letter: str) -> str:
        self.names[letter] = self.names.get(letter, 0) + 1
        return f"{letter}{self.names[letter]}"

    def size(self) -> str:
        """A size of the data, or now and then a number."""
        return (
            self.choices.one(["2", "3"]) if self.choices.chance(0.08) else self.choices.one(list(self.sizes))
        )

    def value_of(self, size: str) -> int:
        """Of a size, a number or a sum of these."""
        return sum(self.sizes[part] if part in self.sizes else int(part) for part in size.split(" + "))

    def lengths(self, shape: Shape) -> tuple[int, ...]:
        return tuple(map(self.value_of, shape.sizes))

    # --- Data ---

    def datum(self, shape: Shape, support: str = "real", reuse: float = 0.6) -> Variable:
        known = [v for v in self.data if v.shape == shape and v.support == support]
        if known and self.choices.chance(reuse):
            return self.choices.one(known)
        variable = Variable(self.fresh("y" if shape.base == "int" else "x"), shape, support)
        if support.startswith("index:"):
            size = support.removeprefix("index:")
            bounds, keyword = f"<lower=1, upper={size}>", ""
            value = self.numbers.integers(1, max(1, self.value_of(size)) + 1, self.lengths(shape))
        else:
            structured = support in SUPPORTS and support in ("simplex", "ordered", *SQUARE)
            bounds, keyword = BOUNDS.get(support, ""), support if structured else ""
            lengths = self.lengths(shape)  # of nothing some have no sample
            value = SUPPORTS[support].sample(self.numbers, lengths) if 0 not in lengths else np.zeros(lengths)
        sizes = shape.sizes[-1:] if keyword and shape.base == "matrix" else None
        if keyword == "cholesky_factor_cov":
            sizes = shape.sizes[-1:]
        self.declared.append(f"{shape.constrained(bounds, keyword, sizes)} {variable.name};")
        self.values[variable.name] = settled(value, keyword)
        self.data.append(variable)
        return variable

    # --- Parameters ---

    def parameter(self, shape: Shape, support: str = "real", reuse: float = 0.7) -> Variable | None:
        """One that has the support, or None where there are enough."""
        known = [v for v in self.parameters if v.shape == shape and support in ("real", v.support)]
        full = len(self.parameters) >= MOST_PARAMETERS
        if known and (full or self.choices.chance(reuse)):
            return self.choices.one(known)
        if full or shape.base == "int":
            return None
        support, text = self.declaration(shape, support)
        variable = Variable(self.fresh("p"), shape, support)
        self.parameter_lines.append(f"{text} {variable.name};")
        self.parameters.append(variable)
        return variable

    def declaration(self, shape: Shape, support: str) -> tuple[str, str]:
        """What the parameter turns out to be, and its declaration."""
        if support in BOUNDS:
            return support, shape.constrained(self.bounds(support))
        if support in ("simplex", "ordered", *SQUARE):
            return support, shape.constrained("", support, shape.sizes[-1:])
        if self.choices.chance(0.5):
            return "real", shape.declared
        options = [
            keyword
            for keyword in STRUCTURED.get(shape.base, ())
            if not (keyword in SQUARE and shape.sizes[-1] != shape.sizes[-2])
            and not (keyword in AT_LEAST_TWO and min(self.lengths(shape)[-CORE[shape.base] :]) < 2)
        ]
        if options and self.choices.chance(0.6):
            keyword = self.choices.one(options)
            sizes = shape.sizes[-1:] if keyword in SQUARE else None
            return keyword, shape.constrained("", keyword, sizes)
        return "real", shape.constrained(self.choices.one(self.loose_bounds(shape)))

    def bounds(self, support: str) -> str:
        if support in ("positive", "nonnegative"):
            return self.choices.one(["<lower=0>", "<lower=0.1>", "<lower=0.2, upper=3>"])
        if support in ("unit_interval", "open_unit"):
            return self.choices.one(["<lower=0, upper=1>", "<lower=0.1, upper=0.8>"])
        return BOUNDS[support]

    def loose_bounds(self, shape: Shape) -> list[str]:
        """Constraints of any number, with bounds from data and from parameters before."""
        scalar = self.datum(Shape("real")).name
        bound = [v.name for v in self.parameters if v.shape == Shape("real")] + [scalar, "-0.5"]
        whole = self.datum(shape).name if self.choices.chance(0.3) else scalar
        return [
            f"<lower={self.choices.one(bound)}>",
            f"<upper={whole}>",
            f"<lower={whole}>",
            f"<offset={self.choices.one(bound)}, multiplier=2>",
            f"<offset={whole}>",
            "<multiplier=1.5>",
            "<lower=-1, upper=2>",
            f"<lower={whole}, upper={whole} + 1>" if shape.dims == 0 else "<upper=1.5>",
        ]


def settled(value: Any, keyword: str) -> Any:
    """Numbers of few digits, where rounding leaves them valid."""
    if np.asarray(value).dtype.kind == "f" and not keyword:
        value = np.round(value, 2)
    return np.asarray(value).tolist()


def jsonable(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in values.items()}
