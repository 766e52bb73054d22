"""`ppl sbc`, in this process."""

import json

import pytest

PROGRAM = """data { int N; vector[N] y; }
parameters { real m; }
model { m ~ normal(0, 1); y ~ normal(m, 1); }
"""


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "toy.json").write_text(json.dumps({"N": 3, "y": [1, 2, 3]}))
    return run


QUICK = ("--simulations", 10, "--draws", 19, "--algorithm", "laplace")


def test_ranks_go_to_a_file_and_a_picture(run, tmp_path):
    pytest.importorskip("matplotlib")
    status, out, _ = run("sbc", "toy.model", "toy.json", *QUICK, "--picture", "ranks.png")
    assert status == 0 and "alibrated: " in out and "Wrote sbc.csv and ranks.png." in out
    text = (tmp_path / "sbc.csv").read_text()
    assert "# algorithm = laplace\n" in text and text.count("\n") == 10 + 1 + 8
    assert run("sbc", "toy.model", "toy.json", *QUICK, "-q", "-o", "again.csv") == (0, "", "")
    assert (tmp_path / "again.csv").read_text() == text


def test_a_run_goes_on_from_its_file(run, tmp_path):
    run("sbc", "toy.model", "toy.json", *QUICK, "-q")
    whole = (tmp_path / "sbc.csv").read_text()
    (tmp_path / "sbc.csv").write_text("".join(whole.splitlines(True)[:-4]))
    assert run("sbc", "toy.model", "toy.json", *QUICK, "-q", "--resume")[0] == 0
    assert (tmp_path / "sbc.csv").read_text() == whole
    status, _, err = run("sbc", "toy.model", "toy.json", *QUICK, "-q", "--resume", "--seed", 2)
    assert status == 1 and "sbc.csv belongs to another run: seed is 1 there and 2 here" in " ".join(
        err.split()
    )


def test_the_simulator_is_shown_and_may_be_given(run, tmp_path):
    status, out, _ = run("sbc", "toy.model", "--show-simulator")
    assert status == 0 and "m = normal_rng(0, 1);" in out
    (tmp_path / "sim.stan").write_text(out)
    run("sbc", "toy.model", "toy.json", *QUICK, "-q")
    own = ("--simulator", "sim.stan", "-o", "own.csv")
    assert run("sbc", "toy.model", "toy.json", *QUICK, "-q", *own)[0] == 0
    rows = [(tmp_path / name).read_text().splitlines()[-10:] for name in ("sbc.csv", "own.csv")]
    assert rows[0] == rows[1]


def test_a_program_that_cannot_be_read_forward_is_refused(run, tmp_path):
    (tmp_path / "flat.model").write_text(PROGRAM.replace("m ~ normal(0, 1);", ""))
    status, _, err = run("sbc", "flat.model", "toy.json")
    assert status == 1 and "flat.model:2:19: error PPL979" in err and "--simulator sim.stan" in err
    assert run("sbc", "toy.model", "toy.json", "--picture", "x.gif")[0] == 2
