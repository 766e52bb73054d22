"""Every sentence in which the checker refuses a program, apart from the code that detects it.

Those about calls and distributions are in call_messages.py.  A code is stable: scripts and `ppl explain`
may rely on it.
"""

from collections.abc import Iterable, Mapping, Sequence

from ppl.records import dataclass
from ppl.stdlib.signatures import promotes
from ppl.types import Tuple, Type, is_complex, real_of


@dataclass(frozen=True)
class Message:
    """`replacement` is what the hint proposes as program text; `...` in it stands for what is there now."""

    code: str
    text: str
    hint: str | None = None
    replacement: str | None = None


def did_you_mean(near: str | None) -> str | None:
    return f"Did you mean `{near}`?" if near else None


def elsewhere(names: Mapping[str, str], name: str) -> str | None:
    """Advice for a name known from another language."""
    return f"Write {names[name]}." if name in names else None


def renamed(names: Mapping[str, str], name: str, near: str | None) -> str | None:
    """The name to write instead, where nothing else changes."""
    if name not in names:
        return near
    return names[name].split("`")[1].partition("(")[0] if name in SAME_ARGUMENTS else None


def commas(words: Iterable[object]) -> str:
    return ", ".join(str(w) for w in words)


# --- Names ---------------------------------------------------------------------------------------


def undeclared(name: str, near: str | None, assigned: bool) -> Message:
    hint = elsewhere(VALUES, name) or did_you_mean(near)
    unknown = f"Declare it: in data if it is given, in parameters if not, as `real {name};`."
    declare = f"Declare it with its type: `real {name} = ...;`." if assigned else unknown
    instead = VALUES[name].strip("`") if name in VALUES and VALUES[name] != NO_MISSING else near
    return Message("PPL201", f"`{name}` is not declared.", hint or declare, instead)


def declared_later(name: str, block: str, line: int) -> Message:
    text = f"`{name}` is not visible here: it is declared in {block}, on line {line}."
    return Message("PPL202", text, "A block sees what is declared above it.")


def declared_below(name: str, line: int) -> Message:
    text = f"`{name}` is not visible here: it is declared further down, on line {line}."
    return Message("PPL202", text, "Declare it before it is used.")


def redeclared(name: str, line: int) -> Message:
    text = f"`{name}` is already declared, on line {line}."
    return Message("PPL203", text, "Choose another name for one of the two.")


def unknown_function(name: str, near: str | None) -> Message:
    hint = elsewhere(FUNCTIONS, name) or did_you_mean(near)
    return Message("PPL204", f"There is no function `{name}`.", hint, renamed(FUNCTIONS, name, near))


def removed_density(name: str, now: str) -> Message:
    return Message("PPL208", f"`{name}` was removed from the language.", f"Write `{now}`.", now)


def not_a_function(name: str, t: Type) -> Message:
    text = f"`{name}` is a variable of type {t}, not a function."
    return Message("PPL205", text, f"Write an index in brackets, `{name}[1]`, a product with `*`.")


def function_as_value(name: str) -> Message:
    return Message("PPL206", f"`{name}` is a function; expected a value.", f"Call it: `{name}(...)`.")


def unsupported(what: str) -> Message:
    return Message("PPL207", f"{what} is part of Stan's language, but not supported by ppl yet.")


# --- Assignment ----------------------------------------------------------------------------------


def read_only(name: str, what: str) -> Message:
    return Message("PPL301", f"`{name}` cannot be assigned to here: it is {what}.")


def assigned_type(left: Type, right: Type, op: str = "=") -> Message:
    if op == "=":
        text = f"A variable of type {left} cannot be assigned a value of type {right}."
        return Message("PPL302", text, conversion(left, right), converted(left, right))
    hint = "`.*=` and `./=` work entry by entry." if op in ("*=", "/=") else None
    return Message("PPL302", f"`{op}` does not fit: the left side is {left}, the right {right}.", hint)


def assigned_twice(name: str) -> Message:
    return Message("PPL303", f"`{name}` is assigned twice in one assignment.")


def read_while_assigned(name: str) -> Message:
    text = f"An index on the left side reads `{name}`, which this statement assigns."
    return Message("PPL304", text, "Compute the index before, in another variable.")


def entry_of_several() -> Message:
    text = "An entry of several entries cannot be assigned to."
    return Message("PPL305", text, "Write all indices in one pair of brackets: `x[1:2, 3]`, not `x[1:2][3]`.")


def conversion(expected: Type, actual: Type) -> str | None:
    """Advice if a value of another type is expected."""
    if (str(expected), str(actual)) == ("int", "real"):
        return "An int variable holds integers only: declare it `real`, or use an integer value."
    if is_complex(actual) and real_of(actual) == expected:
        return "`get_real(...)` is the real part of a complex value, `get_imag(...)` the imaginary part."
    if is_only_item(expected, actual):
        return ONE_ITEM
    text = converted(expected, actual)
    return f"`{text}` converts it." if text else None


