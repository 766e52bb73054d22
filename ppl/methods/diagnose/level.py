"""How far a fit can be believed, in a word."""

from enum import StrEnum


class Level(StrEnum):
    """How far a fit can be believed."""

    GOOD = "good"
    USABLE = "usable"
    POOR = "poor"
    UNKNOWN = "unknown"

    @property
    def of_poor(self) -> str:
        """The addition to a short description of a result if its draws are poor, else ""."""
        return " of a poor fit" if self is Level.POOR else ""

    @property
    def caution(self) -> tuple[str, ...]:
        """The sentence that stands with figures of poor draws; empty for others."""
        return ("The fit is poor: do not use these figures.",) if self is Level.POOR else ()


FROM_BEST = (Level.GOOD, Level.USABLE, Level.UNKNOWN, Level.POOR)
