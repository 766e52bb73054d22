"""`ppl fix` and what it applies: the fixes of messages, non-centred declarations among them."""

import json
import subprocess

import numpy as np
import pytest

import ppl
from ppl.cli.fixes import difference, fixed
from ppl.cli.lsp.analysis import analysis
from ppl.errors import Fix, ModelError
from ppl.kernel.language.include import with_fixes
from ppl.records import replace
from ppl.source import SourceText, Span

CENTRED = """data {
  int<lower=0> J;
  vector[J] y;
}
parameters {
  vector[J] theta;
  real mu;
  real<lower=0> tau;
}
model {
  theta ~ normal(mu, tau);
  y ~ normal(theta, 1);
  mu ~ normal(0, 5);
  tau ~ normal(0, 5);
}
"""
NON_CENTRED = CENTRED.replace("  vector[J] theta;\n", "").replace(
    "tau;\n}", "tau;\n  vector<offset=mu, multiplier=tau>[J] theta;\n}"
)
WRONG = "parameters { real x; } model { x ~ normal_lpdf(0, 1 / 2) }"


def test_a_centred_hierarchy_is_moved_and_declared_anew():
    found = fixed(SourceText(CENTRED, "m.model"))
    assert [each.code for each in found.applied] == ["PPL009"] and not found.errors
    assert found.source.text == NON_CENTRED and fixed(found.source).applied == ()
    data, rng = {"J": 3, "y": [1, 2, 3]}, np.random.default_rng(1)
    one, two = (ppl.compile_model(text).condition(data) for text in (CENTRED, NON_CENTRED))
    values = {"mu": rng.normal(), "tau": rng.uniform(), "theta": rng.normal(size=3)}
    densities = [p.log_density(p.param_unconstrain(values), jacobian=False) for p in (one, two)]
    assert densities[0] == pytest.approx(densities[1], rel=1e-12)


@pytest.mark.parametrize("between", ["real mu; // of all", "real mu = 0;"])
def test_where_moving_would_lose_a_comment_or_the_program_is_wrong_no_centred_form_is_written(between):
    text = CENTRED.replace("real mu;", between)
    assert not any(each.code == "PPL009" for each in fixed(SourceText(text)).applied)


def test_fixes_of_errors_come_first_and_those_of_warnings_follow():
    found = fixed(SourceText(WRONG))
    assert found.source.text == "parameters { real x; } model { x ~ normal(0, 1 / 2.0); }"
    assert [each.code for each in found.applied][-1] == "PPL005" and not found.errors
    assert ppl.compile_model(found.source.text)


def test_fixes_that_are_apart_are_tried_together(monkeypatch):
    """Twenty errors are reported at a time."""
    texts = list[str]()
    monkeypatch.setattr(
        "ppl.cli.fixes.analysis", lambda source: texts.append(source.text) or analysis(source)
    )
    statements = "".join(f"  real a{k};\n  a{k} <- b;\n" for k in range(60))
    found = fixed(SourceText(f"parameters {{ real b; }}\nmodel {{\n{statements}}}\n"))
    assert len(found.applied) == 60 and not found.errors and len(texts) < 12
    assert found.source.text.count(" = b;") == 60


def test_a_fix_that_leaves_an_error_stops_no_other(monkeypatch):
    def without_the_third(source):
        other = analysis(source)
        wrong = ModelError("wrong", other.program.span, None, "PPL100")
        return replace(other, errors=(wrong,)) if "a2 = b * (1 / 2.0)" in source.text else other

    monkeypatch.setattr("ppl.cli.fixes.analysis", without_the_third)
    statements = "".join(f"  real a{k} = b * (1 / 2);\n  target += a{k};\n" for k in range(9))
    found = fixed(SourceText(f"parameters {{ real b; }}\nmodel {{\n{statements}}}\n"))
    assert len(found.applied) == 8 and found.source.text.count("1 / 2)") == 1


def test_only_some_codes():
    found = fixed(SourceText("parameters { real x; } model { x ~ normal(0, 1 / 2 + 1); }"), ["PPL009"])
    assert found.applied == ()


