"""Rows spread over devices and processes: the same fits, whoever has the rows."""

import os
import shutil
import socket
import subprocess
import time
from functools import cache

import numpy as np
import pytest

pytest.importorskip("jax")

from jax_backend import sharded_programs
from jax_backend.sharded_programs import FITS, fitted
from laws.processes import Started

import ppl
from ppl.cli.main import main
from ppl.data.shares import Partition
from ppl.errors import InferenceError
from ppl.jax_backend.addresses import await_coordinator, facing, is_loopback, to_listen_at
from ppl.jax_backend.launched import launched
from ppl.jax_backend.mesh import places
from ppl.jax_backend.processes import WAITS
from ppl.results.files.read_csv import read_draws

SECONDS = 300
ADDRESS = "10.213.7.%d"
"""Of the host of each process, where they have hosts of their own."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(devices=1):
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={devices}"
    return {**os.environ, "XLA_FLAGS": flags, "OMP_NUM_THREADS": "1"}


def started(count, main, arguments, devices=1, told=lambda i, address: {}, folder="."):
    """Processes 0, 1, ... of `count`; `arguments(i, address)` are of `main`, `told` of the environment."""
    address = f"127.0.0.1:{free_port()}"
    return [
        Started(main, arguments(i, address), folder, {**environment(devices), **told(i, address)})
        for i in range(count)
    ]


def ended(processes):
    """Their exit statuses, and what they said on standard error."""
    stderr = [p.communicate(timeout=SECONDS)[1] for p in processes]
    return [p.returncode for p in processes], stderr


@cache
def alone(name):
    """The fit by one process on one device."""
    return fitted(name, backend="jax")


@pytest.mark.rotate
@pytest.mark.long
@pytest.mark.parametrize(
    ("processes", "devices", "names"), [(2, 2, FITS), (1, 3, ["logistic", "minibatches"])]
)
def test_the_same_fit_as_by_one_process(tmp_path, processes, devices, names):
    """Every program by several processes of several devices, and some by one process."""
    out = tmp_path / "fits.npz"

    def arguments(i, address):
        return [address, processes, i, out, *names]

    statuses, stderr = ended(started(processes, sharded_programs.main, arguments, devices))
    assert statuses == [0] * processes, stderr
    with np.load(out) as found:
        for name in names:
            fit = alone(name)
            assert found[f"elbo_{name}"] == pytest.approx(fit.elbo, rel=1e-8), name
            spread = np.abs(fit.draws()).max(axis=0)
            assert (np.abs(found[name] - fit.draws()) <= 1e-8 * spread).all(), name


@pytest.fixture
def namespaces():
    """Two network namespaces on one bridge, as two machines on a switch; their names."""
    ip = shutil.which("ip")
    names = [f"ppl{os.getpid()}x{k}" for k in (1, 2)]
    bridge = f"pplb{os.getpid()}"

    def run(words, check=True):
        return subprocess.run([ip, *words.split()], check=check, capture_output=True)

    if ip is None or run(f"netns add {names[0]}", check=False).returncode:
        pytest.skip("needs `ip`, and the right to make network namespaces")
    try:
        run(f"link add {bridge} type bridge")
        run(f"link set {bridge} up")
        for k, name in enumerate(names, 1):
            if k > 1:
                run(f"netns add {name}")
            cable = f"pplv{os.getpid() % 10**6}{k}"
            run(f"link add {cable} type veth peer name eth0 netns {name}")
            run(f"link set {cable} master {bridge} up")
            run(f"-n {name} addr add {ADDRESS % k}/24 dev eth0")
            run(f"-n {name} link set eth0 up")
            run(f"-n {name} link set lo up")
        yield names
    finally:
        for name in names:
            run(f"netns delete {name}", check=False)
        run(f"link delete {bridge}", check=False)


@pytest.mark.rotate
def test_the_same_fit_on_hosts_with_addresses_of_their_own(tmp_path, namespaces):
    out = tmp_path / "fits.npz"
    address = f"{ADDRESS % 1}:{free_port()}"
    processes = [
        Started(sharded_programs.main_on, [name, address, 2, i, out, "logistic"], ".", environment())
        for i, name in enumerate(namespaces)
    ]
    statuses, stderr = ended(processes)
    assert statuses == [0] * 2, "\n".join(stderr)
    with np.load(out) as found:
        assert found["elbo_logistic"] == pytest.approx(alone("logistic").elbo, rel=1e-8)


def test_the_address_that_faces_another():
    assert facing("127.0.0.1:9") == "127.0.0.1" == facing("no-such-host.invalid:9")
    assert is_loopback("127.0.1.1") and is_loopback("::1") and not is_loopback(ADDRESS % 1)


def connects(host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def test_the_coordinator_listens_at_its_address_alone():
    host, port = "127.0.0.1", free_port()
    (first,) = started(1, ppl.join, lambda i, address: [f"{host}:{port}", 2, 0])
    try:
        end = time.monotonic() + SECONDS
        while not connects(host, port) and time.monotonic() < end:
            time.sleep(0.1)
        assert connects(host, port) and not connects("127.0.0.2", port)
    finally:
        first.kill()
        first.communicate(SECONDS)


def test_a_coordinator_that_never_comes_is_named():
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(InferenceError, match=rf"No coordinator answered at {address} within 0.3 seconds"):
        await_coordinator(address, 0.3)
    assert WAITS.coordinator < 30


@pytest.mark.parametrize("address", ["node1", "node1:", ":9000", "node1:http", "node1:70000"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ppl.PPLError, match="HOST:PORT"):
        ppl.join(address, 2, 1)


def test_an_address_that_is_not_of_this_host_is_listened_to_everywhere():
    assert to_listen_at("192.0.2.1:9000") is None
    assert to_listen_at("localhost:9000") in ("127.0.0.1:9000", "[::1]:9000")


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


POISSON = """
data { int N; int K; matrix[N, K] x; array[N] int<lower=0> y; }
parameters { real a; vector[K] b; }
model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ poisson_log(a + x * b); }
"""


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """A Poisson regression of 203 rows, in four Parquet files of several row groups each."""
    folder = tmp_path_factory.mktemp("shards")
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    rng, rows = np.random.default_rng(3), 203
    x = rng.normal(size=(rows, 2))
    y = rng.poisson(np.exp(0.3 + x @ [0.4, -0.2]))
    (folder / "rows").mkdir()
    for k, part in enumerate(np.array_split(np.arange(rows), 4)):
        table = arrow.table({"x1": x[part, 0], "x2": x[part, 1], "y": y[part]})
        write_table(table, folder / "rows" / f"{k}.parquet", row_group_size=17)
    (folder / "m.model").write_text(POISSON)
    quantity = "generated quantities { real m = mean(x * b); }"
    (folder / "gq.model").write_text(POISSON + quantity)
    (folder / "d.json").write_text(f'{{"N": {rows}, "K": 2}}')
    return folder


def command(model, out, *more):
    """The arguments of one fit from the shards."""
    data = ["--data", "x=rows:x1,x2", "--data", "y=rows:y"]
    return ["variational", model, "d.json", *data, "-o", out, "-q", *more]


def together(count, folder, *arguments):
    def of(i, address):
        by_hand = ["--coordinator", address, "--processes", str(count), "--process", str(i)]
        return [command(*arguments, *by_hand)]

    return started(count, main, of, folder=folder)


def by_launcher(told, count, folder, *arguments):
    """The same as a launcher would start them, without options: each is told its place by variables."""

    def of(i, address):
        host, _, port = address.partition(":")
        return told(str(i), str(count), host, int(port))

    return started(count, main, lambda *_: [command(*arguments)], told=of, folder=folder)


def of_slurm(i, count, host, port):
    return {
        **{"SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": host, "SLURM_NTASKS": count},
        **{"SLURM_PROCID": i, "SLURM_LOCALID": i, "JAX_COORDINATOR_PORT": str(port)},
    }


def of_open_mpi(i, count, host, port):
    own = {"OMPI_COMM_WORLD_RANK": i, "OMPI_COMM_WORLD_SIZE": count, "OMPI_COMM_WORLD_LOCAL_SIZE": count}
    return {**own, "PMIX_NAMESPACE": f"prterun-{port}@1"}


def of_torchrun(i, count, host, port):
    return {"RANK": i, "WORLD_SIZE": count, "MASTER_ADDR": host, "MASTER_PORT": str(port - 1)}


def same(folder, one, other):
    a, b = (read_draws(folder / name).draws for name in (one, other))
    return (np.abs(a - b) <= 1e-8 * np.abs(a).max(axis=0)).all()


LONG = (
    *("--algorithm", "meanfield", "--start", "random", "--iter", "300"),
    *("--eta", "0.01", "--stop", "fixed", "--no-refine"),
)


@pytest.fixture(scope="module")
def by_two(shards):
    """The draws of an uninterrupted fit by two processes."""
    assert ended(together(2, shards, "m.model", "two.csv", *LONG))[0] == [0, 0]
    return "two.csv"


@pytest.mark.rotate
def test_each_process_reads_its_rows_of_parquet(shards, by_two, monkeypatch):
    monkeypatch.chdir(shards)
    with pytest.raises(SystemExit, match="0"):
        main(command("m.model", "one.csv", "--backend", "jax", *LONG))
    assert same(shards, "one.csv", by_two)


@pytest.mark.rotate
def test_launched_processes_need_no_options(shards, by_two):
    """JAX finds the first process of SLURM's; the first alone writes."""
    statuses, stderr = ended(by_launcher(of_slurm, 2, shards, "m.model", "slurm.csv", *LONG))
    assert statuses == [0, 0], stderr
    assert rows(shards / "slurm.csv") == rows(shards / by_two)


