"""What CmdStan's clients do not ask for, but its users do: several chains, single paths, warm starts."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from ppl.cmdstan.methods.pathfinder import PathfinderDraws, resampled
from ppl.cmdstan.methods.sample import Rejecting
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise.lbfgs_path import InverseHessian
from ppl.methods.initialise.pathfinder import Pathfinder
from ppl.optimise.watch import IN_DOMAIN
from ppl.results.files.config import text
from ppl.results.files.read_csv import read_draws
from tests.cmdstan.conftest import Executable, built
from tests.cmdstan.test_executable import rows

SAMPLE = "sample num_warmup=150 num_samples=100 data file=data.json"


def test_chains_have_files_of_their_own(bernoulli):
    (bernoulli.folder / "low.json").write_text('{"theta": 0.1}')
    (bernoulli.folder / "high.json").write_text('{"theta": 0.6}')
    words = SAMPLE.replace(" data", " num_chains=2 adapt save_metric=1 data")
    bernoulli(f"{words} id=3 init=low.json,high.json random seed=1")
    chains = [rows(bernoulli.read(f"output_{k}.csv"))[1] for k in (3, 4)]
    assert [len(chain) for chain in chains] == [100, 100] and (chains[0] != chains[1]).any()
    metric = json.loads(bernoulli.read("output_3_metric.json"))
    assert metric["metric_type"] == "diag_e" and len(metric["inv_metric"]) == 1 and metric["stepsize"] > 0
    lines = bernoulli.read("output_3.csv").splitlines()
    at = lines.index("# Adaptation terminated")
    assert lines[at - 1].startswith(
        "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__"
    )
    assert float(lines[at + 1].removeprefix("# Step size = ")) == metric["stepsize"]


def test_chains_take_names_with_commas(bernoulli):
    """CmdStan 2.37: one name a chain, of every file that chains write or read."""
    words = SAMPLE.replace(" data", " num_chains=2 adapt save_metric=1 data")
    bernoulli(
        f"{words} random seed=1 output file=a.csv,b.csv diagnostic_file=c.csv,d.csv save_cmdstan_config=1"
    )
    chains = [rows(bernoulli.read(f"{name}.csv"))[1] for name in "abcd"]
    assert [len(chain) for chain in chains] == [100] * 4 and (chains[0] != chains[1]).any()
    for name in "ab":
        assert set(json.loads(bernoulli.read(f"{name}_metric.json"))) == {
            "stepsize",
            "metric_type",
            "inv_metric",
        }
    config = json.loads(bernoulli.read("a_config.json"))
    assert config["output"]["file"] == "a.csv,b.csv" and config["method"]["sample"]["num_chains"] == 2
    words = "generate_quantities num_chains=2 fitted_params=a.csv,b.csv data file=data.json"
    bernoulli(f"{words} output file=e.csv,f.csv")
    thetas = [chain[:, 7] for chain in chains[:2]]
    odds = [rows(bernoulli.read(f"{name}.csv"))[1][:, 0] for name in "ef"]
    np.testing.assert_allclose(odds, [np.log(x / (1 - x)) for x in thetas], rtol=1e-9)
    complaint = bernoulli(f"{words} output file=e.csv,f.csv,g.csv", status=1).stderr
    assert "names 3 files; expected one, or 2" in complaint
    assert "overwrite" in bernoulli(f"{words} output file=e.csv,b.csv", status=1).stderr


@pytest.mark.parametrize("method", ["optimize", "pathfinder", "variational", "laplace", "sample"])
def test_the_configuration_as_json_says_what_the_comments_say(bernoulli, method):
    """The files from which clients make a fit again without reading the comments (CmdStanPy 2.0)."""
    (bernoulli.folder / "mode.json").write_text('{"theta": 0.25}')
    more = {
        "laplace": "mode=mode.json draws=20",
        "sample": "num_samples=20 num_warmup=20 adapt save_metric=1",
    }
    words = f"{method} {more.get(method, '')} data file=data.json random seed=1"
    bernoulli(f"{words} output save_cmdstan_config=1")
    config, comments = (
        json.loads(bernoulli.read("output_config.json")),
        read_draws(bernoulli.folder / "output.csv").config,
    )
    assert config["method"]["value"] == comments["method"] == method
    assert config["stan_major_version"] + "." + config["stan_minor_version"] == "2.39"
    leaves = [
        (name, value) for name, value in config["method"][method].items() if not isinstance(value, dict)
    ]
    assert (
        leaves
        and {f"method.{method}.{name}": text(value) for name, value in leaves}.items() <= comments.items()
    )


def test_a_chain_prints_the_lines_that_clients_read_its_progress_from(bernoulli):
    output = bernoulli(f"{SAMPLE} output refresh=75").stdout.splitlines()
    assert [line for line in output if "Iteration" in line] == [
        "Iteration:   1 / 250 [  0%]  (Warmup)",
        "Iteration:  75 / 250 [ 30%]  (Warmup)",
        "Iteration: 150 / 250 [ 60%]  (Warmup)",
        "Iteration: 151 / 250 [ 60%]  (Sampling)",
        "Iteration: 225 / 250 [ 90%]  (Sampling)",
        "Iteration: 250 / 250 [100%]  (Sampling)",
    ]
    assert "Iteration" not in bernoulli(f"{SAMPLE} output refresh=0").stdout
    words = SAMPLE.replace(" data", " num_chains=2 data")
    assert "Chain [2] Iteration: 250 / 250 [100%]  (Sampling)" in bernoulli(words).stdout


def test_generated_quantities_of_several_files(bernoulli):
    for k in (1, 2):
        bernoulli(f"variational iter=100 output_samples=5 data file=data.json id={k} output file=fit_{k}.csv")
    bernoulli("generate_quantities num_chains=2 fitted_params=fit.csv data file=data.json output file=gq.csv")
    found = [rows(bernoulli.read(f"gq_{k}.csv"))[1] for k in (1, 2)]
    assert found[0].shape == (6, 3) and (found[0] != found[1]).any()


def test_statistics_of_a_chain_belong_to_its_draws(bernoulli):
    bernoulli(f"{SAMPLE} random seed=1")
    header, table = rows(bernoulli.read())
    lp, theta = table[:, 0], table[:, header.index("theta")]
    np.testing.assert_allclose(lp, 3 * np.log(theta) + 9 * np.log(1 - theta), rtol=1e-9)  # with the Jacobian
    assert (table[:, header.index("energy__")] >= -lp - 1e-9).all()


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("metric", "title", "shape"),
    [
        ("diag_e", "# Diagonal elements of inverse mass matrix:", (8,)),
        ("dense_e", "# Elements of inverse mass matrix:", (8, 8)),
        ("unit_e", "# No free parameters for unit metric", None),
    ],
)
def test_a_file_says_the_metric_as_cmdstans_does(shapes, metric, title, shape):
    shapes(f"sample num_warmup=150 num_samples=10 algorithm=hmc metric={metric} random seed=1")
    lines = shapes.read().splitlines()
    at = lines.index("# Adaptation terminated")
    assert f"#         metric = {metric}" in shapes.read() and lines[at + 2] == title
    matrix = [line[2:].split(",") for line in lines[at + 3 :] if line.startswith("# ") and "," in line]
    if shape is not None:
        assert np.array(matrix, dtype=float).reshape(shape).all()
    assert bool(matrix) == (shape is not None)


def test_a_metric_and_a_step_size_may_be_given(bernoulli):
    (bernoulli.folder / "m_1.json").write_text('{"inv_metric": [0.5]}')
    (bernoulli.folder / "m_2.json").write_text('{"inv_metric": [0.25]}')
    words = "num_warmup=20 num_samples=20 num_chains=2 adapt engaged=0 algorithm=hmc"
    bernoulli(f"sample {words} metric_file=m.json stepsize=0.7 data file=data.json")
    for number, inverse in ((1, "# 0.5"), (2, "# 0.25")):
        text = bernoulli.read(f"output_{number}.csv")
        assert inverse in text.splitlines() and set(rows(text)[1][:, 2]) == {0.7}


@pytest.mark.parametrize(
    ("metric", "output"),
    [
        ("[1, 2]", "has shape (2,); expected (1,)"),
        ("[-1]", "is not positive definite"),
        ("1", "has shape ()"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(bernoulli, metric, output):
    (bernoulli.folder / "m.json").write_text(f'{{"inv_metric": {metric}}}')
    assert output in bernoulli("sample algorithm=hmc metric_file=m.json data file=data.json", status=1).stderr


def test_a_diagnostic_file_has_momenta_and_gradients(bernoulli):
    bernoulli(f"{SAMPLE} output diagnostic_file=latent.csv refresh=0 random seed=1")
    header, table = rows(bernoulli.read("latent.csv"))
    assert header[7:] == ["theta", "p_theta", "g_theta"] and len(table) == 100
    theta = 1 / (1 + np.exp(-table[:, 7]))
    np.testing.assert_allclose(table[:, 9], 3 - 12 * theta, atol=1e-8)
    np.testing.assert_array_equal(table[:, :7], rows(bernoulli.read())[1][:, :7])


def test_a_program_without_parameters_is_sampled_as_in_cmdstan(tmp_path):
    path = built(tmp_path, "none", "generated quantities { real z = normal_rng(0, 1); }")
    nothing = Executable(path, tmp_path)
    nothing("sample num_warmup=5 num_samples=7")
    header, table = rows(nothing.read())
    np.testing.assert_array_equal(table[:, :7], [[0, 1, np.nan, 1, 1, 0, 0]] * 7)
    assert header[7:] == ["z"] and len(set(table[:, 7])) == 7 and "# Step size = nan\n" in nothing.read()


def test_a_rejected_proposal_is_reported_once(tmp_path):
    path = built(
        tmp_path, "edge", 'parameters { real x; } model { if (x < 0) reject("below"); x ~ normal(0, 1); }'
    )
    output = Executable(path, tmp_path)("sample num_warmup=50 num_samples=50 random seed=1").stdout
    assert output.count("Exception: ") == 1 and "below" in output.partition("Exception: ")[2]


def test_a_density_that_is_zero_is_no_error(capsys):
    rejecting = Rejecting(None)
    rejecting.report(f"`bernoulli_lpmf` of 1, 0 is -inf, {IN_DOMAIN}.")
    assert capsys.readouterr().out == "" and rejecting.left
    rejecting.report("argument 2 of `normal_lpdf` is 0, but must be positive")
    assert "Exception: argument 2" in capsys.readouterr().out and not rejecting.left


def test_pathfinder_writes_single_paths_and_the_pool(bernoulli):
    words = "pathfinder num_paths=2 num_draws=30 num_psis_draws=40 save_single_paths=1"
    done = bernoulli(f"{words} data file=data.json random seed=2")
    assert "Pareto k-hat" in done.stdout
    singles = np.vstack([rows(bernoulli.read(f"output_path_{k}.csv"))[1][:, :4] for k in (1, 2)])
    header, pooled = rows(bernoulli.read())
    assert header[:4] == ["lp_approx__", "lp__", "path__", "theta"]
    assert pooled.shape[0] == 40 and (singles[:, 2] == np.repeat([1, 2], 30)).all()
    assert {tuple(row) for row in pooled[:, :4]} <= {tuple(row) for row in singles}
    bernoulli(f"{words} psis_resample=0 data file=data.json random seed=2")
    np.testing.assert_array_equal(rows(bernoulli.read())[1][:, :4], singles)


def test_draws_of_several_paths_are_weighted_against_their_mixture(capsys):
    """As algorithm pathfinder does: one narrow Gaussian among wide ones then has no weight without bound."""
    rng = np.random.default_rng(1)
    target = SimpleNamespace(log_density=lambda u: -0.5 * (u**2).sum(axis=1))
    paths, own = [], []
    for sd in (1.0, 0.05):
        curvature = InverseHessian(np.array([sd**2]), np.zeros((1, 0)), np.zeros((0, 0)))
        path = Pathfinder(np.zeros(1), curvature, 0.0, 1, np.zeros((0, 1)), np.zeros(0), np.zeros(0))
        u = path.sample(1000, rng)
        paths.append(path)
        own.append(PathfinderDraws(u, path.log_density(u), target.log_density(u), np.full(1000, sd)))
    pooled = PathfinderDraws(*map(np.concatenate, zip(*own, strict=True)))
    assert psis(pooled.log_p - pooled.log_q).khat > 0.7
    drawn = resampled(pooled, paths, 1000, rng)
    assert float(capsys.readouterr().out.split()[2].rstrip(";")) < 0.5
    np.testing.assert_allclose([drawn.u.mean(), drawn.u.std()], [0.0, 1.0], atol=0.1)


def test_pathfinders_densities_are_normalised(bernoulli):
    bernoulli("pathfinder num_paths=1 num_draws=4000 data file=data.json random seed=2")
    _, table = rows(bernoulli.read())
    log_q, u = table[:, 0], np.log(table[:, 3] / (1 - table[:, 3]))
    normal = -0.5 * ((u - u.mean()) / u.std()) ** 2 - np.log(u.std()) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_q, normal, atol=0.2)


def test_densities_need_not_be_evaluated(bernoulli):
    """Those of the draws that estimated the ELBO are known, as in CmdStan."""
    bernoulli("pathfinder num_paths=2 num_draws=5 num_elbo_draws=3 calculate_lp=0 data file=data.json")
    unknown = np.isnan(rows(bernoulli.read())[1][:, 1])
    np.testing.assert_array_equal(unknown, [False, False, False, True, True] * 2)


def test_a_path_whose_start_is_out_of_bounds_leaves_the_others(bernoulli):
    for k, theta in enumerate((0.1, 1.1), 1):
        (bernoulli.folder / f"init_{k}.json").write_text(json.dumps({"theta": theta}))
    done = bernoulli("pathfinder num_paths=2 init=init.json data file=data.json")
    assert "Path [2] failed: Error transforming variable theta: Bounded variable is 1.1\n" in done.stdout
    assert len(rows(bernoulli.read())[1]) == 1000


def test_what_has_no_effect_is_said(bernoulli):
    done = bernoulli("pathfinder init_alpha=0.1 data file=data.json num_threads=2 ppl start=random")
    assert "Note: num_threads, start: no effect here." in done.stdout
    assert "Note: init_alpha: no effect here." in done.stdout


def test_threads_are_cores(bernoulli):
    draws = []
    for threads in (1, 2):
        done = bernoulli(f"variational data file=data.json num_threads={threads} random seed=1 ppl runs=2")
        assert "num_threads" not in done.stdout.partition("Note")[2]
        draws.append(rows(bernoulli.read())[1])
    assert f"# num_threads = {threads}\n" in bernoulli.read()
    np.testing.assert_array_equal(*draws)


def test_a_missing_folder_is_told_before_the_run(bernoulli):
    done = bernoulli("variational data file=data.json output file=none/o.csv", status=1)
    assert done.stdout == "" and done.stderr == "Exception: There is no folder none to write file in.\n"


def test_an_initial_file_that_names_no_parameter_is_refused(bernoulli):
    (bernoulli.folder / "init.json").write_text('{"thteta": 0.5}')
    assert (
        "name no parameter of the program; it has theta"
        in bernoulli("optimize data file=data.json init=init.json", status=1).stderr
    )


def test_a_fit_in_the_layout_of_sample(bernoulli):
    bernoulli("variational iter=100 output_samples=9 data file=data.json ppl format=sample")
    text = bernoulli.read()
    assert "# method = sample (Default)\n" in text and "#     algorithm = fixed_param\n" in text
    assert rows(text)[1].shape == (9, 7) and "#  Elapsed Time: " in text


def test_static_integration_is_refused_by_name(bernoulli):
    output = bernoulli("sample algorithm=hmc engine=static data file=data.json", status=1)
    assert "engine=static is unsupported" in output.stderr


def test_a_run_without_draws_leaves_its_adaptation(bernoulli):
    bernoulli("sample num_warmup=20 num_samples=0 data file=data.json random seed=1")
    text = bernoulli.read()
    assert "# Step size = " in text and [line for line in text.splitlines() if line[:1] not in "#l"] == []


@pytest.mark.parametrize("backend", ["autograd", "jax"])
def test_sample_takes_the_backend_that_is_asked_for_and_writes_stans_lp(bernoulli, backend):
    pytest.importorskip(backend)
    run = "sample num_warmup=100 num_samples=50 data file=data.json random seed=3"
    output = bernoulli(f"{run} ppl backend={backend}")
    assert "no effect" not in output.stdout
    names, table = rows(bernoulli.read())
    theta, lp, energy = (table[:, names.index(name)] for name in ("theta", "lp__", "energy__"))
    np.testing.assert_allclose(
        lp, 3 * np.log(theta) + 9 * np.log1p(-theta), rtol=1e-9
    )  # 2 of 10, and Jacobian
    assert (energy >= -lp - 1e-9).all()
