"""A run that is killed goes on to the bytes of one that was not."""

import signal
import time

import pytest
from laws.processes import Started

from ppl.cli.main import main

PROGRAM = """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; vector[N] theta; }
model { mu ~ normal(0, 5); sigma ~ normal(0, 1); theta ~ normal(mu, sigma); y ~ normal(theta, 1); }
"""
FIT = (
    "variational m.model d.json --refresh 0 --start random --no-refine --no-correct --iter 1000 "
    "--eval-elbo 50 --tol-rel-obj 1e-9 --eta 0.1 --draws 50 --checkpoint-every 0"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("resume")
    (folder / "m.model").write_text(PROGRAM)
    (folder / "d.json").write_text(f'{{"N": 20, "y": {list(range(20))}}}')
    assert finish(start(folder, "-o", "whole.csv")) == 0
    return folder


def start(folder, *more):
    return Started(main, [[*FIT, *more]], folder)


def finish(process):
    process.out = "".join(process.communicate(timeout=120))
    return process.returncode


def wait_for(path, versions=3):
    """Until the file has been written that often."""
    seen = set()
    deadline = time.monotonic() + 60
    while len(seen) < versions and time.monotonic() < deadline:
        if path.exists():
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.002)
    assert len(seen) == versions


def without_name(path):
    return path.read_text().replace(path.name, "whole.csv")


@pytest.mark.parametrize(
    "sent",
    [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.whole)],
)
def test_after_a_signal_resume_gives_the_same_bytes(folder, sent):
    name = f"{sent.name}.csv"
    left = folder / f"{name}.checkpoint"
    process = start(folder, "-o", name)
    wait_for(left)
    process.send_signal(sent)
    status = finish(process)
    statuses = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130}
    assert status == statuses.get(sent, 128 + sent) and left.exists()
    if sent is signal.SIGINT:
        assert (
            "Interrupted: interrupted" in process.out
            and f"--resume continues from {left.name}" in process.out
        )
        assert (folder / name).exists()
    again = start(folder, "-o", name, "--resume")
    assert finish(again) == 0, again.out
    assert without_name(folder / name) == (folder / "whole.csv").read_text()
    assert not left.exists()


def test_a_checkpoint_of_other_settings_or_data_is_refused(folder):
    process = start(folder, "-o", "other.csv")
    wait_for(folder / "other.csv.checkpoint", 1)
    process.kill()
    finish(process)
    again = start(folder, "-o", "other.csv", "--resume", "--seed", "2")
    assert finish(again) == 1 and "belongs to a run with seed = 1, not 2" in again.out


def test_nothing_to_resume_is_a_run_from_the_start(folder):
    process = start(folder, "-o", "new.csv", "--resume")
    assert finish(process) == 0
    assert without_name(folder / "new.csv") == (folder / "whole.csv").read_text()


def test_several_runs_stop_and_go_on_together(folder):
    several = ("--runs", "2", "--backend", "autograd")
    assert finish(start(folder, "-o", "runs.csv", *several)) == 0
    process = start(folder, "-o", "some.csv", *several)
    left = [folder / f"some.csv.checkpoint.{k}" for k in (1, 2)]
    for path in left:
        wait_for(path)
    process.send_signal(signal.SIGINT)
    assert finish(process) == 130, process.out
    assert (
        "of 2 runs had ended" in process.out and "--resume continues from some.csv.checkpoint" in process.out
    )
    assert all(path.exists() for path in left)
    again = start(folder, "-o", "some.csv", *several, "--resume")
    assert finish(again) == 0, again.out
    expected = (folder / "runs.csv").read_text()
    assert (folder / "some.csv").read_text().replace("some.csv", "runs.csv") == expected
    assert not any(path.exists() for path in left)