ONE_ITEM = "A tuple of one item ends with a comma: `(x, )`."


def is_only_item(expected: Type | str, actual: Type) -> bool:
    """Whether a value stands where a tuple that holds it and no other is wanted."""
    return (
        isinstance(expected, Tuple)
        and len(expected.items) == 1
        and promotes(actual, *expected.items) is not None
    )


def converted(expected: Type, actual: Type) -> str | None:
    """The text that turns a value of one type, `...`, into one of another, where there is one."""
    if is_only_item(expected, actual):
        return "(..., )"
    by_name = {
        "vector": "to_vector",
        "row_vector": "to_row_vector",
        "array[] real": "to_array_1d",
        "matrix": "to_matrix",
    }
    convertible = {"vector", "row_vector", "array[] real", "array[] int", "matrix"}
    by = by_name.get(str(expected)) if str(actual) in convertible else None
    return f"{by}(...)" if by else None


# --- Types ---------------------------------------------------------------------------------------


def operands(op: str, types: Sequence[Type], hint: str | None) -> Message:
    if len(types) == 1:
        return Message("PPL401", f"`{op}` cannot be applied to a value of type {types[0]}.", hint)
    return Message("PPL401", f"`{op}` cannot be applied to {types[0]} and {types[1]}.", hint)


REAL_PART = "A log density is real: `get_real(z)` is the real part of z."
COMPARE = "A real is compared: `x != 0`."


def condition(where: str, t: Type) -> Message:
    hint = COMPARE if str(t) == "real" else None
    return Message("PPL402", f"The condition of {where} must be an int, not {t}.", hint)


def ternary_branches(then: Type, otherwise: Type) -> Message:
    return Message("PPL403", f"The two sides of `? :` must have one type; they are {then} and {otherwise}.")


def loop_bound(side: str, t: Type) -> Message:
    return Message("PPL404", f"The {side} bound of a for loop must be an int, not {t}.")


def not_iterable(t: Type) -> Message:
    text = f"A for-each loop runs over an array, a vector, a row_vector or a matrix, not over {t}."
    return Message("PPL405", text)


def index_type(t: Type) -> Message:
    return Message("PPL406", f"An index must be an int or an array of ints, not {t}.")


def too_many_indices(what: str, t: Type, allowed: int, actual: int) -> Message:
    if allowed == 0:
        return Message("PPL407", f"{what} is a scalar of type {t} and cannot be indexed.")
    plural = "index" if allowed == 1 else "indices"
    return Message("PPL407", f"{what} of type {t} takes at most {allowed} {plural}, but {actual} are given.")


def array_items(first: Type, other: Type) -> Message:
    return Message("PPL408", f"The items of an array must have one type; here are {first} and {other}.")


def row_vector_items(t: Type) -> Message:
    text = f"`[...]` builds a row_vector from scalars, or a matrix from row_vectors, not from {t}."
    return Message("PPL409", text, "Transpose a vector with `'`, or build an array with `{...}`.")


def not_a_tuple(t: Type) -> Message:
    return Message("PPL410", f"`.1` picks an item of a tuple, but this is of type {t}.")


def tuple_item(item: int, t: Type, count: int) -> Message:
    return Message("PPL411", f"Item {item} does not exist: the tuple {t} has items 1 to {count}.")


def size_type(t: Type) -> Message:
    return Message("PPL414", f"A size must be an int, not {t}.")


def size_not_data() -> Message:
    text = "A size depends on parameters, but sizes must be computable from the data (non-data size)."
    hint = "Write the size itself: `N` where `theta` is declared `vector[N] theta`, not `size(theta)`."
    return Message("PPL415", text, hint)


def size_at_random() -> Message:
    hint = "Declare the variable inside braces, as a local one, or give the size as data."
    return Message("PPL416", "The size of a block's own variable cannot be drawn at random (rng).", hint)


# --- Declarations --------------------------------------------------------------------------------


BOTH_BOUNDS = (
    "Declare both bounds, as in `int<lower=1, upper=K>`: it is then marginalised. For an unbounded count, "
    "use an upper bound beyond which the probability is negligible."
)


def int_parameter(name: str, block: str, rewrite: str) -> Message:
    what = "needs a lower and an upper bound" if rewrite == BOTH_BOUNDS else "must be continuous (real)"
    return Message("PPL701", f"`{name}` is an int: among the {block} it {what}.", rewrite)


def complex_bounds(keyword: str) -> Message:
    text = f"A {keyword} has no constraints: it takes no bounds, offset or multiplier."
    hint = "Declare its real and imaginary parts with them, and join these with `to_complex(x, y)`."
    return Message("PPL709", text, hint)


