"""The sum over every configuration of the discrete parameters: what the compiler is held to.

The program whose discrete parameters are data is an ordinary one; its density is summed here in plain NumPy.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy.special import logsumexp

import ppl
from ppl.kernel.language.parser import parse
from ppl.kernel.language.printer import expression, print_program
from ppl.records import dataclass, replace
from ppl.source import SourceText
from ppl.structure.discrete.parameters import discrete_parameters, is_discrete

Values = dict[str, Any]


@dataclass(frozen=True)
class Exact:
    """The log densities and gradients (with the log-Jacobian) of all configurations at one point."""

    configurations: list[Values]
    values: np.ndarray
    gradients: np.ndarray

    @property
    def log_density(self) -> float:
        return float(logsumexp(self.values))

    @property
    def weights(self) -> np.ndarray:
        return np.exp(self.values - self.log_density)

    @property
    def gradient(self) -> np.ndarray:
        possible = self.weights > 0
        return self.weights[possible] @ self.gradients[possible]

    def probabilities(self, name: str, lower: int, count: int) -> np.ndarray:
        """Of each value of each entry, shape (*dims, count)."""
        entries = np.array([c[name] for c in self.configurations])
        each = [np.tensordot(self.weights, entries == lower + k, 1) for k in range(count)]
        return np.stack(each, axis=-1)

    @property
    def most_probable(self) -> Values:
        return self.configurations[int(np.argmax(self.values))]


def sizes(text: str, data: Mapping[str, Any]) -> dict[str, tuple[tuple[int, ...], int, int]]:
    """The shape and bounds of each discrete parameter; sizes are literals or names of data."""

    def number(e: Any) -> int:
        return int(eval(expression(e), {"__builtins__": {}}, dict(data)))

    program = parse(SourceText(text))
    return {
        d.name: (tuple(map(number, d.dims)), number(d.lower), number(d.upper))
        for d in discrete_parameters(program.parameters)
    }


def given(text: str) -> str:
    """The program whose discrete parameters are data, without generated quantities."""
    p = parse(SourceText(text))
    discrete = tuple(d for d in p.parameters if is_discrete(d))
    real = tuple(d for d in p.parameters if not is_discrete(d))
    return print_program(replace(p, data=(*p.data, *discrete), parameters=real, generated_quantities=()))


def exact(text: str, data: Mapping[str, Any], u: np.ndarray) -> Exact:
    """Every configuration of the program at `u`."""
    model = ppl.compile_model(given(text))
    shapes = sizes(text, data)
    counts = {name: int(np.prod(shape, dtype=int)) for name, (shape, _, _) in shapes.items()}
    ranges = [range(low, high + 1) for n, (_, low, high) in shapes.items() for _ in range(counts[n])]
    configurations, values, gradients = [], [], []
    for flat in product(*ranges):
        at, values_of = 0, {}
        for name, (shape, _, _) in shapes.items():
            entries = np.array(flat[at : at + counts[name]], dtype=int).reshape(shape)
            values_of[name] = entries if shape else int(entries)
            at += counts[name]
        posterior = model.condition({**data, **values_of})
        value, gradient = posterior.log_density_gradient(u)
        configurations.append(values_of)
        values.append(value)
        gradients.append(gradient)
    return Exact(configurations, np.array(values), np.array(gradients))
