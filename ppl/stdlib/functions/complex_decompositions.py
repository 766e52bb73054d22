"""Eigenvalues, Schur form and singular values of complex matrices, and of real ones with complex answers.

Stan Functions Reference, "Complex linear algebra functions". Vectors that are determined up to a factor of
length one have their largest entry real and positive. Each decomposition is one node of the tape, whose
answers stand below one another, with any factor; `_turned` then chooses it, so that derivatives are those
of the choice.

Adjoints are transposes of the differentials (no conjugates: see complex_parts.py). Eigenvectors: Giles
(2008), section 3.1. Singular vectors: Wan & Zhang (2019), "Automatic differentiation for complex valued
SVD". Schur form: with dA in the basis U, the differential of T is the upper triangle of U* dA U + T W - W
T, where the lower triangle of the skew-Hermitian W makes that of the sum vanish, and U W is the
differential of U.
"""

from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace, Node, Vjp, with_vjps
from ppl.late import linalg
from ppl.stdlib.constraints.sentences import TOLERANCE
from ppl.stdlib.functions.checks import require
from ppl.stdlib.functions.complex_parts import absolute, conj, made_complex
from ppl.stdlib.functions.decompositions import reciprocal_gaps
from ppl.stdlib.functions.products import matrix_matrix, transposed
from ppl.stdlib.record import Function, Impl, Overload, function

Decomposition = Callable[[Array], Array]


def _adjoint(xp: Namespace, a: Array) -> Array:
    """The conjugate transpose."""
    return transposed(xp, conj(xp, a))


def _product(xp: Namespace, a: Array, *more: Array) -> Array:
    for b in more:
        a = matrix_matrix(xp, a, b)
    return a


def _square(name: str, a: Array) -> None:
    rows, cols = np.shape(a)
    require(rows == cols, name, f"the matrix is {rows} by {cols}, but must be square")


def _or_nan(decomposition: Decomposition, a: Array, shape: tuple[int, ...]) -> Array:
    """The decomposition; nan in the given shape unless all entries are finite and LAPACK finds an answer."""
    a = np.asarray(a)
    if not np.all(np.isfinite(a)):
        return np.full(shape, complex(np.nan, np.nan))
    try:
        return decomposition(a) if a.size else np.zeros(shape, complex)
    except np.linalg.LinAlgError:
        return np.full(shape, complex(np.nan, np.nan))


def _node(decomposition: Decomposition, adjoint: Vjp, shape: Callable[[int, int], tuple[int, int]]) -> Node:
    """A decomposition as one node of the tape; `shape` is that of its answers, of a matrix of that shape."""
    return with_vjps(adjoint)(lambda xp, a: _or_nan(decomposition, a, shape(*np.shape(a))))


def _turned(xp: Namespace, v: Array) -> Array:
    """The columns times factors of length one that make the largest entry of each real and positive."""
    if 0 in np.shape(v):
        return v
    largest = xp.np.argmax(xp.np.abs(xp.plain(v)), axis=0)
    pivot = v[largest, np.arange(np.shape(v)[1])]
    return conj(xp, pivot) / made_complex(xp, absolute(xp, pivot))


# --- Eigenvalues ---------------------------------------------------------------------------------


def _eigen(a: Array) -> Array:
    """Eigenvectors in columns, and their values in one more row: of a complex matrix by moduli, ascending."""
    values, vectors = np.linalg.eig(a)
    order = np.argsort(np.abs(values), stable=True) if np.iscomplexobj(a) else slice(None)
    return np.vstack([vectors[:, order], values[order]]).astype(complex)


def _eigen_core(xp: Namespace, v: Array, values: Array, of_v: Array, of_values: Array) -> Array:
    """The adjoint in the basis of the eigenvectors."""
    off_diagonal = reciprocal_gaps(xp, values) * matrix_matrix(xp, transposed(xp, v), of_v)
    return off_diagonal + of_values[:, None] * np.eye(np.shape(v)[0])


def _eigen_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    v = ans[:-1]
    core = _eigen_core(xp, v, ans[-1], g[:-1], g[-1])
    adjoint = xp.linalg.solve(transposed(xp, v), matrix_matrix(xp, core, transposed(xp, v)))
    return adjoint if np.iscomplexobj(a) else xp.np.real(adjoint)


