"""What the arguments of the library's functions must be, for the laws of ppl.testing."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import Namespace
from ppl.stdlib.functions.complex_parts import conj, to_complex
from ppl.stdlib.record import Function, Overload
from ppl.testing.functions import ANY, COMPLEX, LAWS, UNIT, Case, Domain, N, exactly, interval
from ppl.testing.functions import cases as cases_of
from ppl.types import Type, is_complex


def matrix_domain(into: Callable[[Namespace, Any], Any]) -> Domain:
    return Domain(lambda rng, shape: rng.normal(size=shape), into)


def _mirrored(xp: Namespace, b: Any) -> Any:
    return xp.np.swapaxes(b, -1, -2)


def _correlation(xp: Namespace, b: Any) -> Any:
    rows = b + 4.0 * np.eye(N)
    rows = rows / xp.np.sqrt(xp.np.sum(rows * rows, axis=-1, keepdims=True))
    return xp.np.matmul(rows, _mirrored(xp, rows))


SYMMETRIC = matrix_domain(lambda xp, b: b + _mirrored(xp, b))


def _hermitian(xp: Namespace, z: Any) -> Any:
    """With eigenvalues apart, and one largest entry to each eigenvector."""
    return z + conj(xp, _mirrored(xp, z)) + np.diag([-4.0, 0.0, 4.0])


HERMITIAN = Domain(COMPLEX.draw, lambda xp, x: _hermitian(xp, COMPLEX.into(xp, x)))
POSITIVE_DEFINITE = matrix_domain(lambda xp, b: xp.np.matmul(b, _mirrored(xp, b)) + np.eye(N))
LOWER = matrix_domain(lambda xp, b: xp.np.tril(b) + 4.0 * np.eye(N))
INVERTIBLE = matrix_domain(lambda xp, b: b + 4.0 * np.eye(N))
CORRELATION = matrix_domain(lambda xp, b: _correlation(xp, b))
CORRELATION_FACTOR = matrix_domain(lambda xp, b: UNIT_LENGTH.into(xp, LOWER.into(xp, b)))
SIMPLEX = Domain(UNIT.draw, lambda xp, x: x / xp.np.sum(x, axis=-1, keepdims=True))
COLUMNS = Domain(UNIT.draw, lambda xp, x: x / xp.np.sum(x, axis=-2, keepdims=True))
UNIT_LENGTH = Domain(UNIT.draw, lambda xp, x: x / xp.np.sqrt(xp.np.sum(x * x, axis=-1, keepdims=True)))
CENTRED = Domain(UNIT.draw, lambda xp, x: x - xp.np.mean(x, axis=-1, keepdims=True))
CENTRED_MATRIX = Domain(
    UNIT.draw, lambda xp, x: _mirrored(xp, CENTRED.into(xp, _mirrored(xp, CENTRED.into(xp, x))))
)

DOMAINS: dict[str, tuple[Domain, ...]] = {
    "acosh": (interval(1.2, 3.0),),
    "lambert_wm1": (interval(-0.3, -0.1),),
    "log1m_exp": (interval(-2.0, -0.1),),
    "std_normal_log_qf": (interval(-2.0, -0.1),),
    "log_diff_exp": (interval(1.0, 2.0), interval(-1.0, 0.9)),
    "log_inv_logit_diff": (interval(1.0, 2.0), interval(-1.0, 0.9)),
    "lchoose": (interval(5.0, 8.0), interval(1.0, 3.0)),
    "log_falling_factorial": (interval(5.0, 8.0), interval(1.0, 3.0)),
    "falling_factorial": (interval(5.2, 5.8), exactly(2)),
    "lmgamma": (exactly(2), interval(1.2, 3.0)),
    "hypergeometric_1F0": (UNIT, interval(-0.5, 0.5)),
    "hypergeometric_2F1": (UNIT, UNIT, UNIT, interval(-2.5, -0.5)),
    "hypergeometric_3F2": (UNIT, Domain(lambda rng, shape: rng.uniform(0.5, 2.0, 2)), UNIT),
    "cholesky_decompose": (POSITIVE_DEFINITE,),
    "inverse_spd": (POSITIVE_DEFINITE,),
    "log_determinant_spd": (POSITIVE_DEFINITE,),
    "mdivide_left_spd": (POSITIVE_DEFINITE, ANY),
    "mdivide_right_spd": (ANY, POSITIVE_DEFINITE),
    "mdivide_left": (INVERTIBLE, ANY),
    "mdivide_right": (ANY, INVERTIBLE),
    "mdivide_left_tri_low": (INVERTIBLE, ANY),
    "mdivide_right_tri_low": (ANY, INVERTIBLE),
    "chol2inv": (LOWER,),
    "inverse": (INVERTIBLE,),
    "determinant": (INVERTIBLE,),
    "log_determinant": (INVERTIBLE,),
    "eigenvalues_sym": (SYMMETRIC,),
    "eigenvectors_sym": (SYMMETRIC,),
    "eigendecompose_sym": (SYMMETRIC,),
    "eigenvalues_sym(complex_matrix": (HERMITIAN,),
    "eigenvectors_sym(complex_matrix": (HERMITIAN,),
    "eigendecompose_sym(complex_matrix": (HERMITIAN,),
    "quad_form_sym": (SYMMETRIC, ANY),
    "to_matrix": (ANY, exactly(3), exactly(1), exactly(1)),
    **dict.fromkeys(
        ("to_matrix(matrix", "to_matrix(complex_matrix"), (ANY, exactly(1), exactly(9), exactly(1))
    ),
    "fmax": (interval(0.2, 0.5), interval(0.55, 0.9)),
    "fmin": (interval(0.2, 0.5), interval(0.55, 0.9)),
    "fdim": (interval(0.55, 0.9), interval(0.2, 0.5)),
    "quantile": (ANY, UNIT),
    **{
        f"linspaced_{kind}": (exactly(2), interval(0.2, 0.5), interval(0.6, 0.9))
        for kind in ("array", "vector", "row_vector")
    },
    "csr_matrix_times_vector": (exactly(3), exactly(3), ANY, exactly([1, 3, 2]), exactly([1, 2, 3, 4]), ANY),
    "csr_to_dense_matrix": (exactly(3), exactly(3), ANY, exactly([1, 3, 2]), exactly([1, 2, 3, 4])),
}
DIFFUSION = (
    *(interval(1.0, 2.0), interval(1.0, 1.5), interval(0.1, 0.3), interval(0.4, 0.6), ANY),
    *(interval(0.1, 0.3),) * 4,
)
DOMAINS |= dict.fromkeys(
    (f"wiener_{t}_{s}" for t in ("lcdf", "lccdf") for s in ("unnorm", "defective")), DIFFUSION
)
INCREASING = Domain(UNIT.draw, lambda xp, x: xp.np.cumsum(x, axis=-1))
DOMAINS |= {
    "hmm_marginal": (ANY, SIMPLEX, SIMPLEX),
    "hmm_hidden_state_prob": (ANY, SIMPLEX, SIMPLEX),
    "lower_bound_unconstrain": (interval(1.0, 2.0), UNIT),
    "upper_bound_unconstrain": (UNIT, interval(1.0, 2.0)),
    "lower_upper_bound_constrain": (UNIT, interval(-1.0, 0.0), interval(1.0, 2.0)),
    "lower_upper_bound_jacobian": (UNIT, interval(-1.0, 0.0), interval(1.0, 2.0)),
    "lower_upper_bound_unconstrain": (UNIT, interval(-1.0, 0.0), interval(1.0, 2.0)),
    "ordered_unconstrain": (INCREASING,),
    "positive_ordered_unconstrain": (INCREASING,),
    "simplex_unconstrain": (SIMPLEX,),
    "unit_vector_unconstrain": (UNIT_LENGTH,),
    "sum_to_zero_unconstrain": (CENTRED,),
    "sum_to_zero_unconstrain(matrix": (CENTRED_MATRIX,),
    "sum_to_zero_unconstrain(array[] matrix": (CENTRED_MATRIX,),
    "sum_to_zero_unconstrain(array[,] matrix": (CENTRED_MATRIX,),
    "sum_to_zero_unconstrain(array[,,] matrix": (CENTRED_MATRIX,),
    "stochastic_row_unconstrain": (SIMPLEX,),
    "stochastic_column_unconstrain": (COLUMNS,),
    "cov_matrix_constrain": (UNIT, exactly(2)),
    "cov_matrix_jacobian": (UNIT, exactly(2)),
    "cov_matrix_unconstrain": (POSITIVE_DEFINITE,),
    "corr_matrix_constrain": (UNIT, exactly(3)),
    "corr_matrix_jacobian": (UNIT, exactly(3)),
    "corr_matrix_unconstrain": (CORRELATION,),
    "cholesky_factor_corr_constrain": (UNIT, exactly(3)),
    "cholesky_factor_corr_jacobian": (UNIT, exactly(3)),
    "cholesky_factor_corr_unconstrain": (CORRELATION_FACTOR,),
    "cholesky_factor_cov_constrain": (UNIT, exactly(2), exactly(2)),
    "cholesky_factor_cov_jacobian": (UNIT, exactly(2), exactly(2)),
    "cholesky_factor_cov_unconstrain": (LOWER,),
}
NOT_FINITE = ("not_a_number", "positive_infinity", "negative_infinity")

"""What the arguments of a function must be, where the default of their type will not do.

