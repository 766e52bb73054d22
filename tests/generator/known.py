"""Why Stan and ppl differ, where it is known that they do: Stan 2.35, and an interpreter of Stan 2.40."""

import re
from typing import NamedTuple


class Known(NamedTuple):
    """A reason, and patterns of Stan's words, of the program after its name, the quantity and ppl's words."""

    reason: str
    stan: str = ""
    program: str = ""
    quantity: str = ""
    ppl: str = ""


NEWER = (
    Known(
        "newer than Stan 2.35: the transforms as functions",
        stan=r"undeclared identifier|A returning function was expected",
        program=r"_(constrain|unconstrain|jacobian)\(",
        quantity="program",
    ),
    Known(
        "newer than Stan 2.35: `sum_to_zero_vector`, `sum_to_zero_matrix`, stochastic matrices",
        program=r"sum_to_zero_(vector|matrix)|(row|column)_stochastic_matrix",
        quantity="program",
    ),
    Known(
        "newer than Stan 2.35: `beta_neg_binomial`, `yule_simon`, `hypergeometric_1F0` and others",
        stan=r"undeclared identifier|is not available|No function|A returning function was expected",
        program=r"beta_neg_binomial|yule_simon|student_t_qf|trace_dot|hypergeometric_[12p]F|hmm_hidden_state_prob",
        quantity="program",
    ),
    Known("taken from data alone by Stan, from parameters too by ppl", stan="must be data-only"),
    Known("newer than Stan 2.35: `jacobian +=`", program=r"jacobian \+=", quantity="program"),
    Known(
        "Stan has `binomial_logit_glm` for some mixtures of int, array, real and vector; ppl has it for all",
        stan="Ill-typed arguments supplied to function 'binomial_logit_glm",
        quantity="program",
    ),
    Known(
        "Stan has `fma` for reals, vectors, row vectors and matrices; ppl has it for arrays too",
        stan="Ill-typed arguments supplied to function 'fma'",
        quantity="program",
    ),
)
"""What stanc 2.35 does not take."""

STAN = (
    Known(
        "Stan underflows: `exp_mod_normal` in its tail is the log of an erfc that is 0",
        stan=r"inf|nan",
        program="exp_mod_normal",
    ),
    Known(
        "Stan 2.35's `ordered_probit` with one location looks at the first of the outcomes alone",
        program=r"ordered_probit",
    ),
    Known(
        "Stan's cdf of a tail underflows, is nan or does not converge; ppl's is that of 60 digits",
        program=r"^((std_)?normal|beta|beta_proportion|(beta_|neg_)?binomial(_2)?|exp_mod_normal|cauchy)_l?c?cdf",
        quantity="value",
    ),
    Known(
        "Stan underflows to -inf in the tail of a density, a cdf or a complementary cdf",
        stan=r"^-inf$",
        ppl=r"^-\d",
        program=r"^\w+_(lpdf|lcdf|lccdf)",
        quantity="value",
    ),
    Known(
        "Stan underflows in the tail of the complementary cdf by which a density is truncated",
        stan=r"^inf$",
        ppl=r"^-\d",
        program=r"~ student_t\(.*T\[",
        quantity="value",
    ),
    Known("Stan's gradient is nan or infinite in a tail or at an edge", stan=r"nan|inf", quantity="gradient"),
    Known(
        "Stan's skew_normal and student_t cdfs are off in their tails; ppl's are integrals of 40 digits",
        program=r"^(skew_normal|student_t)_l?c?cdf",
        quantity="value",
    ),
    Known("Stan's uniform cdf is 0 above its bounds too", program=r"^uniform_l?c?cdf"),
    Known(
        "Stan's slopes of incomplete beta and gamma functions are off in a tail; ppl's follow its values",
        program=r"^(beta|beta_proportion|beta_binomial|binomial|gamma)_l?c?cdf|^inc_beta",
        quantity="gradient",
        stan=r"^[^ni]*$",
    ),
    Known(
        "Stan refuses a variate outside the support of this cdf, which is 0 or 1 there",
        stan=r"pareto_type_2_\w*cdf: Random variable is",
        quantity="value",
    ),
    Known(
        "Stan's von Mises cdf overflows, or is that of a normal",
        program=r"^von_mises_l?c?cdf",
        quantity="value",
    ),
    Known(
        "Stan's series of a Wiener density ends too early at 1e20 boundary times",
        program="^wiener_lpdf",
        quantity="value",
    ),
    Known("Stan's hypergeometric series does not converge", stan=r"hypergeometric_?(2F1|pFq)"),
    Known(
        "Stan has no slope in the order of a Bessel function",
        program="^log_modified_bessel",
        quantity="gradient",
    ),
    Known(
        "Stan is off by 4e-7 for a neg_binomial_2 that is nearly Poisson; ppl's is that of 900 digits",
        program="^neg_binomial_2(_log)?_lpmf",
        quantity="value",
    ),
    Known("Stan's gamma cdf, or its slope, is refused for want of convergence", stan="did not converge"),
    Known("Stan's `beta` of negative numbers loses its sign", program=r"^beta real|\+= \(?beta\("),
    Known("Stan says that P(Y <= 0) is 1 for a Bernoulli chance of 1", program=r"^bernoulli_l?cdf a0=0"),
    Known("Stan multiplies 0 and log 0 at the edge of the support", stan="nan", program=r"^beta_lpdf"),
    Known("both solve the differential equation to a tolerance", program=r"ode_\w+\("),
)
"""Where Stan is off, or both are within what was asked for."""