def rows(file):
    """The lines of a file but for comments, in which are names and times."""
    return [line for line in file.read_bytes().splitlines() if not line.startswith(b"#")]


def test_what_a_launcher_says(tmp_path):
    one = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
    assert launched(one) is None, "a batch script is no step"
    assert launched(of_slurm("0", "1", "node1", 9000)) is None
    assert launched(of_slurm("1", "2", "node1", 9000)) == (2, 1, None), "JAX knows the host"
    assert launched(of_torchrun("3", "4", "node1", 9000)) == (4, 3, "node1:9000")
    with pytest.raises(InferenceError, match=r"PMI_SIZE says .* one of 8 processes, but no variable says"):
        launched({"PMI_SIZE": "8", "PMI_RANK": "0"})
    (tmp_path / "nodes").write_text("node1\nnode2\n")
    of_pbs = {"PMI_SIZE": "2", "PMI_RANK": "1", "PBS_NODEFILE": str(tmp_path / "nodes"), "PBS_JOBID": "7.pbs"}
    found = launched(of_pbs)
    assert (found.processes, found.process) == (2, 1) and found.coordinator.startswith("node1:6")
    assert launched({**of_pbs, "JAX_COORDINATOR_PORT": "9000"}).coordinator == "node1:9000"
    first, second = (launched(of_open_mpi(i, "2", "", 1)) for i in "01")
    assert first.coordinator == second.coordinator and first.coordinator.startswith("127.0.0.1:")


