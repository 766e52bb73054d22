"""Data that stay on disk: the same posterior, checks with the right index, and little memory."""

import gc
import json
import re
import subprocess
import sys
import tracemalloc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ppl import DataError, compile_model
from ppl.cli.main import main
from ppl.data import blocks as blocks_of
from ppl.data import load_data, open_array, with_arrays
from ppl.data.locations import location_of
from ppl.data.shares import Partition
from ppl.data.tables import columns_of, fill
from ppl.density import rows as rows_of_posterior
from ppl.density.rows import by_rows
from ppl.kernel.advi import subsampling
from ppl.methods.run.settings import Settings
from ppl.results.files.read_csv import read_draws
from ppl.run import backend

PROGRAM = """
data {{ int N; int D; matrix{bounds}[N, D] x; array[N] int<lower=0, upper=1> y; }}
parameters {{ real alpha; vector[D] beta; }}
model {{ alpha ~ normal(0, 5); beta ~ normal(0, 1); y ~ bernoulli_logit(alpha + x * beta); }}
"""
N, D = 400, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = (RNG.uniform(size=N) < 0.5).astype(int)
SIZES = {"N": N, "D": D}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    (tmp_path / "d.json").write_text(json.dumps({**SIZES, "y": Y.tolist()}))
    (tmp_path / "m.model").write_text(PROGRAM.format(bounds=""))
    return tmp_path


@pytest.fixture(params=["one block", "many blocks"])
def block(request, monkeypatch):
    if request.param == "many blocks":
        monkeypatch.setattr(blocks_of, "BLOCK_BYTES", 64 * X[:1].nbytes)


def both(bounds=""):
    """The posterior of the data in memory, and that of the same on disk."""
    model = compile_model(PROGRAM.format(bounds=bounds))
    here = model.condition({**SIZES, "x": X, "y": Y})
    there = model.condition(with_arrays(load_data("d.json"), {"x": "x.npy"}))
    assert isinstance(there.d.x__, np.memmap)
    return here, there


def test_all_rows_in_blocks_are_the_posterior(folder, block):
    here, there = both()
    batches = by_rows(there)
    us = RNG.normal(size=(9, D + 1))
    values, gradients = here.log_density_gradients(us)
    np.testing.assert_allclose(batches.log_densities(us), values, rtol=1e-12)
    found, slopes = batches.log_density_gradients(us)
    np.testing.assert_allclose(found, values, rtol=1e-12)
    np.testing.assert_allclose(slopes, gradients, rtol=1e-9, atol=1e-9)
    assert batches.log_density(us[0]) == pytest.approx(values[0], rel=1e-12)
    assert batches.width == N * D


@pytest.mark.rotate
@pytest.mark.parametrize("algorithm", ["meanfield", "dsvi", "ssvb"])
def test_a_fit_is_that_of_the_data_in_memory(folder, block, algorithm):
    fits = [
        posterior.variational(algorithm=algorithm, minibatch=50, eta=0.1, iter=200, draws=100)
        for posterior in both()
    ]
    np.testing.assert_allclose(fits[0].draws(), fits[1].draws(), rtol=1e-6, atol=1e-8)
    assert fits[0].elbo == pytest.approx(fits[1].elbo, rel=1e-8)


@pytest.mark.rotate
def test_a_start_on_some_rows_is_led_to_the_posterior_of_all(folder, monkeypatch):
    monkeypatch.setattr(subsampling, "MOST_ROWS_ON_THE_WAY", 40)
    exact = both()[0].variational(algorithm="laplace").summary()
    fit = both()[1].variational(minibatch=40, iter=3000, tol_rel_obj=1e-4)
    assert fit.result.path.iterations > 100
    for name in fit.column_names:
        assert fit.summary()[name].mean == pytest.approx(exact[name].mean, abs=0.4 * exact[name].sd)


