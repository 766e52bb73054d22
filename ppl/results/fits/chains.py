"""Draws of several Markov chains: their diagnostics, their files."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl import html
from ppl.arguments import OF_OTHERS, checks
from ppl.density.log_density import LogDensity
from ppl.errors import ArgumentError
from ppl.files import numbered, replacing, write_whole
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Listener, silent
from ppl.kernel.advi.start import Init
from ppl.methods.diagnose.level import Level
from ppl.methods.nuts.chain import DEPTH, DIVERGING, Chain
from ppl.methods.nuts.diagnostics import Judged, judged
from ppl.methods.run.phases import OF_CHAINS
from ppl.methods.run.setting import settings_of
from ppl.methods.run.settings import SampleSettings
from ppl.records import dataclass, replace
from ppl.results.arguments.of_settings import format_value
from ppl.results.arguments.tree import ArgumentValues
from ppl.results.files.arviz_versions import netcdf_bytes
from ppl.results.files.stan_csv import OF_NUTS, chain_lines
from ppl.results.fits.notes import codes
from ppl.results.fits.variables import VariablesOfDraws
from ppl.results.report.style import TableStyle
from ppl.results.report.summary import ChainSummary, as_html, summary_of_chains, transformed
from ppl.run.identity import entries_of
from ppl.run.keywords import ProgressOptions, SampleKeywords, take_options, takes
from ppl.run.listener import Interrupted, listener_of, logging_stages
from ppl.run.sampling import sample_chains
from ppl.run.table import Table

ARVIZ_STATS = ("lp", "acceptance_rate", "step_size", "tree_depth", "n_steps", "diverging", "energy")
"""ArviZ's names of the statistics of NUTS, in the order of `OF_NUTS`, and the types that it looks for."""
WHOLE = {"tree_depth": np.int64, "n_steps": np.int64, "diverging": np.bool_}


