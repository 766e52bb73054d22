"""Two programs built as executables, and the data of one of them."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppl.cmdstan.build import build

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


@dataclass(frozen=True)
class Executable:
    """A built program, run in a folder of its own."""

    path: Path
    folder: Path

    def __call__(self, words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self.path), *words.split()], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def read(self, name: str = "output.csv") -> str:
        return (self.folder / name).read_text()


def built(folder: Path, name: str, text: str) -> Path:
    source, target = folder / f"{name}.stan", folder / name
    source.write_text(text)
    build(source, text, target)
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