OURS = (
    Known("ppl: at a pole trigamma is 8e30", program="^trigamma", quantity="value"),
    Known(
        "ppl: the gradient is nan at the edge: a chance of 0 or 1, a rate of 0, a Weibull variate of 0",
        program=r"^(binomial|poisson|weibull)_l?cdf",
        quantity="gradient",
        ppl="nan",
    ),
)
"""Where ppl is wrong, and not mended yet."""

WIDER = (
    Known("names of the release notes of Stan 2.38, which stanc does not have", stan="identifier .wiener_l"),
    Known(
        "Stan has `fma` for reals, vectors, row vectors and matrices; ppl has it for arrays too",
        stan="supplied to function .fma",
    ),
    Known(
        "Stan takes bounds as reals or of the type of the value; ppl broadcasts a real value too",
        stan=r"supplied to function .\w+_(constrain|unconstrain|jacobian)",
    ),
    Known(
        "Stan has `binomial_logit_glm` for some mixtures of int, array, real and vector; ppl has it for all",
        stan="supplied to function .binomial_logit_glm",
    ),
)
"""What stanc 2.40 does not take."""

UNWANTED = (
    Known(
        "Stan refuses arguments outside the domain of a function whose value the log density does not need",
        stan=r"evaluation failed|is -?[\d.e+]+, but must be in",
        program=r"\b(atanh|acosh|asin|acos|inv_erfc|inv_Phi|std_normal_log_qf|student_t_qf|log_mix|lchoose|"
        r"log_(rising|falling)_factorial|log_modified_bessel_first_kind|gp_\w+_cov|\w+_unconstrain)\(",
    ),
    Known("Stan refuses a lower bound of a truncation outside the support", program=r"pareto_type_2\(.*T\["),
    Known(
        "Stan's pareto_type_2 cdf refuses a variate outside the support", program=r"^pareto_type_2_l?c?cdf"
    ),
    Known(
        "Stan's pareto_type_2 cdf refuses a variate outside the support",
        stan="evaluation failed",
        program=r"\bpareto_type_2_l?c?cdf",
    ),
    Known("Stan's uniform cdf is 0 above its bounds too", program=r"uniform\(.*T\[", stan="inf"),
    Known("Stan underflows in a tail", stan=r"^-inf$", ppl=r"^-(\d{3,}|.*e\+)"),
    Known(
        "Stan underflows, or does not converge, in the tails that truncate a density",
        stan=r"inf|nan|evaluation failed",
        program=r"T\[",
    ),
    Known(
        "Stan's series of a beta_neg_binomial's tail ends at a term of 1e-8: off by 2e-3 for small alpha",
        program=r"beta_neg_binomial_l?c?cdf",
        quantity="value",
    ),
    Known("both lose digits of log1m(Phi(x)): 40 digits lie between", program=r"^bivariate_probit_latent"),
    Known("both solve the equation to a tolerance", program=r"solve_newton|solve_powell"),
)
"""Where Stan refuses or underflows, or both are within what was asked for."""

