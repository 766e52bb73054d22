"""Mutants that no test can notice, each with the reason; they are not counted.

A key is the file, the line of its text on which the change begins, and the change.
"""

ROUNDING = "a bound on rounding errors, whose exact value no result depends on"
EDGE = "both sides give the same value at the edge itself"
CANCELS = "a constant that cancels when the weights are normalised"

_PSIS = "ppl/inference/psis.py"
_PROFILE = "np.log(-theta / shapes) - shapes"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (_PSIS, "CLOSE = 4 * float(np.finfo(float).eps)", "4 -> 5"): ROUNDING,
    (_PSIS, "if cutoff >= -CLOSE:", "cutoff >= -CLOSE -> cutoff > -CLOSE"): EDGE,
    (_PSIS, f"profile = n * ({_PROFILE} - 1)", f"{_PROFILE} - 1 -> {_PROFILE} + 1"): CANCELS,
    (_PSIS, f"profile = n * ({_PROFILE} - 1)", "1 -> 2"): CANCELS,
    (_PSIS, "if abs(shape) < 1e-12:", "abs(shape) < 1e-12 -> abs(shape) <= 1e-12"): EDGE,
    (_PSIS, "if abs(shape) < 1e-12:", "1e-12 -> 2e-12"): ROUNDING,
}
