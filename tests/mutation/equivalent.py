"""Mutants that no test can notice, each with the reason; they are not counted.

A key is the file, the line of its text on which the change begins, and the change.
"""

ROUNDING = "a bound on rounding errors, whose exact value no result depends on"
EDGE = "both sides give the same value at the edge itself"
WORK = "how much work is done; with either value the answer is the same or as good"
LATER = "what it is at first is not looked at before it is set"
SAME = "the same number for every input"
MASKED = "a stand-in for a value that is not used"
CANCELS = "a constant that cancels when the weights are normalised"
NAMES = "a number in a fresh name, which tells it apart with either value"
ONE_OTHER = "a density in two parts has at most one argument beside y in the second: any of one is all of it"

OUTERMOST = "those that leave it out have no loop around theirs, where it makes no difference"

_PSIS = "ppl/inference/diagnose/psis.py"
_PROFILE = "np.log(-theta / shapes) - shapes"
_ORDERED = "ppl/stdlib/constraints/ordered.py"
_SLOPE = "xp.np.where(_is_step(u), xp.np.exp(xp.np.where(_is_step(u), u, 0.0)), 1.0)"
_NORMAL = "ppl/stdlib/distributions/multi_normal.py"
_DIAGONAL = "lower * eye + (1.0 - eye)"
_NEGATIVE = f"{_DIAGONAL} -> lower * eye - (1.0 - eye)"
_LAPLACE = "ppl/stdlib/distributions/double_exponential.py"
_MILLS = "ppl/stdlib/special/mills.py"
_POWERS = "ppl/stdlib/functions/powers.py"
_BY_BASE = "xp.np.where(flat, 0.0, y * power(xp, xp.np.where(flat, 1.0, x), y - 1))"
_SCORE = "ppl/inference/estimators/score_function.py"
_CENTRED = "centred = (terms - terms.mean(axis=1, keepdims=True)).reshape(len(terms), -1)"
_SEARCH = "ppl/inference/estimators/stochastic_search.py"
_ANNEALING = "ppl/inference/correct/annealing.py"
_STAGES = "stages: tuple[int, ...] = (1, 1, 2, 4, 8, 16, 32)"
_RATIOS = "ratios = np.where(particles.log_p > -np.inf, particles.log_p - particles.log_q, -np.inf)"
_FORGOTTEN = "autocorrelation < max(ANNEALING.stationary_autocorrelation, noise)"
_SETTLED = "drift < ANNEALING.stationary_drift"
_REFINING = "ppl/inference/correct/correction.py"
_MOST_WORK = "CORRECTION.most_work"
_ALL = "work * CORRECTION.fewest_points"
_NEST = "def nest(c: Lifting, b: Batch, s: ir.For, flat: bool = False) -> Batch:"
_NORMALISERS = "ppl/ir/passes/split_normalisers.py"
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
    (_ANNEALING, "moves_at_each: int = 3", "3 -> 4"): WORK,
    (_ANNEALING, "moves_a_round: int = 6", "6 -> 7"): WORK,
    **{(_ANNEALING, _STAGES, f"{k} -> {k + 1}"): WORK for k in (1, 2, 4, 8, 16, 32)},
    (_ANNEALING, "fewest_rounds: int = 4", "4 -> 5"): WORK,
    (_ANNEALING, "stationary_rounds: int = 8", "8 -> 9"): WORK,
    (_ANNEALING, "stationary_autocorrelation: float = 0.2", "0.2 -> 0.4"): WORK,
    (_ANNEALING, "stationary_drift: float = 0.005", "0.005 -> 0.01"): WORK,
    (_ANNEALING, "most_temperatures: int = 50", "50 -> 51"): WORK,
    (_ANNEALING, _RATIOS, "particles.log_p > -np.inf -> particles.log_p >= -np.inf"): EDGE,
    (_ANNEALING, "rounds, before = 0, np.zeros(0)", "0 -> 1"): LATER,
    (_ANNEALING, f"forgotten = {_FORGOTTEN}", f"{_FORGOTTEN} -> {_FORGOTTEN.replace('<', '<=')}"): EDGE,
    (
        _ANNEALING,
        f"equilibrated = long_enough and forgotten and {_SETTLED}",
        f"{_SETTLED} -> {_SETTLED.replace('<', '<=')}",
    ): EDGE,
    (_REFINING, "proposals: int = 8192", "8192 -> 8193"): WORK,
    (_REFINING, "enough_ess: int = 2000", "2000 -> 2001"): WORK,
    (_REFINING, "evaluations_a_point: int = 600", "600 -> 601"): WORK,
    (_REFINING, "fewest_points: int = 256", "256 -> 257"): WORK,
    (_REFINING, "return points_for(width_of(target)) > 0", "0 -> 1"): EDGE,
    (_REFINING, f"if {_ALL} > {_MOST_WORK}:", f"{_ALL} > {_MOST_WORK} -> {_ALL} >= {_MOST_WORK}"): EDGE,
    ("ppl/backend/emit.py", "emit_parameters(w, p, jacobian=False, draws=draws)", "False -> True"): WORK,
    ("ppl/backend/memory.py", "largest_learnt: int = 32 << 20", "32 -> 33"): WORK,
    ("ppl/backend/memory.py", "largest_learnt: int = 32 << 20", "20 -> 21"): WORK,
    ("ppl/backend/memory.py", "head: int = 1 << 16", "1 -> 2"): WORK,
    ("ppl/backend/memory.py", "head: int = 1 << 16", "16 -> 17"): WORK,
    ("ppl/backend/text.py", "taken, k = base, 1", "1 -> 2"): NAMES,
    ("ppl/ir/passes/iterations.py", _NEST, "False -> True"): OUTERMOST,
    ("ppl/backend/threads.py", _LARGEST, "0 -> 1"): EDGE,  # one number and none are both below the bound
    (
        "ppl/ir/passes/split_normalisers.py",
        f"if any({_SHARED}):",
        f"any(({_SHARED})) -> all(({_SHARED}))",
    ): ONE_OTHER,
}
