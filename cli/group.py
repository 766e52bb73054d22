"""The group of all commands: what is said of a value that is none, whichever library looked at it."""

from typing import Any

import typer
from typer.core import TyperGroup

KINDS = {"int_parsing": "an integer", "int_from_float": "an integer", "float_parsing": "a number"}
"""What an option expects, by Pydantic's name of the mistake; newer versions of Typer leave values to it."""


class Commands(TyperGroup):
    """The commands; Pydantic's words for a mistake, which newer versions of Typer show, become plain ones."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = in_plain_words(error)
            raise


def in_plain_words(error: typer.BadParameter) -> str:
    """The message, without a trace of what found the mistake."""
    told: list[Any] = getattr(error.__cause__, "errors", list)()
    if told and told[0]["type"] in KINDS:
        return f"{told[0]['input']!r} is not {KINDS[told[0]['type']]}."
    return error.message.removeprefix("Value error, ")
