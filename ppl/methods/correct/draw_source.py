"""How draws were made, which files say of themselves."""

from enum import StrEnum


class DrawSource(StrEnum):
    """How draws were made from q."""

    OF_Q = "of q"
    RESAMPLED = "resampled"
    MOVED = "moved"
    NESTED = "nested"
