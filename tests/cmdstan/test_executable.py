"""The executable: its exit status, its words, its files."""

import json
import subprocess
from functools import partial

import numpy as np
import pytest

from ppl.cmdstan.build import build

HEAD = """\
# stan_version_major = 2
# stan_version_minor = 39
# stan_version_patch = 0
# model = bernoulli_model
"""
TREE = """\
# method = optimize
#   optimize
#     algorithm = lbfgs (Default)
#       lbfgs
#         init_alpha = 0.001 (Default)
#         tol_obj = 1e-12 (Default)
#         tol_rel_obj = 10000 (Default)
#         tol_grad = 1e-08 (Default)
#         tol_rel_grad = 10000000 (Default)
#         tol_param = 1e-08 (Default)
#         history_size = 5 (Default)
#     jacobian = false (Default)
#     iter = 30
#     save_iterations = false (Default)
# id = 1 (Default)
# data
#   file = data.json
# init = 0
# random
#   seed = 5
# output
#   file = output.csv (Default)
#   diagnostic_file =  (Default)
#   refresh = 100 (Default)
#   sig_figs = 6
#   profile_file = profile.csv (Default)
#   save_cmdstan_config = true
# num_threads = 1 (Default)
# ppl
"""


def rows(text):
    lines = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    return lines[0], np.array(lines[1:], dtype=float)


def test_info_and_help(bernoulli):
    assert "stan_version_major = 2" in bernoulli("info").stdout
    assert bernoulli("help").stdout.startswith("Usage: ")
    assert "tol_rel_obj=<double>" in bernoulli("variational help-all").stdout
    assert bernoulli("", status=1).stdout.startswith("Usage: ")


def test_misuse_ends_with_1_and_says_why_on_stderr(bernoulli):
    done = bernoulli("variational itr=3", status=1)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "itr=3 is either mistyped or misplaced.",
        "Failed to parse command arguments, cannot run model.",
    ]


def test_optimize_writes_cmdstans_bytes(bernoulli):
    bernoulli(
        "optimize iter=30 data file=data.json init=0 random seed=5 output sig_figs=6 save_cmdstan_config=1"
    )
    text = bernoulli.read()
    assert text.startswith(HEAD) and TREE in text
    header, table = rows(text)
    assert header[:4] == ["lp__", "converged__", "theta", "log_odds"]
    np.testing.assert_allclose(table[0, :4], [-5.00402, 31, 0.2, np.log(0.25)], rtol=1e-5)
    assert text.endswith("\n# Convergence detected: relative gradient magnitude is below tolerance\n")
    config = json.loads(bernoulli.read("output_config.json"))
    assert config["model_name"] == "bernoulli_model" and config["stan_minor_version"] == "39"
    assert config["method"]["optimize"]["algorithm"]["lbfgs"]["history_size"] == 5
    assert config["method"]["value"] == "optimize" and config["output"]["save_cmdstan_config"] is True


@pytest.mark.parametrize("algorithm", ["lbfgs", "bfgs", "newton"])
def test_every_optimiser_finds_the_mode(bernoulli, algorithm):
    bernoulli(
        f"optimize algorithm={algorithm} jacobian=1 save_iterations=1 data file=data.json random seed=2"
    )
    _, table = rows(bernoulli.read())
    assert len(table) > 2 and (np.diff(table[:, 0]) > -1e-9).all()
    np.testing.assert_allclose(table[-1, 2], 3 / 12, rtol=1e-5)  # the mode of logit(theta) | y
    assert not table[:-1, 1].any() and table[-1, 1] in (10, 20, 21, 30, 31)


def test_variational_has_its_lines_in_order(bernoulli):
    run = "variational iter=200 output_samples=7 data file=data.json random seed=1 ppl start=random"
    done = bernoulli(f"{run} output diagnostic_file=elbo.csv")
    assert "  iter             ELBO   delta_ELBO_mean   delta_ELBO_med   notes" in done.stdout
    assert done.stdout.rstrip().endswith("COMPLETED.")
    lines = bernoulli.read().splitlines()
    header = lines.index("lp__,log_p__,log_g__,theta,log_odds,y_rep.1,y_rep.2")
    assert lines[header + 1] == "# Stepsize adaptation complete." and lines[header + 2].startswith("# eta = ")
    assert lines[header + 3].startswith("0,0,0,0.") and len(lines) == header + 3 + 1 + 7
    assert "#       engaged = true (Default)" in lines and "#     output_samples = 7" in lines
    assert rows(bernoulli.read("elbo.csv").replace("iter,", "#iter,"))[0][0] == "100"


def test_a_run_that_did_not_converge_says_the_sentence_that_clients_look_for(bernoulli):
    plain = "ppl start=random refine=0 average=0"
    done = bernoulli(f"variational iter=1 eta=1e-6 adapt engaged=0 data file=data.json {plain}")
    assert "The algorithm may not have converged." in done.stdout
    assert rows(bernoulli.read())[1].shape == (1001, 7)


