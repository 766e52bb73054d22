"""`--format` of reports, and `--require`: the verdict as an exit status."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ppl.cli.options import one_of
from ppl.cli.settings import choice
from ppl.cli.signatures import Option
from ppl.methods.diagnose.level import FROM_BEST, Level

Format = choice("Format", "text", "json")
"""How a report is printed."""

Least = choice("Least", "good", "usable")
"""The least verdict that ends a command with status 0."""

STATUS: Mapping[Level, int] = MappingProxyType(
    {Level.GOOD: 0, Level.USABLE: 4, Level.POOR: 5, Level.UNKNOWN: 6}
)
"""The exit status of a verdict that is below the one required."""

ReportFormat = Annotated[Format, Option("--format", help="text, or json: one object.")]

Require = Annotated[
    Least | None, one_of("good, usable: else exit with 4 (usable), 5 (poor), 6 (unknown).", "--require")
]


def status_of(level: Level, least: Least | None) -> int:
    """The exit status of a verdict, 0 if none is required or it is at least that."""
    if least is None or FROM_BEST.index(level) <= FROM_BEST.index(Level(least.value)):
        return 0
    return STATUS[level]