def test_a_fault_is_found_in_its_block(folder, block):
    bad = X.copy()
    bad[301, 1] = -7
    np.save("x.npy", bad)
    model = compile_model(PROGRAM.format(bounds="<lower=-6>"))
    with pytest.raises(DataError, match=re.escape("x.npy: x[302,2] is -7, but must be")):
        model.condition(with_arrays(load_data("d.json"), {"x": "x.npy"}))


def test_another_shape_names_the_file(folder):
    np.save("x.npy", X.T)
    model = compile_model(PROGRAM.format(bounds=""))
    with pytest.raises(DataError, match=re.escape("x.npy: x has shape (3,400)")):
        model.condition(with_arrays(load_data("d.json"), {"x": "x.npy"}))


def test_jax_is_chosen_for_data_on_disk_where_they_fit_in_memory(folder, monkeypatch):
    monkeypatch.setattr(backend, "JAX_PAYS", replace(backend.JAX_PAYS, matrix=1))
    monkeypatch.setattr(backend, "find_spec", lambda name: name)
    here, there = both()
    assert backend.jax_pays(here.problem, Settings())
    monkeypatch.setattr(backend, "JAX_PAYS", replace(backend.JAX_PAYS, matrix=1, memory=0))
    monkeypatch.setattr(backend, "available", lambda: 4 * X.nbytes)
    assert backend.jax_pays(there.problem, Settings())
    monkeypatch.setattr(backend, "available", lambda: 4 * X.nbytes - 1)
    assert not backend.jax_pays(there.problem, Settings())


