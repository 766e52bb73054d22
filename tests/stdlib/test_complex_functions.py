"""Complex functions against NumPy and SciPy, and numbers that Stan 2.35 gives."""

import numpy as np
import scipy.linalg
from numpy.testing import assert_allclose

from ppl.arrays import NUMPY
from ppl.stdlib.functions import complex_decompositions as of_matrices
from ppl.stdlib.functions import complex_elementary as elementary
from ppl.stdlib.functions import complex_overloads as products
from ppl.stdlib.functions import complex_parts as parts
from ppl.stdlib.functions import fourier

V = np.array([1 + 2j, -0.5 + 0.3j, 2 - 1j])
W = np.array([0.5 - 1j, 1 + 1j, -0.7 + 0.2j])
M = np.array([[1 + 2j, 2], [3 - 1j, 1j], [0.5 + 0.5j, -1]])
S = np.array([[1 + 2j, 2, 0.3], [3 - 1j, 1j, 2 + 1j], [0.5 + 0.5j, -1 + 1j, 0.2 + 0.2j]])


def test_products_conjugate_where_stan_does() -> None:
    assert_allclose(products.dot_product(NUMPY, V, W), -3.3 - 3.1j)
    assert_allclose(products.dot_self(NUMPY, V), 10.34)
    assert_allclose(products.columns_dot_self(NUMPY, M), [15.5, 6])
    lower = [[1 + 2j, 3 + 1j, 0.5 - 0.5j], [3 - 1j, 1j, -1 - 1j], [0.5 + 0.5j, -1 + 1j, 0.2 + 0.2j]]
    assert_allclose(products.hermitian_from_lower_tri(NUMPY, S), lower)


def test_transforms_are_those_of_numpy() -> None:
    assert_allclose(fourier.fft(NUMPY, V), [2.5 + 1.3j, 1.375833024919770 + 4.515063509461097j,
                                            -0.875833024919770 + 0.184936490538903j])  # fmt: skip
    assert_allclose(fourier.inv_fft(NUMPY, V), np.fft.ifft(V))
    assert_allclose(fourier.fft2(NUMPY, M), np.fft.fft2(M))
    assert_allclose(fourier.inv_fft2(NUMPY, M), np.fft.ifft2(M))
    assert fourier.fft(NUMPY, np.zeros(0, complex)).shape == (0,)


def test_eigenvalues_of_a_complex_matrix_are_in_the_order_of_stan() -> None:
    expected = [-0.005679982058852 - 0.882494030764369j, -1.724776406819940 + 2.315369335607403j,
                2.930456388878792 + 1.767124695156970j]  # fmt: skip
    assert_allclose(of_matrices.eigenvalues(NUMPY, S), expected, rtol=1e-12)


def test_decompositions_make_up_the_matrix() -> None:
    for a in (S, S.real):
        vectors, values = of_matrices.eigendecompose(NUMPY, a)
        assert_allclose(a @ vectors, vectors * values, atol=1e-12)
        assert_allclose(np.linalg.norm(vectors, axis=0), 1.0)
        u, t = of_matrices.complex_schur_decompose(NUMPY, a)
        assert_allclose(u @ t @ u.conj().T, a, atol=1e-12)
        assert_allclose(t, np.triu(t), atol=1e-12)
        assert_allclose(np.diag(t), np.diag(scipy.linalg.schur(a, output="complex")[0]))
    u, s, v = of_matrices.svd(NUMPY, M)
    assert_allclose((u * s) @ v.conj().T, M, atol=1e-12)
    hermitian = S + S.conj().T
    vectors, values = of_matrices.eigendecompose_sym(NUMPY, hermitian)
    assert_allclose(values, np.linalg.eigvalsh(hermitian), atol=1e-12)
    assert_allclose(hermitian @ vectors, vectors * values, atol=1e-12)


def test_a_matrix_without_decomposition_gives_nan() -> None:
    assert np.isnan(of_matrices.eigenvalues_sym(NUMPY, S)).all()
    assert np.isnan(of_matrices.eigenvectors(NUMPY, S * np.inf)).all()
    assert np.isnan(of_matrices.singular_values(NUMPY, S * np.nan)).all()
    assert of_matrices.eigenvectors(NUMPY, np.zeros((0, 0))).shape == (0, 0)


def test_infinite_and_invalid_parts() -> None:
    assert parts.to_complex(NUMPY, 0.0, np.inf) == complex(0.0, np.inf)
    assert parts.proj(NUMPY, complex(1.0, -np.inf)) == complex(np.inf, -0.0)
    assert np.isnan(parts.polar(NUMPY, -1.0, 1.0))
    assert_allclose(elementary.power(NUMPY, 0j, 2 + 1j), 0.0)
