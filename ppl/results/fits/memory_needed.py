"""How much memory a fit will take, asked before it begins."""

from dataclasses import dataclass

from ppl.density.posterior import Posterior
from ppl.errors import InferenceError
from ppl.inference.initialise.lbfgs_path import LBFGS_PATH
from ppl.inference.run.settings import Settings
from ppl.memory import ARRAY_SIZES, available, in_bytes

MATRICES = {"fullrank": 6, "ssvb": 6, "dsvi": 6, "laplace": 4}
"""Matrices (dim, dim) in memory at once: of the factor of q, its slopes, what a step remembers."""


@dataclass(frozen=True)
class MemoryModel:
    """What a fit holds in memory."""

    copies: int = 2
    """How often the draws are there at once: as they were made, and what is being computed of them."""

    of_a_column: int = 64
    """Numbers that would take the memory of a column's name, its summary and its text."""

    of_a_dimension: int = 400
    """Numbers for each dimension that the paths of the start take, where they are of a usual length."""


MEMORY_NEEDED = MemoryModel()


def require_memory(posterior: Posterior, settings: Settings) -> None:
    """Refuse a fit that would take more memory than there is.

    Raises:
        InferenceError: it would; the message says what it needs, what there is and what to do.
    """
    numbers = numbers_of(posterior, settings)
    if numbers > ARRAY_SIZES.unchecked and (there := available()) < ARRAY_SIZES.number * numbers:
        raise InferenceError(sentence(posterior, settings, ARRAY_SIZES.number * numbers, there), "PPL977")


def numbers_of(posterior: Posterior, settings: Settings) -> int:
    """How many numbers a fit has in memory at once, about, beside the data and one evaluation."""
    dim, columns = posterior.param_unc_num(), columns_of(posterior)
    draws = max(settings.draws, settings.elbo_samples)
    paths = min(LBFGS_PATH.most_numbers, MEMORY_NEEDED.of_a_dimension * dim)
    return (
        MEMORY_NEEDED.copies * draws * dim + draws * columns + MEMORY_NEEDED.of_a_column * columns
        + paths + MATRICES.get(settings.algorithm, 0) * dim**2
    )  # fmt: skip


def columns_of(posterior: Posterior) -> int:
    """How many columns the draws will have, counted without their names."""
    return sum(v.count for v in posterior.declared(include_tp=True, include_gq=True))


def sentence(posterior: Posterior, settings: Settings, needed: int, there: int) -> str:
    dim, columns = posterior.param_unc_num(), columns_of(posterior)
    matrices = MATRICES.get(settings.algorithm, 0) * dim**2
    dense = ARRAY_SIZES.number * matrices > needed / 2
    return (
        f"A fit by {settings.algorithm} of {dim} unconstrained parameters, with {settings.draws} draws of "
        f"{columns} columns, needs about {in_bytes(needed)} of memory, and {in_bytes(there)} are free.\n"
        + ("Mean-field and low-rank need no matrix of all parameters: --algorithm meanfield." if dense
           else f"Ask for fewer draws than {settings.draws} (--draws), or take out what need not be written.")
    )  # fmt: skip
