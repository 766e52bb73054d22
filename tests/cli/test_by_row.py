"""`ppl loo`, `compare` and `plot --kind ppc` without a generated quantity: the program says it."""

import json

import pytest

NORMAL = """data { int N; vector[N] y; }
parameters { real m; real<lower=0> s; }
model { m ~ normal(0, 5); s ~ exponential(1); y ~ normal(m, s); }
"""
STUDENT = NORMAL.replace("y ~ normal(m, s)", "y ~ student_t(4, m, s)")
OWN = (
    NORMAL
    + "generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | m, s); }"
)


@pytest.fixture
def run(run, tmp_path):
    for name, text in {"normal": NORMAL, "student": STUDENT, "own": OWN}.items():
        (tmp_path / f"{name}.model").write_text(text)
    (tmp_path / "d.json").write_text(
        json.dumps({"N": 12, "y": [1, 2, 3, 2.5, 1.5, 2, 1.2, 2.2, 2.8, 1.8, 2.4, 1.6]})
    )
    for name in ("normal", "student"):
        assert run("variational", f"{name}.model", "d.json", "-o", f"{name}.csv", "-q")[0] == 0
    return run


@pytest.mark.rotate
def test_loo_reads_the_program(run, tmp_path):
    status, out, _ = run("loo", "normal.csv", "--csv", "rows.csv")
    assert run("loo", "normal.csv", "--model", "normal.model")[1] == out
    assert status == 0 and "elpd_loo" in out and "in all 12 rows" in out
    assert (tmp_path / "rows.csv").read_text().splitlines()[1].startswith('"y[1]",')
    run("variational", "own.model", "d.json", "-o", "own.csv", "-q")
    table = [line for line in out.splitlines() if line.startswith(("elpd_loo", "p_loo"))]
    assert [line for line in run("loo", "own.csv")[1].splitlines() if line in table] == table


@pytest.mark.rotate
def test_a_program_that_was_edited_is_not_that_of_the_file(run, tmp_path):
    (tmp_path / "normal.model").write_text(STUDENT)
    status, _, err = run("loo", "normal.csv")
    assert status == 1 and "normal.model is not read: it was edited after normal.csv" in " ".join(err.split())
    assert run("loo", "normal.csv", "--model", "normal.model")[0] == 0


@pytest.mark.rotate
def test_compare_takes_a_program_for_all_or_one_for_each(run):
    pair = ("normal.csv", "student.csv")
    status, out, _ = run("compare", *pair, "--model", "normal.model", "--model", "student.model")
    assert status == 0 and "normal" in out and "student" in out
    assert run("compare", *pair)[1] == out
    assert run("compare", "normal.csv", "normal.csv")[0] != 0
    status, _, err = run("compare", *pair, "normal.model", "--model", "normal.model", "--model", "own.model")
    assert status == 2 and "2 programs for 3 FILEs" in err


def test_data_that_the_file_does_not_name_are_asked_for(run, tmp_path):
    (tmp_path / "d.json").rename(tmp_path / "e.json")
    status, _, err = run("loo", "normal.csv", "--model", "normal.model")
    assert status == 1 and "give them: --data" in " ".join(err.split())
    assert run("loo", "normal.csv", "--model", "normal.model", "--data", "e.json")[0] == 0


@pytest.mark.rotate
def test_a_predictive_check_draws_the_data_anew(run, tmp_path):
    pytest.importorskip("matplotlib")
    program = (tmp_path / "normal.model").rename(tmp_path / "elsewhere.model")
    status, _, err = run("plot", "normal.csv", "--kind", "ppc")
    assert status == 1 and "--model" in err
    assert run("plot", "normal.csv", "--kind", "ppc", "--model", str(program), "-o", "ppc.png")[0] == 0
    assert (tmp_path / "ppc.png").exists()
    program.rename(tmp_path / "normal.model")
    assert run("plot", "normal.csv", "--kind", "ppc", "-o", "beside.png")[0] == 0
    (tmp_path / "mixed.model").write_text(NORMAL.replace("y ~ normal(m, s)", "log(y) ~ normal(m, s)"))
    status, _, err = run("plot", "normal.csv", "--kind", "ppc", "--model", "mixed.model")
    assert status == 1 and "PPL981" in err
    assert run("plot", "normal.csv", "--model", "mixed.model", "--report", "r.html")[0] == 0
    both = NORMAL.replace("y ~ normal(m, s);", "y ~ normal(m, s); y2 ~ normal(-m, s);")
    (tmp_path / "both.model").write_text(both.replace("vector[N] y;", "vector[N] y; vector[2] y2;"))
    (tmp_path / "both.json").write_text((tmp_path / "d.json").read_text().replace("}", ', "y2": [1, 2]}'))
    ppc = ("plot", "normal.csv", "--model", "both.model", "--data", "both.json", "--kind", "ppc")
    assert run(*ppc, "-o", "b.png")[0] == 0 and {*tmp_path.glob("b-*")} == {
        tmp_path / "b-y.png",
        tmp_path / "b-y2.png",
    }
    assert run(*ppc, "-o", "c.png", "--outcome", "y2")[0] == 0 and (tmp_path / "c.png").exists()
