"""What the arguments of the standard library's functions must be, where any number will not do.

A word of `Expressions.suited` for each argument, in order; what is left out is "unit" for elementwise
functions and "any" for matrices. After "/" stands the number of arguments, where the words depend on it.
"""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "exp2 expm1 square cbrt log1p_exp log_inv_logit log1m_inv_logit inv_logit inv_cloglog Phi "
        "Phi_approx cos "
        "sin atan cosh sinh tanh asinh erf erfc abs minus plus exp floor ceil trunc round step".split(),
        ("any",),
    ),
    **dict.fromkeys("hypot fmax fmin fdim atan2".split(), ("any", "any")),
    "fma": ("any", "any", "any"),
    **dict.fromkeys(
        "log log2 log10 sqrt inv inv_sqrt inv_square lgamma log1p digamma trigamma".split(), ("positive",)
    ),
    "acosh": ("above_one",),
    "lambert_wm1": ("-0.3 unit",),
    "log1m_exp": ("negative",),
    "std_normal_log_qf": ("negative",),
    "log_diff_exp": ("above_one", "unit"),
    "log_inv_logit_diff": ("above_one", "unit"),
    "lchoose": ("above_five", "positive"),
    "log_falling_factorial": ("above_five", "unit"),
    "falling_factorial": ("above_five", "two"),
    "rising_factorial": ("positive", "two"),
    "choose": ("five", "two"),
    "lmgamma": ("two", "above_one"),
    "binary_log_loss": ("binary", "unit"),
    "ldexp": ("any", "two"),
    "hypergeometric_1F0": ("unit", "half_unit"),
    "hypergeometric_2F1": ("unit", "unit", "unit", "-unit"),
    **dict.fromkeys(
        "cholesky_decompose inverse_spd log_determinant_spd mdivide_left_spd inverse determinant "
        "log_determinant eigenvalues_sym eigenvectors_sym eigendecompose_sym quad_form_sym mdivide_left "
        "mdivide_left_tri_low cov_matrix_unconstrain symmetrize_from_lower_tri".split(),
        ("cov",),
    ),
    "chol2inv": ("chol_corr",),
    "cholesky_factor_cov_unconstrain": ("chol_corr",),
    "mdivide_right": ("any", "cov"),
    "mdivide_right_spd": ("any", "cov"),
    "mdivide_right_tri_low": ("any", "cov"),
    "corr_matrix_unconstrain": ("corr",),
    "cholesky_factor_corr_unconstrain": ("chol_corr",),
    "matrix_exp": ("any",),
    "matrix_power": ("any", "two"),
    "divide": ("any", "positive"),
    "elt_divide": ("any", "positive"),
    "modulus": ("index", "two"),
    "pow": ("positive", "any"),
    "lower_bound_unconstrain": ("above_one", "unit"),
    "upper_bound_unconstrain": ("unit", "above_one"),
    "lower_upper_bound_constrain": ("any", "-unit", "above_one"),
    "lower_upper_bound_unconstrain": ("unit", "-unit", "above_one"),
    "lower_bound_constrain": ("any", "any"),
    "upper_bound_constrain": ("any", "any"),
    "offset_multiplier_constrain": ("any", "any", "positive"),
    "offset_multiplier_unconstrain": ("any", "any", "positive"),
    "ordered_unconstrain": ("ordered",),
    "positive_ordered_unconstrain": ("ordered",),
    "simplex_unconstrain": ("simplex",),
    "hmm_marginal": ("any", "stochastic", "simplex"),
    "rank": ("any", "index"),
    "sub_row": ("any", "index", "one", "index"),
    "sub_col": ("any", "one", "index", "index"),
    "block": ("any", "one", "one", "index", "index"),
    "segment": ("any", "one", "index"),
    "linspaced_vector": ("size", "data", "data"),
    "linspaced_row_vector": ("size", "data", "data"),
    "linspaced_array": ("size", "data", "data"),
    "one_hot_vector": ("size", "index"),
    "one_hot_row_vector": ("size", "index"),
    "one_hot_array": ("size", "index"),
    "bessel_first_kind": ("two", "positive"),
    "bessel_second_kind": ("two", "positive"),
    "modified_bessel_first_kind": ("two", "positive"),
    "modified_bessel_second_kind": ("two", "positive"),
    "log_modified_bessel_first_kind": ("positive", "positive"),
    "gp_exp_quad_cov": ("any", "positive", "positive"),
    "gp_matern32_cov": ("any", "positive", "positive"),
    "gp_matern52_cov": ("any", "positive", "positive"),
    "gp_periodic_cov": ("any", "positive", "positive", "positive"),
    "gp_dot_prod_cov": ("any", "positive"),
    "log_mix": ("unit", "any", "any"),
    "log_softmax": ("any",),
    "softmax": ("any",),
    "student_t_qf": ("unit", "above_one", "any", "positive"),
    **{
        f"wiener_{tail}_{suffix}{count}": ("above_one", "positive", "half_unit", "unit", "any", *more)
        for tail in ("lcdf", "lccdf")
        for suffix in ("unnorm", "defective")
        for count, more in (("", ()), ("/6", ("data",)), ("/9", ("unit", "unit", "unit", "data")))
    },
}

LEFT_OUT = frozenset(
    # not numbers; of data that are probabilities; not a function of its argument at ties or signs; needs
    # data of one form
    "not_a_number positive_infinity negative_infinity generalized_inverse svd_U svd_V svd qr_Q "
    "qr_R qr qr_thin_Q "
    "qr_thin_R qr_thin eigenvectors_sym eigendecompose_sym csr_matrix_times_vector csr_to_dense_matrix "
    "csr_extract_w csr_extract_v csr_extract_u csr_extract to_matrix rep_array tgamma to_int "
    "hypergeometric_3F2 quantile hmm_hidden_state_prob generate_laplace_options "
    "hypergeometric_pFq linspaced_int_array one_hot_int_array corr_matrix_constrain cov_matrix_constrain "
    "cholesky_factor_corr_constrain cholesky_factor_cov_constrain fmod tan logical_eq "
    "logical_neq gp_exponential_cov "
    "falling_factorial matrix_power machine_precision unit_vector_unconstrain sum_to_zero_unconstrain "
    "stochastic_row_unconstrain stochastic_column_unconstrain generate_laplace_options".split()
)
