"""What cannot be simulated: the sentence, with the place and the way out."""

from ppl.errors import ModelError
from ppl.source import Span

WAY = (
    "Write a program that draws the parameters and the data in generated quantities, given the other data, "
    "and pass it: --simulator sim.stan, or simulator= in Python."
)


def refused(why: str, span: Span) -> ModelError:
    """The error for a place of the program."""
    return ModelError(f"The program cannot be simulated: {why}.", span, WAY, "PPL979")
