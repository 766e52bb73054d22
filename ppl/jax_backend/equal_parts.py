"""Equal parts of a batch."""


def largest_part(size: int, most: int) -> int:
    """How many of `size` the largest equal part has, at most so many.

    Example:
        >>> largest_part(100, most=6)
        5
    """
    return next(k for k in range(min(size, most), 0, -1) if size % k == 0)
