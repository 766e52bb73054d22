"""Mutants that no test can notice, each with the reason; they are not counted.

A key is the file, the line of its text on which the change begins, and the change.
"""

ROUNDING = "a bound on rounding errors, whose exact value no result depends on"
EDGE = "both sides give the same value at the edge itself"
WORK = "how much work is done; with either value the answer is the same or as good"
SAME = "the same number for every input"
MASKED = "a stand-in for a value that is not used"
CANCELS = "a constant that cancels when the weights are normalised"
NAMES = "a number in a fresh name, which tells it apart with either value"
ONE_OTHER = "a density in two parts has at most one argument beside y in the second: any of one is all of it"

OUTERMOST = "those that leave it out have no loop around theirs, where it makes no difference"

_PSIS = "ppl/methods/diagnose/psis.py"
_PROFILE = "np.log(-theta / shapes) - shapes"
_ORDERED = "ppl/stdlib/constraints/ordered.py"
_SLOPE = "xp.np.where(_is_step(u), xp.np.exp(xp.np.where(_is_step(u), u, 0.0)), 1.0)"
_NORMAL = "ppl/stdlib/distributions/multi_normal.py"
_DIAGONAL = "lower * eye + (1.0 - eye)"
_NEGATIVE = f"{_DIAGONAL} -> lower * eye - (1.0 - eye)"
_LAPLACE = "ppl/stdlib/distributions/double_exponential.py"
_MILLS = "ppl/stdlib/special/mills.py"
_POWERS = "ppl/stdlib/functions/elementary.py"
_BY_BASE = "xp.np.where(flat, 0.0, y * power(xp, xp.np.where(flat, 1.0, x), y - 1))"
_SCORE = "ppl/kernel/advi/estimators/stochastic_search.py"
_CENTRED = "centred = (terms - terms.mean(axis=1, keepdims=True)).reshape(len(terms), -1)"
_SEARCH = "ppl/kernel/advi/estimators/stochastic_search.py"
_REFINING = "ppl/methods/correct/correction.py"
_NEST = "def nest(c: Lifting, b: Batch, s: ir.For, flat: bool = False) -> Batch:"
_NORMALISERS = "ppl/optimise/passes/split_normalisers.py"
_SHARED = "rank(entry(a.type)) or ir.loops_of(a.type) for a in shared"
_LARGEST = "largest = max((v.size for v in data.values() if isinstance(v, np.ndarray)), default=0)"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (_PSIS, "flat_tail: float = 4 * float(np.finfo(float).eps)", "4 -> 5"): ROUNDING,
    (_PSIS, "if cutoff >= -PSIS.flat_tail:", "cutoff >= -PSIS.flat_tail -> cutoff > -PSIS.flat_tail"): EDGE,
    (_PSIS, f"profile = n * ({_PROFILE} - 1)", f"{_PROFILE} - 1 -> {_PROFILE} + 1"): CANCELS,
    (_PSIS, f"profile = n * ({_PROFILE} - 1)", "1 -> 2"): CANCELS,
    (_PSIS, "if abs(shape) < 1e-12:", "abs(shape) < 1e-12 -> abs(shape) <= 1e-12"): EDGE,
    (_PSIS, "if abs(shape) < 1e-12:", "1e-12 -> 2e-12"): ROUNDING,
    (_ORDERED, f"return later * {_SLOPE}", "0.0 -> 1.0"): MASKED,
    (_NORMAL, "eye = np.eye(lower.shape[-1])", "-1 -> 1"): SAME,
    (_NORMAL, f"return xp.np.tril(pull) - weighted(xp, g, eye / ({_DIAGONAL}))", _NEGATIVE): SAME,
    (_LAPLACE, "left = (z < 0) * 1.0", "(z < 0) * 1.0 -> (z < 0) / 1.0"): SAME,
    (_MILLS, "t < 0.0,", "t < 0.0 -> t <= 0.0"): EDGE,
    (_POWERS, f"return {_BY_BASE}", "1.0 -> 2.0"): MASKED,
    (_SCORE, "PILOT_DRAWS = 20", "20 -> 21"): WORK,
    (_SEARCH, _CENTRED, "1 -> 2"): SAME,  # any negative size is the one that is left
    (_SEARCH, "MOST_DRAWS_A_GRADIENT = 10_000", "10000 -> 10001"): WORK,
    (_REFINING, "proposals: int = 8192", "8192 -> 8193"): WORK,
    (_REFINING, "enough_ess: int = 2000", "2000 -> 2001"): WORK,
    ("ppl/kernel/emit/emit.py", "emit_parameters(w, p, jacobian=False, draws=draws)", "False -> True"): WORK,
    ("ppl/system/freed_memory.py", "largest_learnt: int = 32 << 20", "32 -> 33"): WORK,
    ("ppl/system/freed_memory.py", "largest_learnt: int = 32 << 20", "20 -> 21"): WORK,
    ("ppl/system/freed_memory.py", "head: int = 1 << 16", "1 -> 2"): WORK,
    ("ppl/system/freed_memory.py", "head: int = 1 << 16", "16 -> 17"): WORK,
    ("ppl/kernel/emit/text.py", "taken, k = base, 1", "1 -> 2"): NAMES,
    ("ppl/optimise/passes/iterations.py", _NEST, "False -> True"): OUTERMOST,
    ("ppl/system/threads.py", _LARGEST, "0 -> 1"): EDGE,  # one number and none are both below the bound
    (
        "ppl/optimise/passes/split_normalisers.py",
        f"if any({_SHARED}):",
        f"any(({_SHARED})) -> all(({_SHARED}))",
    ): ONE_OTHER,
}
