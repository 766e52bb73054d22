"""What of the library has first derivatives and no second: its slopes are series or factorings, no formulas.

Laplace's approximation of a program's own likelihood needs the third (stdlib/laplace/own.py).
"""

FAMILIES = (
    *("beta", "beta_proportion", "gamma", "chi_square", "inv_gamma", "inv_chi_square"),
    *("scaled_inv_chi_square", "neg_binomial", "neg_binomial_2", "student_t", "von_mises"),
)
"""Families whose cumulative distribution functions are such."""

FIRST_ORDER = frozenset(
    (
        *(f"{family}_{tail}" for family in FAMILIES for tail in ("cdf", "lcdf", "lccdf")),
        *("gamma_p", "gamma_q", "inc_beta", "inv_inc_beta", "student_t_qf"),
        *("hypergeometric_2F1", "hypergeometric_3F2", "hypergeometric_pFq"),
        *("complex_schur_decompose", "complex_schur_decompose_t", "complex_schur_decompose_u"),
    )
)
"""Their names in a program."""
