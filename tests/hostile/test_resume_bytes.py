"""A run resumed from any of its checkpoints ends in the bytes of one that was never interrupted."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.methods.recipes import RECIPES
from ppl.records import dataclass
from ppl.run import checkpoint
from ppl.run.state_json import decode, encode

MODELS = Path(ppl.__file__).parents[1] / "models"
SHORT = {"iter": 2000, "draws": 50, "move": False, "resample": False, "backend": "autograd"}
MOVED = {"draws": 200, "move": True, "backend": "autograd"}

PROGRAMS = (
    *("eight_schools", "weibull_poisson", "logistic_regression"),
    *("gaussian_mixture", "linear_regression_ard", "election88"),
)
ARD = {"linear_regression_ard": "w"}
ONLY = {"dsvi-ard": ARD, "nested": ("eight_schools", "linear_regression_ard", "election88")}
"""Programs of algorithms that do not apply to all."""
SAMPLED = {("eight_schools", name) for name in ("meanfield", "fullrank", "lowrank", "fixed-draws", "dsvi")}
"""What is run without --whole too."""
WITHOUT = {"laplace", "pathfinder", "optimize"}
"""Algorithms that are done before there is anything to keep."""
WITH_CHAINS = [
    ("eight_schools", "laplace"),
    ("weibull_poisson", "meanfield"),
    ("election88", "nested"),
]

CASES = [
    pytest.param(
        *(program, algorithm),
        marks=[] if (program, algorithm) in SAMPLED else pytest.mark.whole,
        id=f"{program}-{algorithm}",
    )
    for program in PROGRAMS
    for algorithm in RECIPES
    if algorithm not in WITHOUT and program in ONLY.get(algorithm, PROGRAMS)
]


@cache
def posterior_of(program):
    folder = MODELS / program
    return ppl.compile_model(folder / f"{program}.model").condition(folder / f"{program}.data.json")


@dataclass(frozen=True)
class Job:
    """A fit that keeps a checkpoint in a folder."""

    folder: Path
    program: str
    settings: dict

    def bytes(self, **more):
        fit = posterior_of(self.program).variational(checkpoint=self.folder / "kept", **self.settings, **more)
        fit.save_csv(self.folder / "out.csv")
        return (self.folder / "out.csv").read_bytes()

    def bytes_from(self, content):
        (self.folder / "kept").write_text(content)
        return self.bytes(resume=True)


@pytest.fixture
def versions(monkeypatch):
    """Every text that is written as a checkpoint."""
    written, write = [], checkpoint.write_whole

    def noted(path, lines):
        lines = list(lines)
        written.append("".join(lines))
        write(path, lines)

    monkeypatch.setattr(checkpoint, "write_whole", noted)
    return written


@pytest.mark.rotate
@pytest.mark.parametrize(("program", "algorithm"), CASES)
def test_every_checkpoint_resumes_to_the_same_bytes(program, algorithm, tmp_path, versions, sample, tried):
    more = {"ard": ARD[program]} if algorithm == "dsvi-ard" else {}
    job = Job(tmp_path, program, {**SHORT, "algorithm": algorithm, **more})
    whole = job.bytes(checkpoint_every=0)
    content = versions.copy()
    assert content
    chosen = sample(range(len(content)), 4)
    other = [k for k in chosen if job.bytes_from(content[k]) != whole]
    assert not other, f"{len(other)} of {len(chosen)} checkpoints give other bytes: {other}"
    tried("checkpoints resumed", len(chosen))


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("program", "algorithm"),
    [
        ("gaussian_mixture", "laplace"),
        *(pytest.param(*case, marks=pytest.mark.whole) for case in WITH_CHAINS),
    ],
)
def test_chains_go_on_from_their_last_stage(program, algorithm, tmp_path, versions, sample, tried):
    job = Job(tmp_path, program, {**MOVED, "algorithm": algorithm})
    whole = job.bytes(checkpoint_every=0)
    content = [text for text in versions if '"moves"' in text]
    assert content
    chosen = sample(range(len(content)), 2)
    assert [k for k in chosen if job.bytes_from(content[k]) != whole] == []
    tried("checkpoints resumed", len(chosen))


@pytest.mark.whole
@pytest.mark.parametrize("algorithm", ["meanfield", "fullrank", "lowrank", "dsvi", "ssvb"])
def test_so_does_every_checkpoint_of_a_run_under_jax(algorithm, tmp_path, versions, tried):
    pytest.importorskip("jax")
    job = Job(tmp_path, "eight_schools", {**SHORT, "algorithm": algorithm, "backend": "jax"})
    whole = job.bytes(checkpoint_every=0)
    content = versions.copy()
    assert content and [job.bytes_from(text) == whole for text in content] == [True] * len(content)
    tried("checkpoints resumed", len(content))


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2)])
def test_an_array_comes_back_in_the_order_of_its_axes_in_memory(axes):
    array = np.arange(24.0).reshape(2, 3, 4).transpose(axes)
    back = decode(json.loads(json.dumps(encode(array))))
    assert back.strides == array.strides and np.array_equal(back, array)


@pytest.mark.parametrize("number", [np.float64(-0.0), np.int32(7), np.bool_(True), np.float64(np.nan)])
def test_a_scalar_of_numpy_stays_one(number):
    back = decode(json.loads(json.dumps(encode(number))))
    assert type(back) is type(number) and back.tobytes() == number.tobytes()
