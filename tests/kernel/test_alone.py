"""The kernel works without the rest of the package, and finds what the whole finds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ppl import compile_model

MODELS = Path(__file__).parents[2] / "models"
SHORT = {"iter": 60, "adapt_iter": 10, "eval_elbo": 20, "draws": 20, "elbo_samples": 20}
pytestmark = pytest.mark.filterwarnings("ignore::ppl.PoorFitWarning")
NAMES = ("eight_schools", "linear_regression", "logistic_regression")
BELOW = (
    "advice arrays cache errors files floats grammar kernel late memory printable records scalars source "
    "spelling stdlib triangular types"
).split()
ALONE = f"""
import json, sys
from pathlib import Path

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("ppl.") and name.split(".")[1] not in {BELOW}:
            raise ImportError(f"{{name}} is absent")

sys.meta_path.insert(0, Absent())
from ppl.kernel.advi.algorithm_1 import Settings
from ppl.kernel.variational import variational

for name in {NAMES}:
    text, data = (Path(sys.argv[1], name, f"{{name}}.{{end}}").read_text() for end in ("model", "data.json"))
    for algorithm in ("meanfield", "fullrank"):
        draws = variational(text, json.loads(data), algorithm, Settings(**{SHORT}))
        Path(sys.argv[2], f"{{name}}.{{algorithm}}.csv").write_text("".join(draws.csv_lines()))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that the kernel writes where every other package of the house is absent."""
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run([sys.executable, "-c", ALONE, str(MODELS), str(folder)], check=True)
    return folder


def table(path):
    """Names of columns and rows, without the generated quantities, whose random numbers differ."""
    header, *rows = (line for line in path.read_text().splitlines() if line[0] != "#")
    names = header.split(",")
    kept = [k for k, name in enumerate(names) if not name.startswith("y_rep")]
    return [names[k] for k in kept], np.array([row.split(",") for row in rows], dtype=float)[:, kept]


@pytest.mark.rotate("folder")
@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_finds_what_the_whole_finds(name, folder, tmp_path):
    posterior = compile_model(MODELS / name / f"{name}.model").condition(
        json.loads((MODELS / name / f"{name}.data.json").read_text())
    )
    for algorithm in ("meanfield", "fullrank"):
        fit = posterior.variational(algorithm=algorithm, start="random", refine=False, average=False, **SHORT)
        fit.save_csv(tmp_path / "whole.csv")
        (names, rows), (alone, own) = table(tmp_path / "whole.csv"), table(folder / f"{name}.{algorithm}.csv")
        assert names == alone
        np.testing.assert_allclose(own, rows, rtol=1e-12, atol=1e-12)
