"""Products of matrices use one thread while a small model is fitted, and as many as before afterwards."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import ppl
from ppl.system.threads import LEAST_SHARED_SIZE, as_many_threads_as_pay


def threads() -> int:
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture(autouse=True)
def several_threads():
    with threadpool_limits(2, "blas"):
        yield


def test_a_fit_uses_one_thread_and_gives_the_others_back():
    before, seen = threads(), set()
    posterior = ppl.compile_model("parameters { vector[2] x; } model { x ~ normal(0, 1); }").condition({})
    posterior.variational(seed=1, progress=lambda progress: seen.add(threads()))
    assert seen == {1} and threads() == before


def test_large_data_and_wide_evaluations_leave_threads_alone():
    before = threads()
    with as_many_threads_as_pay({"x": np.zeros(LEAST_SHARED_SIZE + 1)}, lambda: 1):
        assert threads() == before
    with as_many_threads_as_pay({"n": 3}, lambda: LEAST_SHARED_SIZE + 1):
        assert threads() == before


def test_data_and_evaluations_of_just_the_bound_take_one() -> None:
    with as_many_threads_as_pay({"x": np.zeros(LEAST_SHARED_SIZE)}, lambda: LEAST_SHARED_SIZE):
        assert threads() == 1


def test_large_data_are_not_worked_through_to_see_how_wide_an_evaluation_is():
    def width() -> int:
        raise AssertionError

    with as_many_threads_as_pay({"x": np.zeros(LEAST_SHARED_SIZE + 1)}, width):
        pass


def test_libraries_that_are_loaded_during_a_fit_use_one_thread() -> None:
    code = (
        "from threadpoolctl import threadpool_info\n"
        "from ppl.system.threads import as_many_threads_as_pay\n"
        "with as_many_threads_as_pay({}, lambda: 1):\n"
        "    import scipy.linalg\n"
        "    print({each['num_threads'] for each in threadpool_info() if each['user_api'] == 'blas'})\n"
    )
    two = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", code], env=two, capture_output=True, text=True, check=True)
    assert run.stdout == "{1}\n"
