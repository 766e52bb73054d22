"""Two programs built as executables, and the data of one of them."""

import ast
import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from ppl.cmdstan.build import build
from ppl.cmdstan.main import main
from ppl.records import dataclass

BERNOULLI = """\
data {
  int<lower=0> N;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real<lower=0, upper=1> theta;
}
model {
  profile("prior") {
    theta ~ beta(1, 1);
  }
  y ~ bernoulli(theta);
}
generated quantities {
  real log_odds = logit(theta);
  array[2] int y_rep = bernoulli_rng(rep_vector(theta, 2));
}
"""
SHAPES = """\
parameters {
  real mu;
  matrix[2, 2] M;
  tuple(real<lower=0>, vector[2]) t;
}
model {
  mu ~ normal(3, 0.1);
  to_vector(M) ~ normal(0, 1);
  t.1 ~ exponential(1);
  t.2 ~ normal(t.1, 1);
}
"""
DATA = {"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}


class Output(NamedTuple):
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Executable:
    """A built program, run in a folder of its own; in this process, which has everything imported."""

    path: Path
    folder: Path

    def __call__(self, words: str, status: int = 0) -> Output:
        out, err = io.StringIO(), io.StringIO()
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            source = self.path.with_suffix(".stan")
            found = main(self.path.name, source, [str(self.path), *words.split()], compiled_in(self.path))
        assert found == status, out.getvalue() + err.getvalue()
        return Output(out.getvalue(), err.getvalue())

    def read(self, name: str = "output.csv") -> str:
        return (self.folder / name).read_text()


def compiled_in(script: Path) -> str:
    """What `ppl build` kept of the compilation."""
    (line,) = (line for line in script.read_text("utf-8").splitlines() if line.startswith("COMPILED = "))
    return ast.literal_eval(line.removeprefix("COMPILED = "))


def built(folder: Path, name: str, text: str) -> Path:
    source, target = folder / f"{name}.stan", folder / name
    source.write_text(text)
    build(source, source.read_text(), target)
    return target


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    (folder / "data.json").write_text(json.dumps(DATA))
    return {"bernoulli": built(folder, "bernoulli", BERNOULLI), "shapes": built(folder, "shapes", SHAPES)}


@pytest.fixture
def bernoulli(programs, tmp_path):
    (tmp_path / "data.json").write_text(json.dumps(DATA))
    return Executable(programs["bernoulli"], tmp_path)


@pytest.fixture
def shapes(programs, tmp_path):
    return Executable(programs["shapes"], tmp_path)
