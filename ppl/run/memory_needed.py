"""How much memory a command will take, compared with what is free before it begins."""

from collections.abc import Iterator
from contextlib import contextmanager

from ppl.advice import Advice, Sentence, parts_of
from ppl.density.problem import Extent
from ppl.errors import InferenceError
from ppl.memory import ARRAY_SIZES, available, in_bytes, out_of_memory
from ppl.methods.initialise.lbfgs_path import LBFGS_PATH
from ppl.methods.run.settings import SampleSettings, Settings
from ppl.records import dataclass
from ppl.system.threads import cores_of

MATRICES = {"fullrank": 6, "ssvb": 6, "dsvi": 6, "laplace": 4}
"""Matrices (dim, dim) in memory at once: of the factor of q, its slopes, what a step remembers."""


@dataclass(frozen=True)
class MemoryModel:
    """What a run holds in memory."""

    copies: int = 2
    """How often the draws are there at once: as they were made, and what is being computed of them."""

    of_a_column: int = 64
    """Numbers that would take the memory of a column's name, its summary and its text."""

    of_a_dimension: int = 400
    """Numbers for each dimension that the paths of the start take, where they are of a usual length."""

    of_a_task: int = 1 << 12
    """Numbers that would take the memory of one of many runs or chains: its settings, trace and verdict."""

    of_a_row: int = 32
    """Numbers that would take the memory of a row that is an object by itself."""

    nuts: int = 6
    """Numbers for each entry of a draw that nutpie holds until a chain ends: 893 MB for 122 MB of draws."""

    statistics: int = 7
    """Numbers that NUTS has on each draw."""


MEMORY_NEEDED = MemoryModel()


@contextmanager
def memory_required() -> Iterator[None]:
    """Refuse what runs out of memory all the same.

    Raises:
        InferenceError: it did; the message says what could not be had.
    """
    try:
        yield
    except MemoryError as error:
        raise InferenceError(out_of_memory(error), "PPL977") from None


def require_memory(extent: Extent, settings: Settings) -> None:
    """Refuse a fit that would take more memory than there is.

    Raises:
        InferenceError: it would; the message says what it needs, what there is and what to do.
    """
    dim, matrices = extent.dim, MATRICES.get(settings.algorithm, 0)
    numbers = numbers_of(extent, settings)
    draws = f"{settings.draws} draws of {_columns(extent)}"
    if matrices * dim**2 > numbers / 2:
        meanfield = Advice("algorithm", "meanfield")
        advice: Sentence = "Mean-field and low-rank need no matrix of all parameters: ", meanfield, "."
    elif settings.runs > settings.draws:
        advice = f"Use fewer runs than {settings.runs} (", Advice("runs"), ")."
    else:
        advice = _fewer(settings.draws, " (", Advice("draws"), ")")
    what = "A fit" if settings.runs == 1 else f"The best of {settings.runs} fits"
    size = f"{dim} unconstrained parameters, with {draws},"
    refuse_if_larger(numbers, f"{what} by {settings.algorithm} of {size}", advice)


def require_memory_of_chains(extent: Extent, settings: SampleSettings) -> None:
    """Refuse chains of NUTS that would take more memory than there is; see `require_memory`."""
    chains, draws = settings.num_chains, settings.num_warmup + settings.num_samples
    if chains > draws:
        advice: Sentence = f"Use fewer chains than {chains} (", Advice("num_chains"), ")."
    elif settings.num_warmup > settings.num_samples:
        advice = f"Use fewer warmup iterations than {settings.num_warmup} (", Advice("num_warmup"), ")."
    else:
        advice = _fewer(settings.num_samples, " (", Advice("num_samples"), ")")
    what = f"{chains} chain{'s' * (chains > 1)} of {settings.num_warmup} and {settings.num_samples} draws"
    refuse_if_larger(
        numbers_of_chains(extent, settings),
        f"NUTS on {extent.dim} unconstrained parameters, with {what} of {_columns(extent)},",
        advice,
    )


def require_memory_of_rows(extent: Extent, rows: int) -> None:
    """Refuse so many rows of all variables where there is no memory for them; see `require_memory`."""
    numbers = rows * (extent.columns + MEMORY_NEEDED.of_a_row)
    refuse_if_larger(numbers, f"A table of {rows} draws of {_columns(extent)}", _fewer(rows))


def require_memory_of_simulations(simulations: int, columns: int) -> None:
    """Refuse so many simulations where there is no memory for their ranks; see `require_memory`."""
    numbers = simulations * (MEMORY_NEEDED.copies * columns + MEMORY_NEEDED.of_a_row)
    advice = "A thousand simulations are enough for most questions (", Advice("simulations"), ")."
    refuse_if_larger(numbers, f"A table of the ranks of {simulations} simulations", advice)


def refuse_if_larger(numbers: int, what: str, advice: Sentence) -> None:
    """Refuse what needs the memory of so many numbers where there is less.

    Raises:
        InferenceError: there is less; the message says how much.
    """
    needed = ARRAY_SIZES.number * numbers
    if numbers > ARRAY_SIZES.unchecked and (there := available()) < needed:
        raise InferenceError(
            (
                f"{what} needs about {in_bytes(needed)} of memory, and {in_bytes(there)} are free.\n",
                *parts_of(advice),
            ),
            "PPL977",
        )


def numbers_of(extent: Extent, settings: Settings) -> int:
    """How many numbers a fit has in memory at once, about, beside the data and one evaluation."""
    dim, columns = extent.dim, extent.columns
    draws = max(settings.draws, settings.elbo_samples, settings.grad_samples)
    paths = min(LBFGS_PATH.most_numbers, MEMORY_NEEDED.of_a_dimension * dim)
    return (
        MEMORY_NEEDED.copies * draws * dim + draws * columns + MEMORY_NEEDED.of_a_column * columns
        + paths + MATRICES.get(settings.algorithm, 0) * dim**2
        + (settings.runs - 1) * (settings.draws * dim + MEMORY_NEEDED.of_a_task)
    )  # fmt: skip


def numbers_of_chains(extent: Extent, settings: SampleSettings) -> int:
    """The same of chains of NUTS: of those that are at work, and the draws of all."""
    dim, columns, chains = extent.dim, extent.columns, settings.num_chains
    draws = settings.num_warmup + settings.num_samples
    at_work = min(chains, cores_of(settings.cores))
    return (
        (MEMORY_NEEDED.nuts * at_work + chains) * draws * (dim + MEMORY_NEEDED.statistics)
        + chains * (MEMORY_NEEDED.copies * settings.num_samples * columns + MEMORY_NEEDED.of_a_task)
        + MEMORY_NEEDED.of_a_column * columns
    )  # fmt: skip


def _columns(extent: Extent) -> str:
    """How many columns there are, and which variable has most of them."""
    largest = max(extent.variables, key=lambda v: v.count, default=None)
    most = f" ({largest.count} of `{largest.name}`)" if largest and len(extent.variables) > 1 else ""
    return f"{extent.columns} columns{most}"


def _fewer(draws: int, *setting: str | Advice) -> Sentence:
    return f"Use fewer draws than {draws}", *setting, ", or remove variables that need not be written."
