"""A fit that is done is not lost where its files cannot be written, and the message says where it is."""

import errno
import os
import subprocess
import sys

import pytest
from laws.processes import Started

import ppl
from ppl.cli.main import main
from ppl.kernel.language import lalr
from ppl.results.fits.fit import variational
from ppl.run import checkpoint

PROGRAM = """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; vector[N] theta; }
model { mu ~ normal(0, 5); sigma ~ normal(0, 1); theta ~ normal(mu, sigma); y ~ normal(theta, 1); }
"""
FIT = (
    "variational m.model d.json --start random --no-refine --no-correct --iter 500 --eval-elbo 50 "
    "--tol-rel-obj 1e-9 --eta 0.1 --draws 1000 --backend autograd"
).split()
LIMIT = 64 * 1024
"""Bytes that a file may have: more than a checkpoint takes, less than the draws."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    (folder / "m.model").write_text(PROGRAM)
    (folder / "d.json").write_text(f'{{"N": 20, "y": {list(range(20))}}}')
    assert ppl_in(folder, "-q", "-o", "whole.csv").returncode == 0
    return folder


def ppl_in(folder, *more, limit=None, environment=os.environ):
    """A fit in a process of its own, whose files may have so many bytes; its output goes to files."""
    started = Started(main, ([*FIT, *more],), folder, environment, limit)
    out, err = started.communicate(timeout=120)
    return subprocess.CompletedProcess(FIT, started.returncode, out, err)


def ppl_into(folder, *more, **streams):
    """The same with output to these streams."""
    command = [sys.executable, "-c", "from ppl.cli.main import main; main()", *FIT, *more]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(command, cwd=folder, text=True, timeout=120, **both)


def same_as_whole(path):
    return path.read_text().replace(path.name, "whole.csv") == (path.parent / "whole.csv").read_text()


def strays(folder):
    return [name for name in os.listdir(folder) if ".tmp" in name]


@pytest.mark.parametrize(
    "suffix",
    ["csv", *(pytest.param(s, marks=pytest.mark.whole) for s in ("npz", "nc", "parquet"))],
)
def test_a_fit_whose_draws_do_not_fit_on_the_disk_goes_on_from_its_checkpoint(folder, suffix, tried):
    name = f"large.{suffix}"
    failed = ppl_in(folder, "-q", "-o", name, limit=LIMIT)
    assert failed.returncode == 1, failed.stderr
    assert failed.stderr.startswith(f"ppl: {name}: ")
    assert f"The same command with --resume continues from {name}.checkpoint." in failed.stderr
    assert not (folder / name).exists() and not strays(folder)
    assert ppl_in(folder, "-q", "-o", name, "--resume").returncode == 0
    assert (folder / name).exists() and not (folder / f"{name}.checkpoint").exists()
    assert suffix != "csv" or same_as_whole(folder / name)
    tried("full disks", 1)


@pytest.mark.whole
def test_so_do_several_runs(folder, tried):
    assert ppl_in(folder, "-q", "--runs", "2", "-o", "runs.csv", limit=LIMIT).returncode == 1
    assert (folder / "runs.csv.checkpoint.1").exists()
    assert ppl_in(folder, "-q", "--runs", "2", "-o", "runs.csv", "--resume").returncode == 0
    assert not (folder / "runs.csv.checkpoint.1").exists()
    tried("full disks", 1)


@pytest.mark.whole
@pytest.mark.parametrize("option", ["--diagnostic-file", "--save-fit", "--profile-file"])
def test_another_file_that_cannot_be_written_is_named_and_keeps_the_fit(folder, option, tried):
    failed = ppl_in(folder, "-q", "-o", "other.csv", option, "/dev/full")
    assert failed.returncode == 1 and failed.stderr.startswith("ppl: /dev/full: No space left on device")
    assert "--resume continues from other.csv.checkpoint" in failed.stderr
    assert ppl_in(folder, "-q", "-o", "other.csv", "--resume").returncode == 0
    assert same_as_whole(folder / "other.csv") and not (folder / "other.csv.checkpoint").exists()
    tried("full disks", 1)


def test_a_device_has_its_checkpoint_among_temporary_files(folder, tmp_path, tried):
    failed = ppl_in(folder, "-q", "-o", "/dev/full", environment={**os.environ, "TMPDIR": str(tmp_path)})
    (left,) = tmp_path.glob("ppl-*.checkpoint")
    assert failed.returncode == 1 and f"It is in {left}. Rename it to OUT.checkpoint" in failed.stderr
    left.rename(folder / "moved.csv.checkpoint")
    assert ppl_in(folder, "-q", "-o", "moved.csv", "--resume").returncode == 0
    assert same_as_whole(folder / "moved.csv")
    tried("full disks", 1)


@pytest.mark.rotate
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_that_goes_away_ends_nothing(folder, stream, tried):
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written, "w") as pipe:
        done = ppl_into(folder, "-o", "piped.csv", **{stream: pipe})
    other = done.stderr if stream == "stdout" else done.stdout
    assert done.returncode == 0 and "Traceback" not in other and same_as_whole(folder / "piped.csv")
    assert ("Verdict: " in other) is (stream == "stderr")
    tried("closed pipes", 1)


@pytest.mark.rotate
def test_draws_for_a_reader_that_has_gone_are_kept(folder, tmp_path, tried):
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written, "w") as pipe:
        failed = ppl_into(folder, "-q", "-o", "-", stdout=pipe, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert failed.returncode == 1 and "ppl: standard output: its reader ended before all" in failed.stderr
    assert "The fit is not lost." in failed.stderr and "Exception" not in failed.stderr
    tried("closed pipes", 1)


@pytest.mark.rotate
def test_progress_on_a_full_disk_ends_nothing(folder, tried):
    with open("/dev/full", "w") as full:
        done = ppl_into(folder, "-o", "unseen.csv", stderr=full)
    assert done.returncode == 0 and "Verdict: " in done.stdout and same_as_whole(folder / "unseen.csv")
    tried("full disks", 1)


@pytest.mark.rotate
def test_a_report_on_a_full_disk_is_a_failure_after_all_is_written(folder, tried):
    with open("/dev/full", "w") as full:
        done = ppl_into(folder, "-o", "silent.csv", stdout=full)
    assert done.returncode == 1 and done.stderr.endswith("\nppl: standard output: No space left on device\n")
    assert same_as_whole(folder / "silent.csv")
    tried("full disks", 1)


@pytest.fixture
def full_after(monkeypatch):
    """Makes every write of a checkpoint fail after the first so many."""

    def full(writes):
        left, write = [writes], checkpoint.write_whole

        def limited(path, lines):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
            write(path, lines)

        monkeypatch.setattr(checkpoint, "write_whole", limited)

    return full


@pytest.mark.parametrize("writes", [0, 2])
def test_a_checkpoint_that_cannot_be_written_ends_no_run(folder, tmp_path, full_after, writes, tried):
    posterior = ppl.compile_model(folder / "m.model").condition(folder / "d.json")
    short = {"iter": 200, "eval_elbo": 50, "move": False, "draws": 10}
    settings = {**short, "algorithm": "meanfield", "backend": "autograd"}
    whole = posterior.variational(**settings)
    full_after(writes)
    fit = variational(posterior, checkpoint=tmp_path / "kept", checkpoint_every=0, **settings)
    assert fit.draws().tobytes() == whole.draws().tobytes()
    assert f"The checkpoint {tmp_path / 'kept'} could not be written (No space left on device)." in fit.notes
    assert os.listdir(tmp_path) == []
    tried("full disks", 1)


def test_a_cache_that_cannot_be_written_leaves_nothing_behind(monkeypatch, tmp_path, tried):
    def broken_off(part, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("PPL_CACHE", str(tmp_path))
    monkeypatch.setattr("pathlib.Path.replace", broken_off)
    assert lalr.parser.__wrapped__().parse("parameters { real x; }")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
    tried("full disks", 1)
