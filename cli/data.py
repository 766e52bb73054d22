"""What is said of the data that a command is given."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppl.data import Inputs


def misspelt(inputs: "Inputs", declared: Collection[str]) -> Iterator[str]:
    """A sentence for each name in the data that goes unused and is nearly one that the program declares."""
    from ppl.data import misspelt as alike

    for name, near in alike(inputs, declared).items():
        where = inputs.label_of(name)
        yield f"{where}: `{name}` is not used; the program declares `{near}`: did you mean that?"


def spare(inputs: "Inputs", declared: Collection[str]) -> Iterator[str]:
    """A sentence for what the data hold and the program does not declare."""
    from ppl.data import unknown_names

    if names := ", ".join(f"`{name}`" for name in unknown_names(inputs, declared)):
        yield f"{inputs.label}: the program declares no {names}, and goes without."
