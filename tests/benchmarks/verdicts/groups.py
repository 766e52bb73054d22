"""The table of all that is fitted."""

from tests.benchmarks.verdicts.case import Group
from tests.benchmarks.verdicts.held_out import HELD_OUT
from tests.benchmarks.verdicts.latent import LATENT
from tests.benchmarks.verdicts.made_to_fail import MADE_TO_FAIL
from tests.benchmarks.verdicts.referenced import MODELS_WITH_REFERENCE, REFERENCES
from tests.benchmarks.verdicts.simulated import SIMULATED

GROUPS: dict[str, Group] = {
    "references": REFERENCES,
    "models": MODELS_WITH_REFERENCE,
    "simulated": SIMULATED,
    "made-to-fail": MADE_TO_FAIL,
    "latent": LATENT,
    "held-out": HELD_OUT,
}
