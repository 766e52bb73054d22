"""Programs with long runs of NUTS: those of the conformance pack, and those of models/ that have one.

The other models are symmetric under a relabelling or a rotation, and have no reference.
"""

import math
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.errors import read_reference
from tests.benchmarks.verdicts.case import Case, Group, Known

# Scales with Cauchy priors that the data leave free have no mean and no sd, like these; nor has c2_raw an sd,
# of which large values leave the likelihood as it is, so that it has the tail of its inv_gamma(2, 2).
WITHOUT_MOMENTS = {"horseshoe_regularised": ("lambda.", "c2_raw")}
ROOT = Path(__file__).parents[3]
PACK = ROOT / "tests" / "conformance" / "programs"
MODELS = ROOT / "models"


def of_pack(name: str, seed: int) -> Case:
    return _case(PACK / f"{name}.stan")


def of_models(name: str, seed: int) -> Case:
    return _case(MODELS / name / f"{name}.model")


def _case(program: Path) -> Case:
    reference = dict(read_reference(program.with_suffix(".reference.json")))
    for name in reference:
        if name.startswith(WITHOUT_MOMENTS.get(program.stem, ())):
            reference[name] = replace(reference[name], mean=math.nan, sd=math.nan)
    return Case(program, program.with_suffix(".data.json"), Known(reference))


def _names(folder: Path, pattern: str) -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(".reference.json") for path in folder.glob(pattern)))


REFERENCES = Group(_names(PACK, "*.reference.json"), of_pack)
MODELS_WITH_REFERENCE = Group(_names(MODELS, "*/*.reference.json"), of_models)
