"""Threads and processes that write at the same time: each file is whole, and of one writer."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import ppl
from ppl.files import replacing, write_whole
from ppl.results.files.formats import save_draws
from ppl.results.files.readers import read_file

THREADS, PROCESSES = 16, 8
ALIKE = "n" * 60
"""Names that begin with it have the beginning that temporary names keep in common."""
LONG = [pytest.param(suffix, marks=pytest.mark.whole) for suffix in (".nc", ".parquet")]
PROGRAM = "parameters { vector[40] x; } model { x ~ normal(0, 1); }"


@pytest.fixture(scope="module")
def fits():
    posterior = ppl.compile_model(PROGRAM).condition({})
    return [posterior.laplace(draws=50, seed=k, backend="autograd") for k in range(THREADS)]


@pytest.mark.rotate
@pytest.mark.parametrize("suffix", [".csv", ".json", ".npz", *LONG])
def test_threads_write_each_their_own_file(fits, suffix, tmp_path, tried):
    for module in {".nc": ["arviz"], ".parquet": ["pyarrow"]}.get(suffix, []):
        pytest.importorskip(module)
    write = (lambda fit, path: fit.save(path)) if suffix == ".json" else save_draws
    model = fits[0].posterior.model

    def draws_of(path):
        read = ppl.load_fit(path, model, {}).draws() if suffix == ".json" else read_file(path).draws
        return np.asarray(read)

    names = [tmp_path / f"{ALIKE}{k}{suffix}" for k in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, fits, names))
        list(pool.map(partial(write, path=tmp_path / f"one{suffix}"), fits))
    for fit, name in zip(fits, names, strict=True):
        np.testing.assert_allclose(draws_of(name), fit.draws(), rtol=1e-5)
    one = draws_of(tmp_path / f"one{suffix}")
    assert sum(np.allclose(one, fit.draws(), rtol=1e-5) for fit in fits) == 1
    assert len(os.listdir(tmp_path)) == THREADS + 1
    tried("files written by threads", 2 * THREADS)


WRITES = """
import sys
from ppl.files import write_whole
for _ in range(40):
    write_whole(sys.argv[2], [sys.argv[1] * 99 + "\\n"] * 200)
"""


@pytest.mark.rotate
def test_processes_write_one_file_and_a_reader_sees_a_whole_one(tmp_path, tried):
    path = tmp_path / "one.csv"
    write_whole(path, ["x" * 99 + "\n"] * 200)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITES, letter, path]) for letter in "abcdefgh"[:PROCESSES]
    ]
    while any(writer.poll() is None for writer in writers):
        assert len(set(path.read_text().split("\n"))) == 2
    assert {writer.returncode for writer in writers} == {0} and os.listdir(tmp_path) == ["one.csv"]
    tried("files written by processes", 40 * PROCESSES)


def test_a_temporary_file_is_created_anew_with_a_name_of_its_own(tmp_path):
    """A link at a name that could be foreseen would be followed, and another file overwritten."""
    (tmp_path / "theirs").write_text("theirs")
    with replacing(tmp_path / "out") as one, replacing(tmp_path / "out") as two:
        assert one.name != two.name
        os.unlink(two.name)
        os.symlink(tmp_path / "theirs", two.name)
        two.write(b"mine")
    assert (tmp_path / "theirs").read_text() == "theirs"