def test_products_go_block_by_block(folder, block, monkeypatch):
    x = np.load("x.npy", mmap_mode="r").view(blocks_of.OnDisk)
    b, bs, a = RNG.normal(size=D), RNG.normal(size=(D, 4)), RNG.normal(size=N)
    released = []
    monkeypatch.setattr(blocks_of, "release", released.append)
    for found, expected in (
        (x @ b, X @ b),
        (x @ bs, X @ bs),
        (x.T @ a, X.T @ a),
        (x.T @ X, X.T @ X),
        (a @ x, a @ X),
        (b @ x.T, b @ X.T),
        (X.T @ x, X.T @ X),
        (2.0 * x, 2.0 * X),
        (x[:, 1], X[:, 1]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        assert not isinstance(found, blocks_of.OnDisk) or found.base is not None
    assert len(released) == 7 * -(-N // (64 if blocks_of.BLOCK_BYTES < 1 << 20 else N))


@pytest.mark.parametrize("rows", [range(N), range(17, 300), [5, 7], [3, 1, 2], [4, 4, 6], [9]])
def test_consecutive_rows_are_copied_at_once(folder, rows, monkeypatch):
    released = []
    monkeypatch.setattr(blocks_of, "release", released.append)
    monkeypatch.setattr(blocks_of, "ROWS_TAKEN", 1)
    rows = np.array(rows)
    for array, axis in ((X, 0), (X.T, 1)):
        np.save("a.npy", array)
        found = blocks_of.taken(np.load("a.npy", mmap_mode="r"), rows, axis)
        np.testing.assert_array_equal(found, array.take(rows, axis))
        assert type(found) is np.ndarray and found.base is None
    assert len(released) == (2 if (np.diff(rows) == 1).all() else 2 * len(rows))


@pytest.mark.rotate
def test_no_block_of_rows_stays_in_memory(folder):
    """Nothing refers to itself, so that the data of a block are freed before those of the next are read."""
    target = by_rows(both()[1])
    u = np.zeros(D + 1)
    target.log_density_gradient(u)
    gc.collect()
    gc.disable()
    try:
        terms = target.minibatch(np.arange(100)).terms
        terms.values_and_gradients(u[None])
        gone = weakref.ref(terms)
        del terms
        assert gone() is None
    finally:
        gc.enable()


def test_no_row_group_stays_in_memory(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    table = arrow.table({"a": RNG.normal(size=20_000)})
    for k in range(5):
        write_table(table, tmp_path / f"{k}.parquet", compression="none", use_dictionary=False)
    where, names = location_of(f"{tmp_path}:a")
    before = arrow.total_allocated_bytes()
    opened, *columns = columns_of(where, names)
    fill(where, np.empty(100_000), opened, columns[0], slice(0, 100_000))
    assert arrow.total_allocated_bytes() - before < table.nbytes


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather"])
def test_columns_of_parquet_and_arrow(folder, name):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y, "s": ["no"] * N})
    if name == "x.parquet":
        from pyarrow.parquet import write_table

        write_table(table, name, row_group_size=70)
    else:
        with arrow.ipc.new_file(name, table.schema) as out:
            out.write_table(table, max_chunksize=70)
    np.testing.assert_array_equal(open_array(f"{name}:a,b,c"), X)
    np.testing.assert_array_equal(open_array(f"{name}:c,a"), X[:, [2, 0]])
    y = open_array(f"{name}:y")
    assert y.dtype == np.int64 and y.shape == (N,)
    inputs = with_arrays(load_data(SIZES), {"x": f"{name}:a,b,c", "y": f"{name}:y"})
    posterior = compile_model(PROGRAM.format(bounds="")).condition(inputs)
    u = RNG.normal(size=D + 1)
    assert by_rows(posterior).log_density(u) == pytest.approx(both()[0].log_density(u), rel=1e-12)
    with pytest.raises(DataError, match="no column d; there are a, b, c, y, s"):
        open_array(f"{name}:d")
    with pytest.raises(DataError, match="column s holds string, no numbers"):
        open_array(name)


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_columns_of_files_behind_a_url(folder, scheme):
    """By a file system of Arrow's, and by one of fsspec's; shares read the row groups that they need."""
    arrow, fsspec = pytest.importorskip("pyarrow"), pytest.importorskip("fsspec")
    from pyarrow import fs
    from pyarrow.parquet import write_table

    at = f"{scheme}://{folder}/store"
    system = fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme)))
    system.create_dir(f"{folder}/store/rows", recursive=True)
    table = arrow.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})
    write_table(table[:150], f"{folder}/store/rows/1.parquet", filesystem=system, row_group_size=70)
    write_table(table[150:], f"{folder}/store/rows/2.parquet", filesystem=system)
    stream = system.open_output_stream(f"{folder}/store/y.arrow")
    with stream as sink, arrow.ipc.new_file(sink, table.schema) as out:
        out.write_table(table, max_chunksize=70)
    np.testing.assert_array_equal(open_array(f"{at}/rows:a,c"), X[:, [0, 2]])
    np.testing.assert_array_equal(open_array(f"{at}/rows/2.parquet:b"), X[150:, 1])
    np.testing.assert_array_equal(open_array(f"{at}/y.arrow:y"), Y)
    inputs = with_arrays(
        load_data(SIZES), {"x": f"{at}/rows:a,b,c"}, lambda n: Partition(n, 4).own(range(2, 4))
    )
    np.testing.assert_array_equal(inputs.values["x"].values, X[200:])
    with pytest.raises(DataError, match=re.escape(f"there is no file {at}/none.parquet")):
        open_array(f"{at}/none.parquet")
    with pytest.raises(DataError, match=r"behind a URL are read from \.parquet"):
        open_array(f"{at}/y.csv")


def test_a_scheme_that_nothing_reads_is_refused():
    pytest.importorskip("pyarrow"), pytest.importorskip("fsspec")
    with pytest.raises(DataError, match=r"nowhere://x\.parquet: .*nowhere"):
        open_array("nowhere://x.parquet")


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("none.npy", "there is no file none.npy"),
        ("d.json", "d.json: arrays are read from .npy"),
        ("bad.npy", "bad.npy: cannot be read"),
    ],
)
def test_files_that_hold_no_array(folder, file, why):
    (folder / "bad.npy").write_text("no array")
    with pytest.raises(DataError, match=why):
        open_array(file)


