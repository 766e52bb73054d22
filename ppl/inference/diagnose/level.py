"""How far a fit can be believed, in a word."""

from enum import StrEnum


class Level(StrEnum):
    """How far a fit can be believed."""

    GOOD = "good"
    USABLE = "usable"
    POOR = "poor"
    UNKNOWN = "unknown"


FROM_BEST = (Level.GOOD, Level.USABLE, Level.UNKNOWN, Level.POOR)