def test_the_same_seed_draws_the_same_and_another_id_others(bernoulli):
    run = "pathfinder num_draws=20 num_psis_draws=20 data file=data.json random seed=9"
    found = []
    for words in (run, run, f"{run} id=2"):
        bernoulli(words)
        found.append(rows(bernoulli.read())[1])
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


def test_log_prob_at_constrained_and_unconstrained_points(bernoulli):
    (bernoulli.folder / "c.json").write_text('{"theta": 0.25}')
    u = float(np.log(0.25 / 0.75))
    (bernoulli.folder / "u.json").write_text(json.dumps({"params_r": [[u], [0.0]]}))
    bernoulli("log_prob constrained_params=c.json data file=data.json output sig_figs=18")
    header, constrained = rows(bernoulli.read())
    bernoulli("log_prob unconstrained_params=u.json data file=data.json output sig_figs=18")
    _, unconstrained = rows(bernoulli.read())
    assert header == ["lp__", "g_theta"]
    np.testing.assert_allclose(constrained[0], unconstrained[0], atol=1e-12)
    np.testing.assert_allclose(unconstrained[:, 1], [0.0, 3 - 12 / 2], atol=1e-12)
    bernoulli("log_prob constrained_params=c.json jacobian=0 data file=data.json output sig_figs=18")
    without = rows(bernoulli.read())[1]
    np.testing.assert_allclose(constrained[0, 0] - without[0, 0], np.log(0.25 * 0.75), rtol=1e-12)


def test_log_prob_writes_eight_digits_unless_told_otherwise(bernoulli):
    (bernoulli.folder / "c.json").write_text('{"theta": 0.34903938392023830482}')
    bernoulli("log_prob constrained_params=c.json data file=data.json")
    assert bernoulli.read().splitlines()[-1] == "-7.0214668,-1.1884726"


def test_a_parameter_that_is_missing_is_named_in_stans_words(bernoulli):
    (bernoulli.folder / "c.json").write_text('{"not_here": 0.1}')
    output = bernoulli("log_prob constrained_params=c.json data file=data.json", status=1).stderr
    assert output.startswith("Exception: variable does not exist; variable name=theta\n")


def test_log_prob_needs_one_file_of_points(bernoulli):
    assert "either unconstrained_params" in bernoulli("log_prob data file=data.json", status=1).stderr


def test_laplace_is_the_gaussian_at_the_mode(bernoulli):
    bernoulli("optimize jacobian=1 data file=data.json random seed=1 output file=mode.csv sig_figs=18")
    text = (bernoulli.folder / "mode.csv").read_text()
    _, ((_, converged, theta, *_),) = rows(text)
    np.testing.assert_allclose(theta, 0.25, atol=1e-5)  # as near as tol_rel_grad asks
    bernoulli("laplace mode=mode.csv draws=4000 data file=data.json random seed=1")
    header, table = rows(bernoulli.read())
    assert header[:3] == ["log_p__", "log_q__", "theta"]
    mode = np.log(theta / (1 - theta))
    sd = (12 * theta * (1 - theta)) ** -0.5  # of 3 u - 12 log(1 + e^u), the log density
    u = np.log(table[:, 2] / (1 - table[:, 2]))
    np.testing.assert_allclose([u.mean(), u.std()], [mode, sd], atol=0.03)
    np.testing.assert_allclose(table[:, 1], -0.5 * ((u - mode) / sd) ** 2, atol=1e-5)
    before = text.replace("lp__,converged__,", "lp__,").replace(f",{converged:.0f},", ",")
    (bernoulli.folder / "mode.csv").write_text(before.rpartition("# ")[0])  # as CmdStan wrote it before 2.39
    bernoulli("laplace mode=mode.csv draws=4000 data file=data.json random seed=1")
    np.testing.assert_array_equal(rows(bernoulli.read())[1], table)


def test_laplace_without_a_mode_is_refused(bernoulli):
    assert "expecting filename" in bernoulli("laplace data file=data.json", status=1).stderr


def test_generated_quantities_follow_the_draws(bernoulli):
    bernoulli("variational iter=100 output_samples=5 data file=data.json output file=fit.csv")
    bernoulli("generate_quantities fitted_params=fit.csv data file=data.json")
    (names, table), (_, fit) = rows(bernoulli.read()), rows(bernoulli.read("fit.csv"))
    assert names == ["log_odds", "y_rep.1", "y_rep.2"] and len(table) == 6
    np.testing.assert_allclose(table[:, 0], np.log(fit[:, 3] / (1 - fit[:, 3])), rtol=1e-9)


def test_diagnose_compares_every_parameter(shapes):
    done = shapes("diagnose random seed=1")
    assert "TEST GRADIENT MODE" in done.stdout
    table = [line.split() for line in shapes.read().splitlines() if line.startswith("# ")][-8:]
    assert [int(row[1]) for row in table] == list(range(8))
    assert shapes("diagnose test=gradient epsilon=0.5 error=1e-9 random seed=1", status=1)