def test_a_variable_given_twice_is_refused(folder):
    with pytest.raises(DataError, match=re.escape("`y` is in d.json too")):
        with_arrays(load_data("d.json"), {"y": "x.npy"})


def test_draws_and_quantities_of_data_on_disk(folder):
    posterior = both()[1]
    posterior.variational(draws=5, algorithm="laplace").save("fit.json")
    run("draws m.model d.json fit.json --data x=x.npy --draws 7")
    assert len(read_draws("draws.csv").draws) == 7
    run("generate m.model d.json draws.csv --data x=x.npy")
    assert (folder / "generated.csv").exists()


def run(command):
    with pytest.raises(SystemExit) as exit:
        main(command.split())
    assert exit.value.code in (0, None)


@pytest.mark.rotate
def test_the_command_line(folder):
    command = "variational m.model d.json --data x=x.npy --minibatch 50 --algorithm dsvi-ard --ard beta -q"
    code = "import sys; from ppl.cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--iter", "200"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "file = d.json x=x.npy" in (folder / "output.csv").read_text()
    refused = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--data", "z"], capture_output=True, text=True
    )
    assert refused.returncode == 2 and "'z' is not NAME=FILE" in refused.stderr


WATCHED = """
import resource, sys
import numpy as np
from ppl import compile_model
from ppl.data import load_data, with_arrays

model = compile_model("m.model")
posterior = model.condition(with_arrays(load_data("big.json"), {"x": "big.npy"}))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fit = posterior.variational(minibatch=100, iter=100, eta=0.1, start="random", draws=50)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(before, after, fit.elbo)
"""


@pytest.mark.rotate
@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted as Linux counts them")
def test_a_fit_leaves_the_data_on_disk(folder):
    rows, columns = 40_000, 500
    big = np.lib.format.open_memmap("big.npy", "w+", np.float64, (rows, columns))
    for first in range(0, rows, 4000):
        big[first : first + 4000] = RNG.normal(size=(4000, columns))
    big.flush()
    sizes = {"N": rows, "D": columns, "y": RNG.integers(0, 2, rows).tolist()}
    quantities = "generated quantities { real m = mean(x * beta); }"
    (folder / "m.model").write_text(PROGRAM.format(bounds="") + quantities)
    (folder / "big.json").write_text(json.dumps(sizes))
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after, _ = map(float, done.stdout.split())
    # 160 MB of data, of which 40 MB of sampled rows are held to judge the path by.
    assert after - before < 130_000, (before, after)


COUNTS = """
data {
  int N; int J; vector[N] x; vector<lower=0>[N] exposure;
  array[N] int<lower=1, upper=J> g; array[N] int<lower=0> y;
}
parameters { real alpha; real beta; vector[J] a; }
model {
  alpha ~ normal(0, 1); beta ~ normal(0, 1); a ~ normal(0, 1);
  for (n in 1:N) if (y[n] > 0) y[n] ~ poisson_log(alpha + a[g[n]] + beta * x[n] + log(exposure[n]));
  else target += -exposure[n] * exp(alpha + a[g[n]] + beta * x[n]);
}
"""


