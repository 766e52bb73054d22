"""What declarations ask of data and of parameter values: the callbacks of emitted code."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ppl.data import ExpectedData, Inputs, check_value, read_value
from ppl.kernel.density import reading
from ppl.kernel.density.reading import leaves
from ppl.kernel.emit.runtime import ParameterPlace
from ppl.kernel.ir import nodes as ir
from ppl.stdlib.constraints.record import Constraint


def reader_of(declared: Sequence[ir.Declared], inputs: Inputs) -> Callable[..., Any]:
    """What reads each variable of the data block, in order, as emitted code declares it."""
    known = [d.name for d in leaves(declared)]

    def value(expected: ExpectedData, constraint: Constraint, args: Sequence[Any]) -> Any:
        read = read_value(inputs, expected, known)
        check_value(read, expected, constraint, args, inputs)
        return read

    return reading.reader_of(declared, value)


def leaf_values(
    parameters: Sequence[ir.Declared], places: Mapping[str, ParameterPlace], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Given values of parameters, checked against their shapes."""
    inputs = Inputs(values, "the given values")
    own = ((d, places[d.name]) for d in leaves(parameters))
    expected = (ExpectedData(d.name, d.type, place.dims, place.core, d.span) for d, place in own)
    return {each.name: read_value(inputs, each) for each in expected}