def test_tuples_and_matrices_are_named_as_in_stan(shapes):
    shapes("optimize random seed=1")
    header, _ = rows(shapes.read())
    assert header[2:] == ["mu", "M.1.1", "M.2.1", "M.1.2", "M.2.2", "t:1", "t:2.1", "t:2.2"]


def test_a_run_may_begin_at_a_file_that_names_some_parameters(shapes):
    (shapes.folder / "init.json").write_text('{"M": [[1, 2], [3, 4]]}')
    shapes("optimize iter=1 save_iterations=1 init=init.json random seed=1")
    header, table = rows(shapes.read())
    first = dict(zip(header, table[0], strict=True))
    assert [first[name] for name in ("M.1.1", "M.2.1", "M.1.2")] == [1, 3, 2]
    assert 0 < abs(first["mu"]) < 2 and 0 < abs(np.log(first["t:1"])) < 2 and first["t:2.1"] != first["t:2.2"]


def test_given_tuples_are_kept(shapes):
    (shapes.folder / "init.json").write_text('{"mu": 2.5, "t": {"1": 0.5, "2": [1, 2]}}')
    shapes("optimize iter=1 save_iterations=1 init=init.json random seed=1")
    header, table = rows(shapes.read())
    first = dict(zip(header, table[0], strict=True))
    assert (first["mu"], first["t:1"], first["t:2.2"]) == (2.5, pytest.approx(0.5), 2.0)
    assert 0 < abs(first["M.1.1"]) < 2 and first["M.1.1"] != first["M.2.2"]


def test_profile_file(bernoulli):
    bernoulli("optimize data file=data.json output profile_file=profile.csv")
    header, line = bernoulli.read("profile.csv").splitlines()
    found = dict(zip(header.split(","), line.split(","), strict=True))
    assert found["name"] == "prior" and float(found["total_time"]) > 0 and int(found["autodiff_calls"]) > 2
    assert 0 < float(found["reverse_time"]) < float(found["total_time"]) and int(found["chain_stack"]) > 2


def test_bad_data_names_the_variable(bernoulli):
    (bernoulli.folder / "bad.json").write_text('{"N": 2}')
    done = bernoulli("optimize data file=bad.json", status=1)
    assert done.stderr.startswith("Exception: ") and "`y` is missing" in done.stderr
    assert bernoulli("optimize data file=none.json", status=1).stderr.startswith(("Exception", "Error"))


@pytest.mark.rotate
def test_the_script_runs_by_itself_with_its_source_gone(bernoulli, tmp_path):
    source, target = tmp_path / "gone.stan", tmp_path / "script"
    source.write_text(bernoulli.path.with_suffix(".stan").read_text() + '// "quoted" \\n """\n')
    build(source, source.read_text(), target)
    source.unlink()
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run([target, "optimize", "data", "file=data.json"]).returncode == 0
    assert "# model = script_model" in (tmp_path / "output.csv").read_text()
    refused = run([target, "optimise"])
    assert refused.returncode == 1 and refused.stderr.startswith("optimise is either mistyped or misplaced.")


def test_included_files_go_into_the_script(tmp_path):
    (tmp_path / "half.stan").write_text("real half(real x) { return x / 2; }\n")
    source = tmp_path / "model.stan"
    source.write_text(
        "functions {\n#include half.stan\n}\nparameters { real x; } model { x ~ normal(half(4), 1); }\n"
    )
    build(source, source.read_text(), tmp_path / "model")
    script = (tmp_path / "model").read_text()
    assert "#include" not in script and "return x / 2" in script


def test_the_algorithm_that_is_named_gives_draws_of_its_q_and_the_default_corrects(bernoulli):
    run = "variational output_samples=50 data file=data.json random seed=1"
    output = bernoulli(f"{run} output file=auto.csv").stdout
    assert "Verdict: good: the draws were importance-resampled from a mixture of Gaussians" in output
    named = bernoulli(run.replace("variational", "variational algorithm=meanfield")).stdout
    assert "Verdict: good: the draws are those of a q close to the posterior" in named
    of_q, corrected = bernoulli.read().splitlines(), bernoulli.read("auto.csv").splitlines()
    for lines, algorithm, made in (
        (of_q, "meanfield", "of q"),
        (corrected, "auto", "resampled from a mixture"),
    ):
        assert f"# fit_algorithm = {algorithm}" in lines and f"# fit_draws = {made}" in lines
        family = next(line for line in lines if line.startswith("# fit_family = ")).split()[-1]
        assert any(line.startswith(f"#     algorithm = {family}") for line in lines)
    # Draws of the posterior follow p itself; those of q do not.
    _, drawn = rows(bernoulli.read())
    assert np.ptp(drawn[1:, 1] - drawn[1:, 2]) > 0.01
    _, drawn = rows(bernoulli.read("auto.csv"))
    np.testing.assert_array_equal(drawn[1:, 1], drawn[1:, 2])