def bound_type(which: str, expected: str, actual: Type) -> Message:
    return Message("PPL702", f"The {which} here must be {expected}, not {actual}.")


# --- Functions -----------------------------------------------------------------------------------


def duplicate_argument(name: str) -> Message:
    return Message("PPL801", f"Argument names must be distinct; `{name}` is used twice.")


def duplicate_function(name: str, signature: str, where: str, done: str = "defined") -> Message:
    return Message("PPL802", f"`{name}{signature}` is already {done} {where}.")


def declared_otherwise(name: str, line: int, data: bool) -> Message:
    """A function that was announced with other return type, or other arguments marked as data."""
    what = "with `data` before other arguments" if data else "with another return type"
    text = f"`{name}` with these arguments is declared on line {line} {what}."
    return Message("PPL802", text, "Write the same signature in both places, or choose another name.")


def not_overloadable(name: str) -> Message:
    text = f"`{name}` is a library function that cannot be overloaded."
    return Message("PPL802", text, "Choose another name.")


def never_defined(name: str) -> Message:
    return Message("PPL803", f"`{name}` is declared but never defined: its body is missing.")


def missing_return(name: str, t: Type) -> Message:
    return Message("PPL804", f"`{name}` must return {t} on every path, but can end without a return.")


def return_type(expected: Type, actual: Type) -> Message:
    return Message("PPL805", f"The function returns {expected}, but this return gives {actual}.")


def return_in_void() -> Message:
    text = "A void function cannot return a value."
    return Message("PPL806", text, "Write the type of the value in place of `void`, or `return;` alone.")


def return_outside() -> Message:
    return Message("PPL807", "`return` is allowed only in a function.")


def bare_return(t: Type) -> Message:
    return Message("PPL808", f"`return` without a value, but the function returns {t}.")


def density_returns(name: str, actual: Type) -> Message:
    text = f"`{name}` ends as a density (_lpdf, _lpmf, _cdf, ...), so it must return real, not {actual}."
    return Message("PPL809", text)


def density_variate(name: str, expected: str, actual: Type) -> Message:
    return Message("PPL810", f"The first argument of `{name}` must be of {expected} type, not {actual}.")


def density_without_variate(name: str) -> Message:
    return Message("PPL811", f"`{name}` is a density and needs at least one argument, the variate.")


def unnormalised_definition(name: str) -> Message:
    base = name.replace("_lup", "_lp")
    return Message("PPL813", f"`{name}` cannot be defined: it comes with `{base}`.", f"Define `{base}`.")


def unnormalised_variable(name: str) -> Message:
    text = f"A variable cannot be called `{name}`: this ending is that of densities without constants."
    return Message("PPL813", text, "Choose another name.")


def outside_loop(word: str) -> Message:
    return Message("PPL812", f"`{word}` is allowed only in a loop.")


# --- Names of other languages --------------------------------------------------------------------


NO_MISSING = (
    "no condition on missing values: `ppl docs missing-data` makes them parameters or drops their rows"
)
VALUES: Mapping[str, str] = {
    "Inf": "`positive_infinity()`",
    "inf": "`positive_infinity()`",
    "Infinity": "`positive_infinity()`",
    "NaN": "`not_a_number()`",
    "nan": "`not_a_number()`",
    "pi": "`pi()`",
    "TRUE": "`1`",
    "FALSE": "`0`",
    "True": "`1`",
    "False": "`0`",
    **dict.fromkeys(("NA", "NULL", "None"), NO_MISSING),
}

FUNCTIONS: Mapping[str, str] = {
    "multiply_log": "`lmultiply(x, y)`",
    "binomial_coefficient_log": "`lchoose(n, k)`",
    "if_else": "`condition ? a : b`",
    "ifelse": "`condition ? a : b`",
    "sigmoid": "`inv_logit(x)`",
    "expit": "`inv_logit(x)`",
    "ln": "`log(x)`",
    "log1plus": "`log1p(x)`",
    "power": "`x ^ y`",
    "gammaln": "`lgamma(x)`",
    "nrow": "`rows(x)`",
    "ncol": "`cols(x)`",
    "length": "`size(x)`, or `num_elements(x)`",
    "len": "`size(x)`, or `num_elements(x)`",
    "transpose": "`x'`",
    "det": "`determinant(x)`, or `log_determinant(x)`",
    "solve": "`A \\ b`",
    "zeros": "`rep_vector(0, n)`",
    "ones": "`rep_vector(1, n)`",
    "range": "`1:N`, a loop over it as `for (i in 1:N)`",
    "seq": "`1:N`, a loop over it as `for (i in 1:N)`",
    "seq_len": "`1:N`, a loop over it as `for (i in 1:N)`",
    "seq_along": "`1:size(x)`, a loop over it as `for (i in 1:size(x))`",
    "is_na": "`is_nan(x)`",
    "rep": "`rep_vector(x, n)`, or `rep_array(x, n)`",
    "cbind": "`append_col(x, y)`",
    "rbind": "`append_row(x, y)`",
    "array": "`to_vector({1, 2})`, or `{1, 2}` for an array",
    "rexp": "`exponential_rng(beta)`",
    "rbinom": "`binomial_rng(n, theta)`",
    "rpois": "`poisson_rng(lambda)`",
    "c": "`[0, 1]'` for a vector, `{0, 1}` for an array",
    "dot": "`X * b` for a matrix product, `dot_product(x, y)` for the sum of x times y",
    "matmul": "`X * b`",
    "concat": "`append_row`, `append_col` or `append_array`",
    "max_array": "`max(x)`",
    "fabs": "`abs(x)`",
    "logsumexp": "`log_sum_exp(x)`",
    "rnorm": "`normal_rng(mu, sigma)`",
    "runif": "`uniform_rng(a, b)`",
    "dnorm": "`normal_lpdf(y | mu, sigma)`",
    "pnorm": "`normal_cdf(y | mu, sigma)`",
}

