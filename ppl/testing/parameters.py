"""Parameters that a law tries a distribution at, and how its reports print them."""

from collections.abc import Sequence

from ppl.stdlib.record import Distribution

Parameters = Sequence[float | int]


def values_text(d: Distribution, parameters: Parameters) -> str:
    names = [name for name, _ in d.args[1:]]
    return (
        ", ".join(f"{name} = {x:.6g}" for name, x in zip(names, parameters, strict=True)) or "no parameters"
    )
