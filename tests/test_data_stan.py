"""Data files that Stan itself was shown: refused or accepted as it did, by the same variable's name.

The folder is the one that the environment variable PPL_SHARED names, or ../shared; without it all is skipped.
"""

import csv
import os
import re
from pathlib import Path

import pytest

from ppl import DataError, PPLError, compile_model

SHARED = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[2] / "shared"))
FOLDER = SHARED / "conformance" / "data_errors"
MANIFEST = FOLDER / "manifest.csv"

pytestmark = pytest.mark.skipif(not MANIFEST.exists(), reason="Stan's data files are not here")


def cases() -> list[dict[str, str]]:
    return list(csv.DictReader(MANIFEST.open(encoding="utf-8"))) if MANIFEST.exists() else []


@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in cases()])
def test_as_stan_does(case):
    model = compile_model(FOLDER / case["program"])
    path = FOLDER / f"{case['name']}.data.json"
    if case["expect"] == "accept":
        model.condition(path)
        return
    with pytest.raises(PPLError) as caught:
        model.condition(path)
    sentence = str(caught.value).replace(str(path), "")
    assert re.search(rf"\b{case['variable']}\b", sentence)
    assert isinstance(caught.value, DataError) or case["name"].startswith("tdata_")
