"""`ppl sample`, in this process."""

import json
import os
import signal
from contextlib import nullcontext

import pytest

import ppl
from ppl.kernel.advi.outcome import Phase
from ppl.results.files.read_csv import read_draws

pytest.importorskip("nutpie")

PROGRAM = """\
data { int<lower=0> N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(0, 10); sigma ~ normal(0, 5); y ~ normal(mu, sigma); }
"""
QUICK = ("--backend", "autograd", "--num-chains", 2, "--num-warmup", 150, "--num-samples", 120)


LONG = ("--backend", "autograd", "--num-warmup", 150, "--num-samples", 10**5)


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "toy.json").write_text(json.dumps({"N": 6, "y": [1.5, 2.5, 3.5, 2.0, 3.0, 2.4]}))
    return run


def test_chains_have_files_that_a_summary_reads(run):
    status, out, err = run("sample", "toy.model", "toy.json", *QUICK, "-o", "o.csv", "--refresh", 75)
    assert status == 0 and "Wrote o_1.csv, o_2.csv." in out and "R_hat" in out and "Verdict: " in out
    assert "chain 2: warmup" in err and "chain 1: sampling" in err
    assert max(map(len, out.partition("Verdict")[2].partition("Wrote")[0].splitlines())) <= 80
    assert ".\nNUTS (backend autograd, seed 1).\n" in out
    own = out[out.index("Verdict: ") : out.index("NUTS (")].strip()
    status, out, _ = run("summary", "o_1.csv", "o_2.csv", "--variables", "mu")
    assert status == 0 and out.startswith(own) and "2 runs of toy_model (sample), 120 draws each" in out
    assert read_draws("o_1.csv").config["id"] == "1" and read_draws("o_2.csv").config["id"] == "2"
    assert read_draws("o_2.csv").config["data.file"] == "toy.json"


@pytest.mark.rotate
def test_chains_go_on_from_a_fit_that_is_not_good(run):
    """Draws of q alone are usable at best here; the files say which draws they hold."""
    status, out, _ = run(
        "variational", "toy.model", "toy.json", "--algorithm", "meanfield", "--then", "sample", "-o", "o.csv"
    )
    assert status == 0 and "Verdict: good: the draws" not in out
    assert "o_1.csv to o_4.csv hold draws by NUTS, o.csv those of the fit (draws of q)." in out
    assert read_draws("o.csv").provenance.draws == "of q" and read_draws("o_4.csv").method == "sample"
    assert len(read_draws("o_2.csv").draws) == 1000


def test_no_chains_where_the_fit_is_good(run, tmp_path):
    (tmp_path / "unused.json").write_text('{"unused": 1}')
    words = ("toy.model", "toy.json", "unused.json", "--verbose", "--then", "sample", "-o", "o.csv")
    status, out, _ = run("variational", *words)
    assert "the program declares no `unused`; ignored." in out
    assert status == 0 and "NUTS was not run. o.csv holds draws of the posterior." in out
    assert not (tmp_path / "o_1.csv").exists()
    assert run("variational", "toy.model", "toy.json", "--then", "sample", "-o", "-")[0] == 2


@pytest.mark.rotate
def test_a_fit_goes_on_as_chains(run, tmp_path):
    posterior = ppl.compile_model(tmp_path / "toy.model").condition(tmp_path / "toy.json")
    fit = posterior.variational(algorithm="meanfield", seed=3)
    short = {"num_chains": 2, "num_warmup": 100, "num_samples": 50, "backend": "autograd"}
    chains = fit.then_sample(**short)
    assert chains.settings.seed == 3 and chains.draws().shape == (100, 2)
    fit.save(tmp_path / "fit.json")
    again = posterior.sample(seed=3, init=tmp_path / "fit.json", **short)
    assert (again.draws() == chains.draws()).all()


@pytest.mark.rotate
def test_a_saved_fit_is_a_start(run):
    run("variational", "toy.model", "toy.json", "-q", "--save-fit", "fit.json")
    assert run("sample", "toy.model", "toy.json", *QUICK, "--init", "fit.json", "-q") == (0, "", "")
    assert read_draws("output_2.csv").draws.shape == (120, 2)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("-o", "-"), "each chain is written to its own file"),
        (("-o", "x.npz"), "should end in .csv, .nc"),
        (("--delta", "1"), "1 is out of range; expected a number above 0 and below 1"),
        (("--num-warmup", "0"), "0 is too small; expected an integer of at least 1"),
        (("--init", "none.json"), "neither a radius of at least 0 nor a JSON file"),
    ],
)
def test_wrong_usage_is_told_before_the_run(run, wrong, says):
    status, _, err = run("sample", "toy.model", "toy.json", *wrong)
    assert status == 2 and says in " ".join(err.replace("│", " ").split())


def test_what_cannot_be_sampled_has_its_status(run):
    with open("none.model", "w") as file:
        file.write("generated quantities { real z = normal_rng(0, 1); }")
    status, _, err = run("sample", "none.model")
    assert status == 3 and "no parameters" in err
    assert run("sample", "toy.model")[0] == 1


@pytest.mark.parametrize(
    ("sent", "phase", "chains"),
    [
        pytest.param(signal.SIGTERM, Phase.SAMPLING, 2, marks=pytest.mark.whole),
        (signal.SIGHUP, Phase.SAMPLING, 1),
        (signal.SIGTERM, Phase.WARMUP, 1),
    ],
)
def test_a_signal_ends_chains_and_their_draws_are_written(run, tmp_path, monkeypatch, sent, phase, chains):
    """Sent once every chain is in the phase: one that has no draw yet leaves no file."""
    came = set()

    def listener(progress):
        if progress.phase is phase and progress.iteration > 20 and len(came) < chains:
            came.add(progress.run)
            if len(came) == chains:
                os.kill(os.getpid(), sent)

    monkeypatch.setattr("ppl.cli.progress.on_stderr", lambda *_: nullcontext(listener))
    warmup = 10**5 if phase is Phase.WARMUP else 150
    asked = (*LONG, "--num-warmup", warmup, "--num-chains", chains, "-o", "o.csv")
    status, out, err = run("sample", "toy.model", "toy.json", *asked)
    written = sorted(tmp_path.glob("o*.csv"))
    assert status == 128 + sent and signal.getsignal(sent) is signal.SIG_DFL
    if phase is Phase.WARMUP:
        assert "interrupted before the first draw; no output was written." in err and not written
    else:
        assert f"Interrupted: {chains} chains of" in out and len(written) == chains
        assert all(1 < len(read_draws(path).draws) < 10**5 for path in written)