@pytest.mark.rotate
def test_what_reads_rows_of_others_is_refused_with_its_line(shards):
    """By processes of torchrun's, the first of which the package finds."""
    statuses, stderr = ended(by_launcher(of_torchrun, 2, shards, "gq.model", "gq.csv"))
    assert statuses == [3, 3]
    assert (
        "generated quantities { real m = mean(x * b); }" in stderr[0] and "`x`: each process has" in stderr[0]
    )


@pytest.mark.rotate
def test_a_process_killed_ends_all_and_a_new_run_goes_on(shards, by_two):
    """To the bytes of an uninterrupted run of as many processes; by more of them, to the same draws."""
    often = ("--checkpoint-every", "0")
    for killed, processes in ((0, 2), (1, 3)):
        out = f"{killed}.csv"
        both = together(2, shards, "m.model", out, *LONG, *often)
        wait_for(shards / f"{out}.checkpoint")
        both[killed].kill()
        statuses, stderr = ended(both)
        assert statuses[killed] == -9 and statuses[1 - killed] != 0 and not (shards / out).exists()
        new = together(processes, shards, "m.model", out, *LONG, *often, "--resume")
        assert ended(new)[0] == [0] * processes
    assert statuses == [3, -9], "the first says which ended"
    assert "process 1 of 2" in stderr[0] and "ended: it stopped without a message" in stderr[0]
    assert rows(shards / by_two) == rows(shards / "0.csv")
    assert same(shards, by_two, "1.csv")


def wait_for(file):
    end = time.monotonic() + SECONDS
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert file.exists()