DISTRIBUTIONS: Mapping[str, str] = {
    "n": "`normal(mu, sigma)`, with the standard deviation, not the variance",
    "gaussian": "`normal(mu, sigma)`, with the standard deviation",
    "norm": "`normal(mu, sigma)`, with the standard deviation",
    "dnorm": "`normal(mu, sigma)`, with the standard deviation, not the precision",
    "halfnormal": "`normal(0, sigma)` for a variable declared with `<lower=0>`",
    "halfcauchy": "`cauchy(0, sigma)` for a variable declared with `<lower=0>`",
    "halft": "`student_t(nu, 0, sigma)` for a variable declared with `<lower=0>`",
    "halfstudentt": "`student_t(nu, 0, sigma)` for a variable declared with `<lower=0>`",
    "truncatednormal": "`normal(mu, sigma) T[lower, upper]`",
    "multivariatenormal": "`multi_normal(mu, Sigma)`",
    "mvnormal": "`multi_normal(mu, Sigma)`",
    "inversegamma": "`inv_gamma(alpha, beta)`",
    "negativebinomial": "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`",
    "negbin": "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`",
    "nbinom": "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`",
    "laplace": "`double_exponential(mu, sigma)`",
    "t": "`student_t(nu, mu, sigma)`",
    "student": "`student_t(nu, mu, sigma)`",
    "unif": "`uniform(alpha, beta)`",
    "lognormal": "`lognormal(mu, sigma)`",
    "lkj": "`lkj_corr(eta)`, or `lkj_corr_cholesky(eta)`",
    "dexp": "`exponential(beta)`, with the rate",
    "dgamma": "`gamma(alpha, beta)`, with shape and rate",
    "dinvgamma": "`inv_gamma(alpha, beta)`",
    "dbeta": "`beta(alpha, beta)`",
    "dunif": "`uniform(alpha, beta)`",
    "dt": "`student_t(nu, mu, sigma)`, with the scale, not the precision, last",
    "dlnorm": "`lognormal(mu, sigma)`, with the standard deviation, not the precision",
    "dcauchy": "`cauchy(mu, sigma)`",
    "dlogis": "`logistic(mu, sigma)`, with the scale",
    "ddexp": "`double_exponential(mu, sigma)`, with the scale",
    "dweib": "`weibull(alpha, sigma)`, with the scale last",
    "dpois": "`poisson(lambda)`",
    "dbern": "`bernoulli(theta)`",
    **dict.fromkeys(("dbin", "dbinom"), "`binomial(n, theta)`, with the number of trials first"),
    **dict.fromkeys(("dnbinom", "dnegbin"), "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`"),
    "dcat": "`categorical(theta)`",
    "dmulti": "`multinomial(theta)`",
    **dict.fromkeys(("ddirch", "ddirich"), "`dirichlet(alpha)`"),
    **dict.fromkeys(
        ("dmnorm", "dmvnorm"), "`multi_normal(mu, Sigma)`, with the covariance, not the precision"
    ),
    "dwish": "`wishart(nu, S)`",
    "lkjcholeskycov": "`lkj_corr_cholesky(eta)` of a `cholesky_factor_corr`, with a scale for each row",
    "flat": "no statement at all: a parameter without a prior is flat",
}

SAME_ARGUMENTS = frozenset(
    """
    multiply_log binomial_coefficient_log sigmoid expit ln log1plus gammaln nrow ncol max_array fabs logsumexp
    gaussian norm multivariatenormal mvnormal inversegamma laplace t student unif lognormal is_na cbind rbind
    dbeta dunif dpois dbern
    """.split()
)
"""Of these the ones that are called as what is written here: only the name changes."""