_eigen_node = _node(_eigen, _eigen_adjoint, lambda n, _: (n + 1, n))


def eigenvalues(xp: Namespace, a: Array) -> Array:
    _square("eigenvalues", a)
    return _eigen_node(xp, a)[-1]


def eigendecompose(xp: Namespace, a: Array) -> tuple[Array, Array]:
    """Vectors of length one, and values."""
    _square("eigendecompose", a)
    both = _eigen_node(xp, a)
    v = both[:-1]
    v = v / made_complex(xp, xp.np.sqrt(xp.np.sum(xp.np.real(v * conj(xp, v)), axis=0)))
    return v * _turned(xp, v), both[-1]


def eigenvectors(xp: Namespace, a: Array) -> Array:
    return eigendecompose(xp, a)[0]


# --- Hermitian matrices --------------------------------------------------------------------------


def _hermitian(a: Array) -> Array:
    if np.max(np.abs(a - a.conj().T), initial=0.0) > TOLERANCE:
        raise np.linalg.LinAlgError
    values, vectors = np.linalg.eigh(a)
    return np.vstack([vectors, values])


def _hermitian_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    v = ans[:-1]
    core = _eigen_core(xp, v, xp.np.real(ans[-1]), g[:-1], xp.np.real(g[-1]))
    adjoint = _product(xp, conj(xp, v), core, transposed(xp, v))
    return 0.5 * (adjoint + _adjoint(xp, adjoint))


_hermitian_node = _node(_hermitian, _hermitian_adjoint, lambda n, _: (n + 1, n))


def eigenvalues_sym(xp: Namespace, a: Array) -> Array:
    """In ascending order."""
    _square("eigenvalues_sym", a)
    return _hermitian_node(xp, a)[-1]


def eigendecompose_sym(xp: Namespace, a: Array) -> tuple[Array, Array]:
    _square("eigendecompose_sym", a)
    both = _hermitian_node(xp, a)
    return both[:-1] * _turned(xp, both[:-1]), both[-1]


# --- Schur form ----------------------------------------------------------------------------------


def _schur(a: Array) -> Array:
    """U above T, A = U T U*."""
    t, u = linalg.schur(a, output="complex")
    return np.vstack([u, t])


def _rotation(t: Array, s: Array) -> Array:
    """The strictly lower Y of T' Y - Y T' = S below the diagonal, from the diagonal outwards."""
    n = len(t)
    y = np.zeros_like(s)
    for offset in range(1, n):
        for i in range(offset, n):
            j = i - offset
            known = t[j + 1 : i, i] @ y[j + 1 : i, j] - y[i, j + 1 : i] @ t[j, j + 1 : i]
            y[i, j] = (s[i, j] - known) / (t[i, i] - t[j, j])
    return y


def _schur_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    g, ans = np.asarray(g), np.asarray(ans)
    n = ans.shape[1]
    u, t, of_u, of_t = ans[:n], ans[n:], g[:n], np.triu(g[n:])
    turning = of_u.T @ u + of_t.T @ t - t @ of_t.T
    core = of_t - _rotation(t, (turning - turning.conj().T).T)
    adjoint = u.conj() @ core @ u.T
    return adjoint if np.iscomplexobj(a) else adjoint.real


_schur_node = _node(_schur, _schur_adjoint, lambda n, _: (2 * n, n))


def complex_schur_decompose(xp: Namespace, a: Array) -> tuple[Array, Array]:
    """U and the upper triangular T with A = U T U*."""
    _square("complex_schur_decompose", a)
    n = np.shape(a)[0]
    both = _schur_node(xp, a)
    turn = _turned(xp, both[:n])
    return both[:n] * turn, conj(xp, turn)[:, None] * both[n:] * turn


# --- Singular values -----------------------------------------------------------------------------