def peak_of_a_fit(model, rows):
    """The most bytes that conditioning and a fit by minibatches hold, data on disk."""
    rng = np.random.default_rng(rows)
    np.save("vx.npy", rng.normal(size=rows))
    np.save("vexposure.npy", np.ones(rows))
    np.save("vg.npy", rng.integers(1, 5, rows))
    np.save("vy.npy", rng.poisson(1.0, rows))
    gc.collect()
    tracemalloc.start()
    try:
        files = {name: f"v{name}.npy" for name in ("x", "exposure", "g", "y")}
        posterior = model.condition(with_arrays(load_data({"N": rows, "J": 4}), files))
        posterior.variational(
            algorithm="meanfield",
            start="random",  # for paths to a start are long or short
            minibatch=100,
            iter=20,
            eta=0.1,
            draws=20,
            backend="autograd",
        )
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.rotate
@pytest.mark.long
def test_no_array_of_all_rows_is_in_memory(folder, monkeypatch):
    """Neither a copy of ints, nor what is computed of data once, an order of the rows or their numbers."""
    monkeypatch.setattr(blocks_of, "BLOCK_BYTES", 1 << 17)
    monkeypatch.setattr(subsampling, "MOST_SHUFFLED", 1000)
    # NumPy chooses more than a fiftieth of the rows by an array of all of them.
    monkeypatch.setattr(subsampling, "MOST_ROWS_ON_THE_WAY", 300)
    monkeypatch.setattr(rows_of_posterior, "ROW_SPLIT", replace(rows_of_posterior.ROW_SPLIT, enough_rows=300))
    model = compile_model(COUNTS)
    peak_of_a_fit(model, 1_000)  # imports
    few, many = 20_000, 200_000
    growth = peak_of_a_fit(model, many) - peak_of_a_fit(model, few)
    assert growth < 3 * (many - few), growth / (many - few)


def test_ints_and_doubles_of_other_files_stay_on_disk(folder):
    np.save("x.npy", X.round().astype(np.int32))
    np.save("y.npy", Y.astype(float))
    model = compile_model(PROGRAM.format(bounds=""))
    there = model.condition(with_arrays(load_data(SIZES), {"x": "x.npy", "y": "y.npy"}))
    assert isinstance(there.d.x__, np.memmap) and isinstance(there.d.y, np.memmap)
    here = model.condition({**SIZES, "x": X.round(), "y": Y})
    us = RNG.normal(size=(2, D + 1))
    np.testing.assert_allclose(there.log_densities(us), here.log_densities(us), rtol=1e-12)
    np.testing.assert_allclose(by_rows(there).log_densities(us), here.log_densities(us), rtol=1e-12)


@pytest.mark.parametrize(("value", "why"), [(0.5, "is 0.5, but"), (2.0**31, "is 2147483648.0, but")])
def test_an_element_that_is_no_integer_is_found_in_its_block(folder, block, value, why):
    y = Y.astype(float)
    y[301] = value
    np.save("y.npy", y)
    with pytest.raises(DataError, match=re.escape(f"y.npy: y[302] {why}")):
        compile_model(PROGRAM.format(bounds="")).condition(
            with_arrays(load_data({**SIZES, "x": X.tolist()}), {"y": "y.npy"})
        )


def written(form: str) -> str:
    """The file, or folder of files, that has the columns a, b, c of X, in several batches of rows."""
    if form == "npy":
        np.save("rows.npy", X)
        return "rows.npy"
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = arrow.table(dict(zip("abc", X.T, strict=True)))
    match form:
        case "arrow":
            feather.write_feather(table, "rows.arrow", compression="uncompressed", chunksize=37)
        case "parquet":
            parquet.write_table(table, "rows.parquet", row_group_size=41)
        case "folder":
            Path("rows").mkdir()
            for k in range(4):
                parquet.write_table(table[k * 100 : (k + 1) * 100], f"rows/{k}.parquet", row_group_size=31)
            return "rows:a,b,c"
    return f"rows.{form}:a,b,c"


@pytest.mark.parametrize("form", ["npy", "arrow", "parquet", "folder"])
def test_a_process_reads_its_parts_of_the_rows(folder, form):
    partition, file = Partition(N, 3), written(form)
    for parts in (range(0, 1), range(1, 3), range(2, 3)):
        found = with_arrays(load_data("d.json"), {"x": file}, lambda n, own=parts: Partition(n, 3).own(own))
        share = found.values["x"]
        own = np.concatenate([*(partition.part(k) for k in parts), partition.left])
        assert share.shape == X.shape and share.rows.tolist() == own.tolist()
        np.testing.assert_array_equal(share.values, X[own])
