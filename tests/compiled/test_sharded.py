"""Rows spread over devices and processes: the same fits, whoever has the rows."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")

from compiled.sharded_programs import FITS, fitted

from ppl.compiled.mesh import places
from ppl.data.shares import Partition

WORKER = Path(__file__).with_name("sharded_programs.py")
SECONDS = 300
COMMAND = "import sys; from ppl.cli.main import main; main(sys.argv[1:])"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def started(count, arguments, devices=1, **more):
    """Processes 0, 1, ... of `count`; `arguments(i, address)` are those of Python."""
    address = f"127.0.0.1:{free_port()}"
    flags = f"--xla_force_host_platform_device_count={devices} --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags, "OMP_NUM_THREADS": "1"}
    return [
        subprocess.Popen(
            [sys.executable, *arguments(i, address)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
        )
        for i in range(count)
    ]  # fmt: skip


def ended(processes):
    """Their exit statuses, and what they said on standard error."""
    said = [p.communicate(timeout=SECONDS)[1] for p in processes]
    return [p.returncode for p in processes], said


@pytest.fixture(scope="module")
def alone():
    return {name: fitted(name, backend="jax") for name in FITS}


@pytest.mark.parametrize(("processes", "devices"), [(2, 1), (4, 1), (1, 3), (2, 2)])
def test_the_same_fit_as_by_one_process(tmp_path, alone, processes, devices):
    out = tmp_path / "fits.npz"

    def arguments(i, address):
        return [str(WORKER), address, str(processes), str(i), str(out)]

    statuses, said = ended(started(processes, arguments, devices))
    assert statuses == [0] * processes, said
    with np.load(out) as found:
        for name, fit in alone.items():
            assert found[f"elbo_{name}"] == pytest.approx(fit.elbo, rel=1e-8), name
            spread = np.abs(fit.draws()).max(axis=0)
            assert (np.abs(found[name] - fit.draws()) <= 1e-8 * spread).all(), name


def test_parts_and_places():
    partition = Partition(11, 4)
    parts = [*(partition.part(k) for k in range(4)), partition.left]
    assert np.concatenate(parts).tolist() == list(range(11))
    rows = np.array([[10, 0, 3, 8, 2], [4, 5, 9, 6, 7]])
    row, at, counts = places(partition, rows)
    assert counts.sum() == rows.size
    for k, batch in enumerate(rows):
        assert sorted(row[k][counts[k]]) == sorted(batch)
        for device in range(4):
            here = np.concatenate([partition.part(device), partition.left])
            assert (here[at[k, device]][counts[k, device]] == row[k, device][counts[k, device]]).all()
            assert set(row[k, device][~counts[k, device]]) <= {partition.part(device)[0]}
