"""Programs with long runs of NUTS: those of the conformance pack, and those of models/ that have one.

The other models are symmetric under a relabelling or a rotation, and have no reference.
"""

from pathlib import Path

from tests.benchmarks.errors import read_reference
from tests.benchmarks.verdicts.case import Case, Group, Known

ROOT = Path(__file__).parents[3]
PACK = ROOT / "tests" / "conformance" / "programs"
MODELS = ROOT / "models"


def of_pack(name: str, seed: int) -> Case:
    return _case(PACK / f"{name}.stan")


def of_models(name: str, seed: int) -> Case:
    return _case(MODELS / name / f"{name}.model")


def _case(program: Path) -> Case:
    reference = read_reference(program.with_suffix(".reference.json"))
    return Case(program, program.with_suffix(".data.json"), Known(reference))


def _names(folder: Path, pattern: str) -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(".reference.json") for path in folder.glob(pattern)))


REFERENCES = Group(_names(PACK, "*.reference.json"), of_pack)
MODELS_WITH_REFERENCE = Group(_names(MODELS, "*/*.reference.json"), of_models)
