"""The model folders: complete, listed, and with data that their simulators reproduce byte for byte."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

MODELS = Path(__file__).parents[2] / "models"
FOLDERS = sorted(program.parent for program in MODELS.glob("*/*.model"))
SIMULATED = [folder for folder in FOLDERS if (folder / "simulate.py").exists()]
TYPED_IN = {
    "change_point",
    "eight_schools",
    "eight_schools_centred",
    "influenza_sir",
    "linear_regression",
    "weibull_poisson",
}
REFERENCED = [folder for folder in FOLDERS if (folder / f"{folder.name}.reference.json").exists()]
LARGEST_DATA_FILE = 30_000  # bytes


def name(folder: Path) -> str:
    return folder.name


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_folder_holds_program_and_data_under_its_own_name(folder):
    data_file = folder / f"{folder.name}.data.json"
    assert (folder / f"{folder.name}.model").read_text().startswith("//")
    assert isinstance(json.loads(data_file.read_text()), dict)
    assert data_file.stat().st_size < LARGEST_DATA_FILE


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_folder_has_one_row_in_the_readme(folder):
    rows = [line for line in (MODELS / "README.md").read_text().splitlines() if f"]({folder.name}/" in line]
    assert len(rows) == 1


def test_data_are_simulated_except_the_published_numbers():
    assert {folder.name for folder in FOLDERS} == TYPED_IN | {folder.name for folder in SIMULATED}


@pytest.mark.parametrize("folder", SIMULATED, ids=name)
def test_a_simulator_reproduces_its_data_byte_for_byte(folder, tmp_path):
    script = shutil.copy(folder / "simulate.py", tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    data_file = f"{folder.name}.data.json"
    assert (tmp_path / data_file).read_bytes() == (folder / data_file).read_bytes()


@pytest.mark.parametrize("folder", REFERENCED, ids=name)
def test_a_reference_gives_a_mean_and_a_positive_sd_for_each_column(folder):
    reference = json.loads((folder / f"{folder.name}.reference.json").read_text())
    assert reference["source"].startswith("Stan 2.35 NUTS, 4 chains of ")
    assert list(reference["mean"]) == list(reference["sd"])
    assert np.all(np.isfinite(list(reference["mean"].values())))
    assert np.all(np.array(list(reference["sd"].values())) > 0)
