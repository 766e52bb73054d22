"""States of a run as JSON and back, to the last bit: arrays by their bytes, records by the names below.

An array keeps the order in which its axes lie in memory: BLAS and sums go through memory, so that the same
numbers in another order give other last digits.
"""

import math
from base64 import b64decode, b64encode
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.eta_search import EtaSearch
from ppl.kernel.advi.families import KINDS
from ppl.kernel.advi.families.standard import STANDARDS
from ppl.kernel.advi.optimise import Run, TracePoint
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.stopping import STOPPING
from ppl.methods.diagnose.psis import Psis
from ppl.methods.initialise.starting import StartState
from ppl.methods.moves.ending import StageEnd
from ppl.methods.moves.funnels import Funnels
from ppl.methods.moves.jumps import JumpProposals
from ppl.methods.moves.layers import Layers
from ppl.methods.moves.metric import Directions, Metric
from ppl.methods.moves.mixing import MoveStage
from ppl.methods.moves.necks import Necks
from ppl.methods.moves.products import Products
from ppl.methods.moves.sampler import Adapted
from ppl.methods.moves.trajectories import Chains
from ppl.methods.nested.field_coordinates import FieldCoordinates
from ppl.methods.nested.interpolation import Interpolation
from ppl.methods.recipes.optimising import LoopResult
from ppl.methods.refine.fixed_draws import FixedDrawsFit
from ppl.methods.refine.gaussian_at_start import AtStart
from ppl.methods.refine.refinement import Refined
from ppl.run.checksum import require_types

# What rules carry from step to step, and the parts of families: of each kind one.
STATES: tuple[Any, ...] = (
    *(make(1.0).init(np.zeros(1)) for make in STEPS.values()),
    *(make(1, 1, 1.0).init() for make in STOPPING.values()),
    *(make() for make in STANDARDS.values()),
)
RECORDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(StartState, EtaSearch, Run, TracePoint, Outcome, LoopResult, FixedDrawsFit, Refined, *KINDS),
        *(AtStart, Adapted, Chains, Directions, Funnels, JumpProposals, Layers, Metric, MoveStage, Necks),
        *(StageEnd, Products, Psis, FieldCoordinates, Interpolation),
        *(type(state) for state in STATES if is_dataclass(state) or hasattr(state, "_fields")),
    )
}
RECORDS["Kept"] = StartState  # its name in checkpoints of earlier versions


def encode(value: Any) -> Any:
    """What `json.dumps` takes."""
    match value:
        case Ending():
            return {"ending": value.value}
        case None | bool() | int() | str():
            return value
        case np.generic():
            return {"scalar": _bytes(value), "dtype": value.dtype.str}
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case np.ndarray():
            axes = _axes(value)
            within = value.transpose(axes)
            return {"array": _bytes(within), "dtype": value.dtype.str, "shape": within.shape, "axes": axes}
        case dict():
            return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
        case list():
            return [encode(item) for item in value]
        case tuple() if type(value) is tuple:
            return {"tuple": [encode(item) for item in value]}
        case _:
            parts = {name: encode(getattr(value, name)) for name in _parts(type(value))}
            return {"record": type(value).__name__, "parts": parts}


def decode(coded: Any) -> Any:
    """What `encode` was given; KeyError or ValueError for what it cannot have made."""
    match coded:
        case {"ending": word}:
            return Ending(word)
        case {"float": word}:
            return float(word)
        case {"scalar": text, "dtype": dtype}:
            return _numbers(text, dtype)[0]
        case {"array": text, "dtype": dtype, "shape": shape, "axes": axes}:
            return _numbers(text, dtype).reshape(shape).copy().transpose(np.argsort(axes))
        case {"dict": pairs}:
            return {decode(key): decode(item) for key, item in pairs}
        case {"tuple": items}:
            return tuple(decode(item) for item in items)
        case {"record": name, "parts": parts}:
            record = RECORDS[name](**{part: decode(item) for part, item in parts.items()})
            require_types(record)
            return record
        case list():
            return [decode(item) for item in coded]
        case dict():
            raise ValueError(f"an object with {', '.join(coded)}")
        case _:
            return coded


def _axes(array: Floats) -> list[int]:
    """The axes of an array, that with the longest steps in memory first: [1, 0] in Fortran's order."""
    return sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))


def _bytes(numbers: Floats | np.generic) -> str:
    return b64encode(numbers.tobytes()).decode()


def _numbers(text: str, dtype: str) -> Floats:
    if np.dtype(dtype).kind not in "fiub":
        raise ValueError(f"an array of {dtype}")
    return np.frombuffer(b64decode(text), np.dtype(dtype))


def _parts(kind: type) -> tuple[str, ...]:
    """The fields of a NamedTuple or of a dataclass."""
    return getattr(kind, "_fields", None) or tuple(field.name for field in fields(kind))
