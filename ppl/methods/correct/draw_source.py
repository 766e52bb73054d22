"""How draws were made, which files say of themselves."""

from enum import StrEnum


class DrawSource(StrEnum):
    """How draws were made from q."""

    OF_Q = "of q"
    RESAMPLED = "resampled"
    MIXTURE = "resampled from a mixture"
    MOVED = "moved"
    NESTED = "nested"
