"""Simulation-based calibration: are the draws of a fit those of the posterior, on data of the program's own?

Parameters are drawn from the prior, data given them, and the program is fitted to these data: the ranks of
the parameters among their draws are uniform if the draws are those of the posterior. Talts, Betancourt,
Simpson, Vehtari and Gelman (2018), arXiv:1804.06788.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ppl import api, html
from ppl.errors import DataError, PPLError, first_few
from ppl.files import require_file, write_whole
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.draws.names import column_names
from ppl.methods.diagnose.uniform_ranks import Ints, Uniformity, uniformity
from ppl.methods.run.settings import SampleSettings, SbcSettings, Settings
from ppl.records import dataclass, field
from ppl.results.calibration.simulations import Simulations
from ppl.results.fits.chains import sample_with
from ppl.results.fits.fit import fit_with_journal
from ppl.results.report.text_table import TABLE_WIDTH, text_table
from ppl.run.identity import data_hash, program_hash
from ppl.run.memory_needed import require_memory_of_simulations
from ppl.run.processes import Tell, at_a_time
from ppl.system.threads import cores_of

THINNING = 10
"""Draws of NUTS for each that is ranked: neighbours in a chain are alike."""

TIES_STREAM = 0x746965
"""The stream "tie" that orders a discrete parameter among draws of the same value."""

ALPHA = 0.05
"""The p-value, over all columns, below which ranks are said not to be uniform."""

KILLED = "The process of some simulations ended with status {} (-9: out of memory)."


Ranks = tuple[int, ...] | str
"""The ranks (columns,) of the parameters of a simulation, or why there are none."""


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(api.Members):
    """The result of `sbc`: `ranks` (simulations, columns), between 0 and `draws`.

    `failed` has the number of each simulation without a fit, with the reason. `simulations` is the number
    requested.

    Example:
        >>> normal = "data { int N; vector[N] y; } parameters { real m; } "
        >>> normal += "model { m ~ normal(0, 1); y ~ normal(m, 1); }"
        >>> found = compile_model(normal).sbc({"N": 3}, simulations=10, draws=19, algorithm="laplace")
        >>> found.ranks.shape, found.columns
        ((10, 1), ('m',))
    """

    columns: tuple[str, ...]
    numbers: tuple[int, ...]
    ranks: Ints
    draws: int
    simulations: int
    failed: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Calibration of {len(self.columns)} columns by {len(self.numbers)} simulations>"

    def _repr_html_(self) -> str:
        return html.paragraph(self.judgement) + html.preformatted(str(self))

    def uniformity(self) -> dict[str, Uniformity]:
        """Test the ranks of each column for uniformity: p-value, mean rank and shape by name.

        Example:
            >>> 0 < calibration.uniformity()["m"].p <= 1
            True
        """
        return {name: uniformity(self.ranks[:, k], self.draws) for k, name in enumerate(self.columns)}

    @property
    def judgement(self) -> str:
        """The result in words. The p-values are corrected for the number of columns (Holm).

        Example:
            >>> calibration.judgement.split(":")[0] in ("Calibrated", "Not calibrated")
            True
        """
        if not self.numbers:
            return "No simulation has a fit."
        tests = self.uniformity()
        ordered = sorted(tests, key=lambda name: tests[name].p)
        rejected = [tests[name].p * (len(ordered) - k) <= ALPHA for k, name in enumerate(ordered)]
        off = ordered[: [*rejected, False].index(False)]
        n = len(self.numbers)
        lost = f" {len(self.failed)} simulations failed and are omitted." if self.failed else ""
        if not off:
            return (
                f"Calibrated: the ranks of {n} simulations are consistent with draws of the posterior "
                f"(smallest p {tests[ordered[0]].p:.2g} of {len(ordered)} columns).{lost}"
            )
        shapes = {name: f"; {tests[name].shape}" * bool(tests[name].shape) for name in off}
        worst = first_few([f"{name} (p {tests[name].p:.2g}{shapes[name]})" for name in off])
        return f"Not calibrated: the ranks of {worst} are not uniform over {n} simulations.{lost}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = TABLE_WIDTH) -> Iterator[str]:
        """The lines of a table: p-value, mean rank and shape of each column."""
        rows = [
            (name, f"{u.p:.3f}", f"{u.mean:.3f}", u.shape or "uniform")
            for name, u in self.uniformity().items()
        ]
        return text_table(("", "p", "mean rank", "ranks"), rows, width)

    def save_csv(self, path: str | Path) -> None:
        """Write the ranks, one row per simulation.

        Raises:
            OSError: the file cannot be written; an older one is then left as it was.
        """
        write_whole(path, self.csv_lines({}))

    def csv_lines(self, about: Mapping[str, Any]) -> Iterator[str]:
        """The whole file; `about` is in its comments."""
        facts = {**about, "draws": self.draws, "simulations": self.simulations}
        yield from (f"# {name} = {value}\n" for name, value in facts.items())
        yield from (f"# failed {k} = {' '.join(why.split())}\n" for k, why in sorted(self.failed.items()))
        yield ",".join(("simulation__", *self.columns)) + "\n"
        for number, row in zip(self.numbers, self.ranks.tolist(), strict=True):
            yield ",".join(map(str, (number, *row))) + "\n"


CalibrationListener = Callable[[Calibration], None]


def calibrated(
    simulations: Simulations,
    settings: SbcSettings,
    hear: CalibrationListener = lambda so_far: None,
    before: Calibration | None = None,
) -> Calibration:
    """The ranks of all simulations; `before` are those that are there, `hear` is told after each.

    Simulations are numbered, and each has its own random numbers, so that the ranks are the same however many
    processes share the work. Ctrl-C ends it with what there is.
    """
    require_memory_of_simulations(settings.simulations, sum(v.count for v in simulations.columns()))
    columns = tuple(name for v in simulations.columns() for name in column_names(v))
    done: dict[int, Ranks] = {}
    if before:
        done |= zip(before.numbers, map(tuple, before.ranks.tolist()), strict=True)
        done |= before.failed
    left = [k for k in range(1, settings.simulations + 1) if k not in done]

    def so_far() -> Calibration:
        failed = {k: outcome for k, outcome in sorted(done.items()) if isinstance(outcome, str)}
        numbers = tuple(sorted(done.keys() - failed.keys()))
        ranks = np.array([done[k] for k in numbers], dtype=np.int64).reshape(len(numbers), len(columns))
        return Calibration(columns, numbers, ranks, settings.draws, settings.simulations, failed)

    def add_ranks(outcome: Any) -> None:
        done.update(outcome)
        hear(so_far())

    cores = 1 if settings.backend == "jax" else cores_of(settings.cores)
    shares = max(1, min(cores, len(left)))
    tasks = [partial(_some, simulations, settings, left[k::shares]) for k in range(shares)]
    for ended in at_a_time(tasks, add_ranks, KILLED, cores):
        if not all(ended):
            break
    if left and not done:
        raise KeyboardInterrupt
    return so_far()


def _some(simulations: Simulations, settings: SbcSettings, numbers: Sequence[int], tell: Tell) -> bool:
    """Tells the ranks of those simulations, one after the other; whether all were, before Ctrl-C."""
    for number in numbers:
        try:
            tell({number: ranked(simulations, settings, number)})
        except KeyboardInterrupt:
            return False
    return True


def ranked(simulations: Simulations, settings: SbcSettings, number: int) -> Ranks:
    """The ranks of the parameters of one simulation among the draws of the fit to its data."""
    seed = int(np.random.SeedSequence([settings.seed, number]).generate_state(1)[0])
    try:
        values = simulations.draw(number, settings.seed)
        posterior = simulations.condition(values, seed)
        truth = simulations.row(values)
        draws = draws_of(posterior, settings, seed)[:, : len(truth)]  # missing values follow the parameters
    except PPLError as error:
        return str(error)
    if len(draws) < settings.draws or not np.isfinite(draws).all():
        return f"only {len(draws)} draws, or some are not finite"
    ties = (draws == truth).sum(axis=0)
    rng = np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(TIES_STREAM, number)))
    ranks = (draws < truth).sum(axis=0) + rng.integers(0, ties + 1)
    return tuple(ranks.tolist())


def draws_of(posterior: Any, settings: SbcSettings, seed: int) -> Floats:
    """The draws (draws, columns) of the parameters, by the algorithm that is looked into."""
    n = len(posterior.param_names())
    if settings.algorithm == "nuts":
        sampling = SampleSettings(
            num_chains=1, num_samples=THINNING * settings.draws, backend=settings.backend, seed=seed
        )
        chains = sample_with(posterior, sampling)
        if chains.interrupted:
            raise KeyboardInterrupt
        return chains.draws()[THINNING - 1 :: THINNING, :n]
    fit, _ = fit_with_journal(
        posterior,
        Settings(algorithm=settings.algorithm, draws=settings.draws, backend=settings.backend, seed=seed),
    )
    if fit.outcome.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return fit.draws()[:, :n]


def identity(simulations: Simulations, settings: SbcSettings) -> dict[str, Any]:
    """The identity of the ranks of a file: program, simulator, data, algorithm, seed, number of draws."""
    missing = {f"{name} missing": places for name, places in simulations.missing.items()}
    return {
        "program_sha256": program_hash(simulations.model.source.text),
        "simulator_sha256": program_hash(simulations.posterior.source.text),
        "data_sha256": data_hash({**simulations.data, **missing}),
        **{name: getattr(settings, name) for name in ("algorithm", "backend", "seed", "draws")},
    }


def read_csv(path: str | Path, about: Mapping[str, Any]) -> Calibration:
    """The ranks in a file that `Calibration.csv_lines` wrote, of the run that `about` tells (identity).

    Raises:
        DataError: the file is of another run, or is no such file.
        MissingFile: it is not there.
    """
    lines = require_file(path).read_text(encoding="utf-8").splitlines()
    entries = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("# ") and " = " in line)
    for name, mine in about.items():
        if entries.get(name) != str(mine):
            raise DataError(
                f"{path} belongs to another run: {name} is {entries.get(name, 'missing')} there and {mine} "
                "here. Give another name by -o, or omit --resume."
            )
    prefix = "failed "
    failed = {int(key.removeprefix(prefix)): why for key, why in entries.items() if key.startswith(prefix)}
    header, *rows = (line.split(",") for line in lines if line and not line.startswith("#"))
    try:
        numbers = np.array(rows, dtype=np.int64).reshape(len(rows), len(header))
    except ValueError:
        raise DataError(f"{path} is damaged: a row and the header have different numbers of ranks.") from None
    return Calibration(
        tuple(header[1:]),
        tuple(numbers[:, 0].tolist()),
        numbers[:, 1:],
        int(entries["draws"]),
        int(entries["simulations"]),
        failed,
    )