def _singular(a: Array) -> Array:
    """U above V, and the singular values in one more row: A = U S V*, of the smaller side's size."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.vstack([u, vh.conj().T, s])


def _half(xp: Namespace, v: Array, g: Array, gaps: Array) -> tuple[Array, Array]:
    """The turning that an adjoint of singular vectors asks for, Hermitian part twice, and its diagonal."""
    inner = matrix_matrix(xp, transposed(xp, v), g)
    off = gaps * inner
    return off + _adjoint(xp, off), xp.np.sum(inner * np.eye(np.shape(inner)[0]), axis=0)


def _singular_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    rows = np.shape(a)[0]
    u, v, s = ans[:rows], ans[rows:-1], xp.np.real(ans[-1])
    gu, gv, gs = g[:rows], g[rows:-1], xp.np.real(g[-1])
    gaps = reciprocal_gaps(xp, s * s)
    of_u, diagonal = _half(xp, u, gu, gaps)
    of_v, _ = _half(xp, v, gv, gaps)
    core = of_u * s + of_v * s[:, None] + (gs + 1j * xp.np.imag(diagonal) / s) * np.eye(len(s))
    left = gu - _product(xp, conj(xp, u), transposed(xp, u), gu)
    right = gv - _product(xp, conj(xp, v), transposed(xp, v), gv)
    return (
        _product(xp, conj(xp, u), core, transposed(xp, v))
        + _product(xp, left / s, transposed(xp, v))
        + _product(xp, conj(xp, u) / s, _adjoint(xp, right))
    )


_singular_node = _node(
    _singular, _singular_adjoint, lambda rows, columns: (rows + columns + 1, min(rows, columns))
)


def _values_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    both = _singular_node(xp, a)
    rows = np.shape(a)[0]
    return matrix_matrix(xp, conj(xp, both[:rows]) * g, transposed(xp, both[rows:-1]))


@with_vjps(_values_adjoint)
def singular_values(xp: Namespace, a: Array) -> Array:
    """In descending order."""
    return _or_nan(lambda a: np.linalg.svd(a, compute_uv=False), a, (min(np.shape(a)),)).real


def svd(xp: Namespace, a: Array) -> tuple[Array, Array, Array]:
    """U, S and V with A = U S V*."""
    rows = np.shape(a)[0]
    both = _singular_node(xp, a)
    turn = _turned(xp, both[:rows])
    return both[:rows] * turn, singular_values(xp, a), both[rows:-1] * turn


MATRIX, VECTOR = "complex_matrix", "complex_vector"


def _of_squares(name: str, meaning: str, result: str, impl: Impl) -> Function:
    """A function of a real or a complex square matrix."""
    return function(name, meaning, *[(f"({kind}) => {result}", impl) for kind in ("matrix", MATRIX)])


FUNCTIONS: tuple[Function, ...] = (
    _of_squares(
        "eigenvalues", "the eigenvalues; of a complex matrix by their lengths, ascending", VECTOR, eigenvalues
    ),
    _of_squares("eigenvectors", "the eigenvectors, in columns", MATRIX, eigenvectors),
    _of_squares(
        "eigendecompose", "the eigenvectors and eigenvalues", f"tuple({MATRIX}, {VECTOR})", eigendecompose
    ),
    _of_squares(
        "complex_schur_decompose",
        "the unitary U and upper triangular T with A = U T U*",
        f"tuple({MATRIX}, {MATRIX})",
        complex_schur_decompose,
    ),
    _of_squares(
        "complex_schur_decompose_u",
        "the unitary U of the Schur form A = U T U*",
        MATRIX,
        lambda xp, a: complex_schur_decompose(xp, a)[0],
    ),
    _of_squares(
        "complex_schur_decompose_t",
        "the upper triangular T of the Schur form A = U T U*",
        MATRIX,
        lambda xp, a: complex_schur_decompose(xp, a)[1],
    ),
)

OVERLOADS: dict[str, tuple[Overload, ...]] = {
    name: (Overload(f"({MATRIX}) => {result}", impl),)
    for name, result, impl in (
        ("eigenvalues_sym", VECTOR, eigenvalues_sym),
        ("eigenvectors_sym", MATRIX, lambda xp, a: eigendecompose_sym(xp, a)[0]),
        ("eigendecompose_sym", f"tuple({MATRIX}, {VECTOR})", eigendecompose_sym),
        ("singular_values", "vector", singular_values),
        ("svd_U", MATRIX, lambda xp, a: svd(xp, a)[0]),
        ("svd_V", MATRIX, lambda xp, a: svd(xp, a)[2]),
        ("svd", f"tuple({MATRIX}, vector, {MATRIX})", svd),
    )
}
"""The functions of decompositions.py for complex matrices: symmetric is Hermitian."""
