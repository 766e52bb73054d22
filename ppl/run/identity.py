"""What a run belongs to: the program, the data, the map of its parameters to R^dim."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ppl.arrays import as_pairs
from ppl.data.blocks import blocks
from ppl.data.shares import Share
from ppl.density.compiled_program import CompiledProgram
from ppl.density.log_density import LogDensity
from ppl.errors import DataError


def positive_transform(model: CompiledProgram) -> str:
    """The map to the positive reals that the model was compiled with, by the name of its option."""
    return "softplus" if model.compilation.softplus else "log"


def program_hash(text: str) -> str:
    """SHA-256 of the program text."""
    return hashlib.sha256(text.encode()).hexdigest()


PROGRAM, PROGRAM_SHA256 = "fit_program", "fit_program_sha256"
"""Names under which a file of draws has the path of its program, and the hash of its text."""


def entries_of(posterior: LogDensity) -> dict[str, str]:
    """What files of draws say of their posterior: the program, if it is a file, and the labels."""
    source = posterior.model.source
    named = {} if source.name.startswith("<") else {PROGRAM: source.name}
    return {**named, PROGRAM_SHA256: program_hash(source.text), **posterior.labels.entries()}


def data_hash(data: Mapping[str, Any]) -> str:
    """SHA-256 of names and values; their order, and whether 1 is written 1.0, does not matter."""
    digest = hashlib.sha256()
    for name in sorted(data):
        digest.update(name.encode())
        for piece in _pieces(_with_tuples(data[name])):
            digest.update(piece)
    return digest.hexdigest()


def _with_tuples(value: Any) -> Any:
    """The value with tuples in place of {"1": ..., "2": ...}, as JSON has them."""
    match value:
        case Mapping():
            return tuple(_with_tuples(value[str(k)]) for k in range(1, len(value) + 1))
        case list() if any(isinstance(item, Mapping) for item in value):
            return [_with_tuples(item) for item in value]
    return value


def _pieces(value: Any) -> Iterator[bytes | memoryview]:
    """Shapes and numbers as bytes; long arrays a block at a time, for they may lie on disk."""
    if isinstance(value, Share):
        yield value.identity.encode()
        return
    if isinstance(value, complex):
        value = np.asarray(value)
    try:  # "NaN" and "Inf" are numbers too, as in CmdStan's data
        array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=float)
    except (ValueError, TypeError):  # an array of tuples
        for item in value:
            yield from _pieces(item)
        return
    array = as_pairs(array) if np.iscomplexobj(array) else array
    yield repr(array.shape).encode()
    for block in blocks(array):
        yield np.ascontiguousarray(block, dtype="<f8").data


def identity(posterior: LogDensity) -> dict[str, Any]:
    """What a saved fit belongs to: program, data, parametrisation."""
    model = posterior.model
    return {
        "program_sha256": program_hash(model.source.text),
        "data_sha256": data_hash({name: posterior.data[name] for name in model.data_schema}),
        "positive_transform": positive_transform(model),
        "unconstrained": list(posterior.param_unc_names()),
    }


DIFFERS = {
    "program_sha256": "another program",
    "data_sha256": "other data",
    "positive_transform": "another positive transform",
    "unconstrained": "other parameters",
}


def refuse_mismatch(path: str | Path, record: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Raises DataError where a record is of another program, data or parametrisation than one's `own`."""
    for key, what in DIFFERS.items():
        if record[key] != own[key]:
            raise DataError(
                f"{path} was fitted with {what} ({record['program']}): {key} is {_brief(record[key])} there "
                f"and {_brief(own[key])} here. Load it with the same program, data and parametrisation."
            )


def _brief(value: str | list[str]) -> str:
    return value[:12] if isinstance(value, str) else f"{len(value)} names"
