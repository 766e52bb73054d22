"""Freed memory is kept for the next evaluation, in few heaps, not handed back and cleared anew."""

import platform
import resource
import subprocess
import sys

import numpy as np
import pytest

from ppl.system.freed_memory import keep_freed_memory
from ppl.system.threads import cores_of

CHURN = """
import resource, sys
import numpy as np
import ppl
model = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
if sys.argv[1] == "kept":
    model.condition({})
def evaluation():
    return sum(part.sum() for part in [np.ones(100_000) for _ in range(10)])
evaluation()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    evaluation()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="how freed memory is kept is glibc's affair")
@pytest.mark.rotate
def test_fresh_pages_are_few_once_a_model_has_its_data():
    def faults(how: str) -> int:
        ran = subprocess.run([sys.executable, "-c", CHURN, how], capture_output=True, text=True, check=True)
        return int(ran.stdout)

    of_a_run = 10 * 100_000 * 8 // resource.getpagesize()
    assert faults("kept") < of_a_run < faults("left")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="how freed memory is kept is glibc's affair")
def test_fresh_pages_are_few_in_this_process_too():
    keep_freed_memory.__wrapped__()

    def evaluation() -> None:
        [np.ones(300_000) for _ in range(10)]

    evaluation()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        evaluation()
    of_a_run = 10 * 300_000 * 8 // resource.getpagesize()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < of_a_run


THREADS = """
import ctypes, sys, threading
import ppl
from ppl.system.threads import cores_of
model = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
if sys.argv[1] == "few":
    model.condition({})
many = 4 * cores_of(None)
libc, together = ctypes.CDLL(None), threading.Barrier(many)
libc.malloc.restype = ctypes.c_void_p
def allocate():
    together.wait()
    libc.malloc(10_000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(many)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_stats()
"""


@pytest.mark.rotate
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps of threads are glibc's affair")
def test_threads_share_heaps_once_a_model_has_its_data():
    def heaps(how: str) -> int:
        ran = subprocess.run([sys.executable, "-c", THREADS, how], capture_output=True, text=True, check=True)
        return ran.stderr.count("Arena ")

    assert heaps("few") <= cores_of(None) < heaps("many")