FAULTS = (
    Known("its answers change from call to call", stan="^again"),
    Known(
        "it evaluates what depends on data in branches that are not taken",
        stan=r"^linspaced_\w+: high is",
        quantity="data",
    ),
    Known(
        "it does not check sizes and indices of what it does not need",
        ppl=r"out of range|[Ss]izes? |must not be 0",
        stan=r"^(accepted|-?[\d.e+-]+|\[[-\d. e+]+\])$",
    ),
    Known(
        "a call outside its domain is left out where the log density does not need its value; Stan rejects",
        ppl="nan",
        stan=r"^[-\d. e+\[\]]+$",
        program=r"\b(inv_Phi|std_normal_(log_)?qf|atanh|acosh|log1[mp]|lbeta|lchoose|gamma_[pq]|inv_erfc|lambert_w)",
    ),
    Known(
        "a loop over an array of several axes runs over the wrong one",
        stan="out of bounds for size",
        program=r"for \(\w+ in [a-z]",
        quantity="data",
    ),
    Known(
        "a matrix without columns is refused as a Cholesky factor",
        stan="Cholesky factor is 0",
        quantity="data",
    ),
    Known(
        "it refuses x[n:] of a list with fewer than n entries in data alone, Stan's vectors and matrices "
        "everywhere; by the reference manual it is x[n:size(x)], which is empty",
        stan=r"prepare_data: index \d+ out of bounds",
        program=r"\d:\]",
        quantity="data",
    ),
    Known(
        "a density in a loop that does not run counts 0 times its value, nan where that is infinite",
        stan="nan",
        program=r"for \(\w+ in 2:",
    ),
    Known("a loop from 1 to a negative number runs", program=r"for \(\w+ in 1:\(?[a-zA-Z]\w* - \w+\)?\)"),
    Known(
        "gp_*_cov with a length scale for each dimension is not Stan's, whose numbers the pack has",
        program=r"^(gp_regression|fn_gp_\w+_ard|93/319)\b",
    ),
    Known(
        "it takes bounds in the wrong order and negative multipliers of the transforms as functions",
        program=r"_(un)?constrain\(|_jacobian\(",
        stan=r"^-?[\d.e+-]+$",
        ppl="^nan$",
        quantity="value",
    ),
    Known("multi_gp is refused at points where Stan takes it", program="multi_gp", stan="evaluation failed"),
    Known(
        "a density of numbers and vectors, in a loop, takes arguments from elsewhere or is refused",
        program=r"(?s)for \(.*\b(student_t|weibull|gamma|skew_normal|poisson_log|neg_binomial_2_log)"
        r"(_lu?p[dm]f)?\(|for \(.*[\d\])] ~ \w+\(|for \(.*\b(normal|gumbel)_lu?pdf\(\w+\[[^|]*\] \| \("
        r"|for \(.*_lu?p[dm]f\(\w+ \|",
    ),
    Known("student_t truncated at a parameter, of a vector", program=r"student_t\(.*T\["),
    Known("`break` and `continue` by a parameter are taken otherwise", program=r"\b(break|continue);"),
    Known(
        "a value that a loop sets and that is read by a ternary after it is that of before",
        program=r"(?s)for \(\w+ in 1:b\d.*> x\d+ \?|^11/88\b",
    ),
    Known(
        "a local that a branch on a parameter sets is in a later condition or index that of before",
        program=r"(?s)\bif \([^;{}]*\bp\d[^;{}]*\) ([ab]\d+) = .*(\b(if|while) \(|\[)[^;{}]*\b\1\b",
    ),
)
"""Where the interpreter, stanli 0.24, is wrong.

Settled by the numbers of Stan 2.37 in the pack, by hand for small programs, and by finite differences.
"""

STAN_2_35: tuple[Known, ...] = (*NEWER, *STAN, *OURS)
ORACLE: tuple[Known, ...] = (*WIDER, *UNWANTED, *FAULTS, *STAN, *OURS)


def reason_for(known: tuple[Known, ...], name: str, program: str, quantity: str, stan: str, ppl: str) -> str:
    """The reason in words, or "" if none is known."""
    for k in known:
        searched = ((k.stan, stan), (k.program, f"{name}\n{program}"), (k.quantity, quantity), (k.ppl, ppl))
        if all(re.search(pattern, text) for pattern, text in searched):
            return k.reason
    return ""
