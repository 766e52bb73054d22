"""Type checkers know the settings of a fit, and Python does at run time."""

import inspect
import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import ppl
from ppl.errors import UnknownSetting
from ppl.methods.run.setting import settings_of
from ppl.methods.run.settings import SampleSettings, Settings
from ppl.run.keywords import RUN_OPTIONS

ROOT = Path(__file__).parents[1]
SCRIPT = Path(__file__).with_name("typed_script.py")
WRONG = {
    number: line.partition("  # wrong: ")[2]
    for number, line in enumerate(SCRIPT.read_text().splitlines(), 1)
    if "  # wrong: " in line
}
POSTERIOR = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }").condition({})
METHODS = ["variational", "optimize", "laplace", "pathfinder"]


def checked_by_pyright(folder):
    """What it says of the Python files in a folder."""
    (folder / "pyrightconfig.json").write_text(
        json.dumps(
            {"extraPaths": [str(ROOT)], "typeCheckingMode": "strict", "enableTypeIgnoreComments": False}
        )
    )
    command = ["pyright", "--pythonpath", sys.executable, "-p", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600).stdout


needs_pyright = pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")


@needs_pyright
def test_pyright_knows_every_setting(tmp_path):
    shutil.copy(SCRIPT, tmp_path)
    found = re.findall(rf"{SCRIPT.name}:(\d+):\d+ - error: (.*)", checked_by_pyright(tmp_path))
    assert {int(number) for number, _ in found} == set(WRONG)
    assert all(WRONG[int(number)] in message for number, message in found)


@needs_pyright
def test_pyright_shows_the_defaults(tmp_path):
    """As an editor does in a tooltip, where `num_chains: int = 4` is of use and `setting(...)` is not."""
    lines = ["import ppl", *(f"reveal_type(ppl.Posterior.{name})" for name in [*METHODS, "sample"])]
    (tmp_path / "shown.py").write_text("\n".join(lines))
    output = checked_by_pyright(tmp_path)
    assert "num_chains: int = 4" in output and "iter: int = 10000" in output
    assert "setting(" not in output and "same(" not in output


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_the_names_types_and_defaults_of_the_table(method):
    function = getattr(ppl.Posterior, method)
    parameters, known = inspect.signature(function).parameters, settings_of(Settings)
    types = {f.name: f.type for f in fields(Settings)}
    own = [name for name in parameters if name not in ("self", *RUN_OPTIONS)]
    assert set(own) <= set(known) and (method != "variational" or set(own) == set(known))
    for name in own:
        assert parameters[name].default == known[name].default
        assert parameters[name].annotation == types[name]
        assert re.search(rf"^    {name} \(", function.__doc__, re.M)


def test_the_sampler_has_the_names_types_and_defaults_of_its_table():
    parameters, known = inspect.signature(ppl.Posterior.sample).parameters, settings_of(SampleSettings)
    types = {f.name: f.type for f in fields(SampleSettings)}
    own = {name: p for name, p in parameters.items() if name not in ("self", *RUN_OPTIONS)}
    assert {name: (p.default, p.annotation) for name, p in own.items()} == {
        name: (setting.default, types[name]) for name, setting in known.items()
    }


@pytest.mark.parametrize("method", [*METHODS, "sample"])
def test_a_keyword_that_is_no_setting_is_refused_with_the_nearest(method):
    with pytest.raises(
        UnknownSetting, match=rf"{method}\(\) has no setting `sed`; did you mean seed\?"
    ) as it:
        getattr(POSTERIOR, method)(sed=1)
    assert isinstance(it.value, TypeError) and isinstance(it.value, ppl.InferenceError)
    assert (it.value.setting, it.value.near) == ("sed", "seed")


@pytest.mark.parametrize(
    ("method", "name", "near"),
    [
        ("variational", "samples", "draws"),
        ("variational", "time_limit", "timeout"),
        ("pathfinder", "num_paths", "runs"),
        ("sample", "draws", "num_samples"),
    ],
)
def test_names_of_other_tools_and_methods_have_their_counterpart(method, name, near):
    with pytest.raises(UnknownSetting) as it:
        getattr(POSTERIOR, method)(**{name: 1})
    assert it.value.near == near


def test_every_keyword_that_is_no_setting_is_told_with_its_value():
    with pytest.raises(UnknownSetting) as it:
        POSTERIOR.sample(chains=4, iter_warmup=500, refresh=100, metric="dense_e", data={}, seeed=1)
    assert [line.partition("; ")[2] for line in str(it.value).splitlines()] == [
        "write num_chains=4.",
        "write num_warmup=500.",
        "write progress=True.",
        "the warmup adapts it, and it is diagonal.",
        "the data go to model.condition(data).",
        "did you mean seed?",
    ]


def test_one_like_nothing_is_refused_with_all_there_are():
    with pytest.raises(TypeError, match=r"has no setting `zzz`; it has .*seed"):
        POSTERIOR.pathfinder(zzz=1)


def test_a_setting_of_another_algorithm_is_refused():
    with pytest.raises(TypeError, match="has no setting `iter`"):
        POSTERIOR.optimize(iter=10)


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_method_is_its_algorithm(method):
    by_name = POSTERIOR.variational(algorithm=method, seed=2, draws=5)
    assert (getattr(POSTERIOR, method)(seed=2, draws=5).draws() == by_name.draws()).all()