@pytest.mark.parametrize(("place", "text", "changed"), [
    ((1, 1, 1, 2), "x", "xb\ncd\n"), ((1, 3, 2, 1), " ", "ab cd\n"), ((2, 3, 2, 3), "!", "ab\ncd!\n"),
])  # fmt: skip
def test_a_fix_is_applied_at_its_place(place, text, changed):
    source = SourceText("ab\ncd\n")
    assert with_fixes(source.text, [Fix(Span(source, *place), text)]) == changed


def test_the_difference_is_a_patch(tmp_path):
    for ending in ("\n", ""):
        before, after = (SourceText(text.rstrip("\n") + ending, "m.model") for text in (CENTRED, NON_CENTRED))
        (tmp_path / "m.model").write_text(before.text)
        patch = difference(before, after)
        assert patch.startswith("--- m.model\n+++ m.model\n@@ ")
        subprocess.run(["patch", "-s", "m.model"], input=patch, text=True, cwd=tmp_path, check=True)
        assert (tmp_path / "m.model").read_text() == after.text
    assert difference(before, before) == ""


def test_the_command_shows_and_writes(run, tmp_path):
    (tmp_path / "c.model").write_text(CENTRED)
    status, out, err = run("fix", "c.model")
    assert status == 0 and "+  vector<offset=mu, multiplier=tau>[J] theta;\n" in out
    assert (
        err.startswith("c.model:11:3: PPL009: Declare it non-centred: `")
        and (tmp_path / "c.model").read_text() == CENTRED
    )
    status, _, err = run("fix", "c.model", "--write")
    assert status == 0 and "Wrote c.model." in err and (tmp_path / "c.model").read_text() == NON_CENTRED
    assert run("fix", "c.model") == (0, "", "c.model: no changes are proposed.\n")


@pytest.mark.parametrize(
    ("command", "statement"), [("fix", "increment_log_prob(-a ^ 2)"), ("format", "target += -a^2")]
)
def test_line_ends_and_the_byte_order_mark_remain(run, tmp_path, command, statement):
    text = f"\ufeffparameters {{ real a; }}\r\nmodel {{ {statement}; }}\r\n"
    (tmp_path / "w.stan").write_bytes(text.encode())
    run(command, "w.stan", "--write")
    after = (tmp_path / "w.stan").read_bytes().decode()
    assert after != text and after.startswith("\ufeffparameters") and after.endswith("}\r\n")
    assert after.count("\n") == after.count("\r\n") > 1


@pytest.mark.rotate
def test_findings_with_data_are_fixed_and_the_others_listed(run, tmp_path):
    text = "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; } "
    text += "model { m ~ normal(0, 9); s ~ exponential(1); y ~ normal(m, s); }"
    (tmp_path / "m.model").write_text(text)
    y, x = np.random.default_rng(1).normal(size=(2, 40))
    (tmp_path / "d.json").write_text(json.dumps({"N": 40, "y": [*(y + 2 * x)], "x": [*x]}))
    assert run("fix", "m.model") == (0, "", "m.model: no changes are proposed.\n")
    status, out, err = run("fix", "m.model", "--data", "d.json", "--codes", "PPL031")
    assert (status, out) == (0, "") and "PPL025: not changed: " in err
    ppl.compile_model("m.model").condition("d.json").variational(seed=1).save_csv("output.csv")
    at_fit = run("fix", "m.model", "--data", "d.json", "--fit", "output.csv")
    assert at_fit == run("fix", "m.model", "--data", "d.json") and "b_x * x" in at_fit[1]
    assert run("fix", "m.model", "--fit", "output.csv")[0] == 2
    status, out, err = run("fix", "m.model", "--data", "d.json", "--write")
    assert status == 0 and "Wrote m.model." in err and "PPL025: Declare `vector[N] x;` in data" in err
    changed = (tmp_path / "m.model").read_text()
    assert "s; real b_x; }" in changed and "y ~ normal(m + b_x * x, s);" in changed


def test_errors_without_a_fix_are_shown_and_the_status_is_1(run, tmp_path):
    (tmp_path / "bad.model").write_text("parameters { real x; } model { x ~ normal(0, y) }")
    status, out, err = run("fix", "bad.model")
    assert status == 1 and "normal(0, y); }" in out and "`y` is not declared" in err
    assert run("fix", "-", "--write")[0] == 2