@dataclass(frozen=True, eq=False, repr=False)
class Chains(VariablesOfDraws):
    """The result of `sample`: draws of the posterior from several chains.

    `each` has the chains on the unconstrained scale, `tables` their draws as columns.

    Example:
        >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 50, "backend": "autograd"}
        >>> chains = posterior.sample(seed=1, **short)
        >>> chains.stan_variable("theta").shape, chains.draws(concat_chains=False).shape
        ((100, 8), (50, 2, 34))
    """

    posterior: LogDensity
    settings: SampleSettings
    each: tuple[Chain, ...]
    tables: tuple[Table, ...]
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    backend: str = ""
    """The backend of the log density, "autograd" or "jax", by choice or by backend = "auto"."""

    def __repr__(self) -> str:
        name, (_, columns) = self.posterior.source.name, self.draws().shape
        return (
            f"<Chains of {name}: {self.chains} chains of {self.num_draws} draws, {self.level}, "
            f"{self.judged.divergent} divergent, {columns} columns>"
        )

    def _repr_html_(self) -> str:
        verdict = html.judged(self.level, self.judgement)
        return html.paragraph(repr(self)) + verdict + html.notes(self.notes) + as_html(self.summary())

    # --- Draws ---

    @property
    def column_names(self) -> tuple[str, ...]:
        """Parameters, transformed parameters, generated quantities, named as in Stan: `theta.1`."""
        return self.tables[0].columns

    @property
    def draws_u(self) -> Floats:
        """The draws on the unconstrained scale, chain after chain, shape (chains * draws, dim)."""
        return np.concatenate([chain.draws.u for chain in self.each])

    @checks
    def draws(self, concat_chains: bool = True) -> Floats:
        """The draws, chain after chain, shape (chains * draws, columns); else (draws, chains, columns).

        Example:
            >>> chains.draws().shape, chains.draws(concat_chains=False).shape
            ((100, 34), (50, 2, 34))
        """
        if concat_chains:
            return np.concatenate(self._chain_rows)
        return np.stack(self._chain_rows, axis=1)

    @checks
    def stan_variable(self, name: str, inc_warmup: bool = False) -> Floats:
        """Draws of one variable, shape (chains * draws, *its own shape): see `Fit.stan_variable`.

        `inc_warmup` is an argument of CmdStanPy, which `az.from_cmdstanpy` passes.

        Raises:
            UnknownName: there is no variable of that name; a KeyError that lists those that there are.
            ArgumentError: draws of the warmup are asked for, which are not stored.

        Example:
            >>> chains.stan_variable("theta").shape
            (100, 8)
        """
        if inc_warmup:
            raise ArgumentError(f"inc_warmup is True, but {OF_OTHERS['inc_warmup']}")
        return super().stan_variable(name)

    @property
    def chains(self) -> int:
        """The number of chains."""
        return len(self.each)

    @property
    def chain_ids(self) -> list[int]:
        """The numbers of the chains, from 1."""
        return [*range(1, self.chains + 1)]

    @property
    def num_draws(self) -> int:
        """The number of draws per chain."""
        return len(self.each[0].draws.u)

    @property
    def num_draws_sampling(self) -> int:
        """CmdStanPy's name of `num_draws`."""
        return self.num_draws

    @property
    def num_draws_warmup(self) -> int:
        """The number of warmup iterations per chain."""
        return self.settings.num_warmup

    @property
    def metric_type(self) -> str:
        """The kind of metric by CmdStan's name: a diagonal, "diag_e"."""
        return "diag_e"

    def method_variables(self) -> dict[str, Floats]:
        """The sampler's diagnostics of each draw, shape (draws, chains), by CmdStan's column names.

        Example:
            >>> list(chains.method_variables())[:3]
            ['lp__', 'accept_stat__', 'stepsize__']
        """
        stacked = np.stack([chain.draws.statistics for chain in self.each], axis=1)
        return {name: stacked[:, :, k] for k, name in enumerate(OF_NUTS)}

    @property
    def step_size(self) -> Floats:
        """The step size of each chain, shape (chains,)."""
        return np.array([chain.stepsize for chain in self.each])

    @property
    def inv_metric(self) -> Floats:
        """The diagonal of the inverse metric of each chain, shape (chains, dim)."""
        return np.stack([chain.inverse_metric for chain in self.each])

    @property
    def divergences(self) -> NDArray[np.int64]:
        """The number of divergent transitions of each chain, shape (chains,)."""
        return np.asarray(self._statistic(DIVERGING).sum(axis=1), dtype=np.int64)

    @property
    def max_treedepths(self) -> NDArray[np.int64]:
        """The number of trajectories at the maximum tree depth in each chain, shape (chains,)."""
        return np.asarray((self._statistic(DEPTH) >= self.settings.max_depth).sum(axis=1), dtype=np.int64)

    def _statistic(self, k: int) -> Floats:
        return np.stack([chain.draws.statistics[:, k] for chain in self.each])

    # --- What they are worth ---

    @cached_property
    def judged(self) -> Judged:
        """R-hat, effective sample sizes, divergences and tree depths, of the parameters."""
        names = self.posterior.param_names()
        draws = np.stack([table.rows[:, : len(names)] for table in self.tables])
        depths, divergent = self._statistic(DEPTH), self._statistic(DIVERGING)
        return judged(names, draws, divergent, depths, self.settings.max_depth, self.settings.delta)

    @property
    def level(self) -> Level:
        """The level of the verdict on the draws: good, usable, poor or unknown."""
        return self.judged.level

    @property
    def judgement(self) -> str:
        """The verdict in words, and what to try if it is not good.

        Example:
            >>> chains.judgement.split(":")[0]
            'Verdict'
        """
        return self.judged.sentence

    @checks
    def summary(
        self,
        vars: str | Sequence[str] | None = None,
        interval: float = 0.9,
        hdi: bool = False,
        sig_figs: int | None = None,
        transform: Callable[[Floats], Floats] | None = None,
    ) -> ChainSummary:
        """Mean, sd, 5%, 50%, 95%, effective sample sizes and R-hat of every column, one row each.

        `vars` names variables or columns, as in `draws_pd`; None for all. `interval`, `hdi`,
        `sig_figs` and `transform`, of all draws, shape (chains * draws, columns), are as in `Fit.summary`.

        Raises:
            ArgumentError: `interval` is not between 0 and 1, or there are no digits.
            DataError: there is no variable or column of that name; lists those that there are.

        Example:
            >>> chains.summary()["mu"].r_hat < 1.2
            True
        """
        names, at = self._columns(vars)
        rows = np.concatenate([table.rows[:, at] for table in self.tables])
        rows, shown_as = transformed(rows, transform)
        summary = self._summarised(names, rows, TableStyle(interval, hdi, sig_figs))
        return replace(summary, transform=shown_as)

    def _summarised(self, columns: Sequence[str], rows: Floats, style: TableStyle) -> ChainSummary:
        summary = summary_of_chains(columns, rows.reshape(len(self.tables), -1, len(columns)), style)
        return replace(summary, level=self.level, labels=self.posterior.labels)

    # --- Other packages, files ---

    @property
    def about(self) -> dict[str, str]:
        """The entries of every file of these draws."""
        return {
            "sample_verdict": self.level.value,
            "sample_judgement": self.judgement,
            "sample_engine": self.settings.engine,
            **({"sample_backend": self.backend} if self.backend else {}),
            **entries_of(self.posterior),
        }

    @property
    def _chain_rows(self) -> list[Floats]:
        return [table.rows for table in self.tables]

    @property
    def _sample_stats(self) -> dict[str, Any]:
        named = zip(ARVIZ_STATS, self.method_variables().values(), strict=True)
        return {name: values.T.astype(WHOLE.get(name, values.dtype)) for name, values in named}

    @property
    def _arguments(self) -> dict[str, Any]:
        own = settings_of(SampleSettings).items()
        given = {known.path: format_value(known, getattr(self.settings, name)) for name, known in own}
        return {"method": "sample", **given}

    @checks
    def save_csv(
        self, path: str | Path = "output.csv", arguments: ArgumentValues | None = None, started: str = ""
    ) -> list[Path]:
        """Write each chain in the format of CmdStan's method `sample`; return the names of the files.

        They are `output_1.csv` and so on, or `output.csv` for one chain. `arguments` and `started`
        are as in `Fit.save_csv`.

        Raises:
            OSError: a file cannot be written; an older one is then left as it was.

        Example:
            >>> [path.name for path in chains.save_csv("nuts.csv")]
            ['nuts_1.csv', 'nuts_2.csv']
        """
        path = Path(path)
        numbers = range(1, self.chains + 1)
        files = [path if self.chains == 1 else numbered(path, k) for k in numbers]
        for number, file, chain, table in zip(numbers, files, self.each, self.tables, strict=True):
            config = self.config({"id": number, "output.file": str(file), **(arguments or {})}, started)
            write_whole(file, chain_lines(config, self.column_names, chain, table.rows))
        return files

    @checks
    def save(self, path: str | Path, arguments: ArgumentValues | None = None) -> list[Path]:
        """Write the draws as `.nc` (NetCDF, by ArviZ) or CSV; return the names of the files.

        Raises:
            MissingPackage: ArviZ is not installed.
            OSError: a file cannot be written; an older one is then left as it was.
        """
        if Path(path).suffix != ".nc":
            return self.save_csv(path, arguments)
        content = netcdf_bytes(self.to_arviz())
        with replacing(path) as part:
            part.write(content)
        return [Path(path)]


