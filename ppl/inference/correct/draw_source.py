"""How draws were made, which files say of themselves."""

from enum import StrEnum


class DrawSource(StrEnum):
    """How draws were made from q."""

    OF_Q = "of q"
    RESAMPLED = "resampled"
    OF_MIXTURE = "resampled from a mixture"
    ANNEALED = "annealed"
    NESTED = "nested"
