"""The pack under JAX: the same densities and gradients as under autograd, or a reason why not.

One case in twenty, and with `--whole` all of them.
"""

from collections.abc import Iterator
from operator import attrgetter

import numpy as np
import pytest
from conformance.pack import Case, assert_close, cases, programs
from laws.sampled import sampled

import ppl

jax = pytest.importorskip("jax")

from ppl.jax_backend.not_traceable import NotTraceable  # noqa: E402
from ppl.jax_backend.target import CompiledTarget, compiled_target  # noqa: E402

UNKNOWN = "JAX cannot trace it"
OUT_OF_REACH = {
    "fn_reject_not_taken": "it prints",
    "fn_fatal_error_not_taken": "a branch depends on parameters, and one side stops the program",
    "fn_csr_extract": UNKNOWN,
}
"""Cases that JAX cannot run, and why."""

TOLERANCE = (1e-8, 1e-8)

CASES = [case for group in ("distributions", "functions", "transforms", "edges") for case in cases(group)]


def test_how_much_is_out_of_reach() -> None:
    known = {case.id for case in [*CASES, *programs()]}
    assert OUT_OF_REACH.keys() <= known
    assert len(OUT_OF_REACH) == 3
    assert not OUT_OF_REACH.keys() & {program.id for program in programs()}


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """A thousand compiled programs are too many to hold at once."""
    yield
    jax.clear_caches()


@pytest.mark.rotate
@pytest.mark.parametrize("case", sampled(20, [*CASES, *programs()], attrgetter("id")))
def test_agrees_with_autograd(case: Case) -> None:
    try:
        posterior = ppl.compile_model(case.program).condition(case.data)
        posterior.log_density(np.zeros(posterior.param_unc_num()))
    except ppl.PPLError:
        pytest.skip("refused before any backend is asked")
    if case.id in OUT_OF_REACH:
        with pytest.raises(NotTraceable, match=OUT_OF_REACH[case.id]):
            compiled_target(posterior)
        return
    target = compiled_target(posterior)
    for point in case.points:
        assert_same(target, posterior, np.array(point["u"], dtype=float))


def assert_same(target: CompiledTarget, posterior: ppl.Posterior, u: np.ndarray) -> None:
    """The same number, or none on both; and the same slopes where there is one."""
    value, gradient = target.log_density_gradient(u)
    try:
        expected, slopes = posterior.log_density_gradient(u)
    except ppl.PPLError:
        expected, slopes = np.nan, np.nan
    if np.isfinite(expected):
        assert_close(value, expected, TOLERANCE, "log density")
        assert_close(gradient, slopes, TOLERANCE, "gradient")
    else:
        assert not np.isfinite(value)
