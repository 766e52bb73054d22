"""What the page of a distribution draws, where it has no picture: its variate and its arguments."""

from collections.abc import Mapping

V2, M12, M22, A3 = "vector[2]", "matrix[1, 2]", "matrix[2, 2]", "array[3] int"
S, L = "[[2, 0.5], [0.5, 1]]", "[[1.4, 0], [0.4, 0.9]]"
X = "[[1, 0], [1, 1], [1, 2]]"
GLM = f"{X}, 0.5, [0.2, 0.3]'"
HMM = "log([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]), [[0.8, 0.2], [0.3, 0.7]], [0.5, 0.5]'"

Example = tuple[str, str, str]
"""The type of the variate, the arguments, and the variate if it is not the draw at these arguments."""

EXAMPLES: Mapping[str, Example] = {
    "categorical": ("int", "[0.2, 0.3, 0.5]'", ""),
    "categorical_logit": ("int", "[0, 0.4, 0.9]'", ""),
    **dict.fromkeys(("ordered_logistic", "ordered_probit"), ("int", "0.5, [-1, 1]'", "")),
    "dirichlet": ("vector[3]", "[1, 2, 3]'", ""),
    "dirichlet_multinomial": (A3, "[1, 2, 3]'", "dirichlet_multinomial_rng([1, 2, 3]', 10)"),
    "multinomial": (A3, "[0.2, 0.3, 0.5]'", "multinomial_rng([0.2, 0.3, 0.5]', 10)"),
    "multinomial_logit": (A3, "[0, 0.4, 0.9]'", "multinomial_logit_rng([0, 0.4, 0.9]', 10)"),
    "multi_normal": (V2, f"[0, 1]', {S}", ""),
    "multi_normal_cholesky": (V2, f"[0, 1]', {L}", ""),
    "multi_normal_prec": (V2, f"[0, 1]', {S}", "[0.3, 0.8]'"),
    "multi_student_t": (V2, f"5, [0, 1]', {S}", ""),
    "multi_student_t_cholesky": (V2, f"5, [0, 1]', {L}", ""),
    "multi_gp": (M12, f"{S}, [1]'", "[[0.3, 0.8]]"),
    "multi_gp_cholesky": (M12, f"{L}, [1]'", "[[0.3, 0.8]]"),
    "gaussian_dlm_obs": (M12, "[[1]], [[1]], [[0.5]], [[0.1]], [0]', [[1]]", "[[0.2, 0.5]]"),
    "hmm_latent": (A3, HMM, ""),
    **dict.fromkeys(("wishart", "inv_wishart"), (M22, f"5, {S}", "")),
    **dict.fromkeys(("wishart_cholesky", "inv_wishart_cholesky"), (M22, f"5, {L}", "")),
    "lkj_corr": (M22, "2", "lkj_corr_rng(2, 2)"),
    "lkj_corr_cholesky": (M22, "2", "lkj_corr_cholesky_rng(2, 2)"),
    "lkj_cov": (M22, "[0, 0]', [1, 1]', 2", S),
    "normal_id_glm": ("vector[3]", f"{GLM}, 1", "[0.4, 1.2, 1.5]'"),
    **dict.fromkeys(("bernoulli_logit_glm", "poisson_log_glm"), (A3, GLM, "{0, 1, 1}")),
    "binomial_logit_glm": (A3, f"10, {GLM}", "{5, 8, 9}"),
    "neg_binomial_2_log_glm": (A3, f"{GLM}, 3", "{1, 2, 4}"),
    "categorical_logit_glm": (A3, f"{X}, [0, 0.4]', [[0.1, 0.2], [0.3, 0.4]]", "{1, 2, 2}"),
    "ordered_logistic_glm": (A3, f"{X}, [0.2, 0.3]', [-1, 1]'", "{1, 2, 3}"),
}
