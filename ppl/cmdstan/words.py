"""The words of Stan's errors that clients look for, put before ours."""

import re

from ppl.errors import DataError, PPLError

MISSING, OUTSIDE_IN_DATA = "PPL901", "PPL904"
OUT_OF_BOUNDS = re.compile(r"`?(?P<name>[\w.]+)`?(\[[\d,]+\])? is (?P<value>[^\s,]+), but must be")


def in_stans_words(error: PPLError) -> str:
    """The error after what Stan says of a variable that is missing, or of a start outside its bounds."""
    return f"{_stans(error)}{error}"


def _stans(error: PPLError) -> str:
    """A line of Stan's, "" for any other error."""
    if not isinstance(error, DataError) or error.code == OUTSIDE_IN_DATA:
        return ""
    if error.code == MISSING:
        return f"variable does not exist; variable name={error.variable}\n"
    if broken := OUT_OF_BOUNDS.search(error.message):
        return f"Error transforming variable {broken['name']}: Bounded variable is {broken['value']}\n"
    return ""