Found by the function's name, or by as much of one signature as starts with it.
"""

DATA_ONLY = ("linspaced_vector", "linspaced_row_vector", "linspaced_array")
"""Functions whose real arguments are never parameters, as in Stan."""


def domains_of(f: Function, overload: Overload, types: tuple[Type, ...]) -> tuple[Domain, ...]:
    fitting = [
        k for k in DOMAINS if k == f.name or ("(" in k and f"{f.name}{overload.signature}".startswith(k))
    ]
    found = DOMAINS[max(fitting, key=len)] if fitting else ()
    return tuple(complex_domain(d) if is_complex(t) else d for d, t in zip(found, types, strict=False))


def complex_domain(d: Domain) -> Domain:
    """Complex numbers whose real parts are of a domain of reals, the imaginary ones any."""
    if d is HERMITIAN:
        return d
    return Domain(COMPLEX.draw, lambda xp, x: to_complex(xp, d.into(xp, x[..., 0]), x[..., 1]))


def cases(functions: Iterable[Function]) -> Iterator[Case]:
    """Every case of the functions; those of an overload that has two names, once."""
    seen: set[tuple[Overload, tuple[Type, ...]]] = set()
    for f in functions:
        for case in cases_of(f, partial(domains_of, f), f.name not in DATA_ONLY, f.name not in NOT_FINITE):
            if (case.overload, case.types) not in seen:
                seen.add((case.overload, case.types))
                yield case


LAW = {law.holds.__name__: law for law in LAWS}
"""The laws by the names of their functions."""