@takes(SampleKeywords)
def sample(posterior: LogDensity, **keywords: Any) -> Chains:
    """Draws of the posterior by chains of the No-U-Turn sampler (nutpie, the extra `sample`).

    Hoffman and Gelman (2014), JMLR 15. With `engine="batch"` by many short chains of HMC in lockstep. The
    keywords are those of `SampleSettings`, and of `keywords.ProgressOptions`.

    Raises:
        InferenceError: a setting is out of range, the posterior improper, or no start has a finite density.
        UnknownSetting: there is no setting of that name.
        DataError: `init` does not fit the parameters.
        MissingPackage: nutpie is not installed.
        KeyboardInterrupt: Ctrl-C; its `fit` has the chains so far.

    Example:
        >>> sample(posterior, num_chains=1, num_warmup=50, num_samples=10, backend="autograd").draws().shape
        (10, 34)
    """
    return sample_from(posterior, keywords)


def sample_from(posterior: LogDensity, keywords: dict[str, Any], init: Init | None = None) -> Chains:
    """As `sample`; where the keywords have no `init`, chains begin at another one."""
    run = take_options(ProgressOptions, keywords)
    begin = None if "init" in keywords else init
    with listener_of(run.progress, OF_CHAINS) as shown, logging_stages(shown) as listen:
        chains = sample_with(posterior, SampleSettings(**keywords), listen, begin, run.timeout)
    if chains.interrupted and run.on_interrupt == "raise":
        raise Interrupted(chains)
    return chains


def sample_with(
    posterior: LogDensity,
    settings: SampleSettings,
    listen: Listener = silent,
    init: Init | None = None,
    timeout: float | None = None,
) -> Chains:
    """As `sample`, with a listener, and an `init` in place of that of the settings."""
    chains = Chains(posterior, settings, *sample_chains(posterior, settings, listen, init, timeout))
    return replace(chains, notes=codes(posterior) + chains.notes)
