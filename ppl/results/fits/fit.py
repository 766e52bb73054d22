"""A fitted approximation: its draws, its quality, its files."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from ppl import html
from ppl.advice import Words, in_python, in_shell
from ppl.arguments import checks
from ppl.data import AnyData, load_data
from ppl.density.completions import sentences
from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError, PoorFitWarning, warn_caller
from ppl.files import beside, write_whole
from ppl.floats import Floats
from ppl.kernel.advi.families import describe
from ppl.kernel.advi.outcome import Ending, Listener, Outcome, Phase, silent
from ppl.kernel.advi.parts import by_columns
from ppl.kernel.advi.start import Warm
from ppl.kernel.draws.columns import bracketed, missing_of, variables
from ppl.kernel.draws.names import LABELS, labels_in, variable_of
from ppl.kernel.draws.stan_csv import csv_lines
from ppl.late import LateModule
from ppl.methods.correct.evidence import Evidence
from ppl.methods.correct.standard_errors import standard_errors
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.verdict import Verdict
from ppl.methods.recipes.result import Result
from ppl.methods.run.phases import phases_of, phases_of_draws
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace
from ppl.results.arguments.of_settings import given_of, in_cmdstans_words
from ppl.results.arguments.tree import ArgumentValues
from ppl.results.files import stan_csv
from ppl.results.files.config import as_json, comment_lines
from ppl.results.files.formats import require_name_of_fit
from ppl.results.files.provenance import Provenance
from ppl.results.fits.log_evidence import evidence_of, no_evidence, unknown_evidence
from ppl.results.fits.metric import save_warm_start
from ppl.results.fits.notes import advice_on, codes, non_centred_forms
from ppl.results.fits.variables import VariablesOfDraws
from ppl.results.report.style import TableStyle
from ppl.results.report.summary import Summary, as_html, summarise, transformed
from ppl.run.checkpoint import Checkpoint, CheckpointOptions
from ppl.run.checksum import NONSENSE, damage_reported
from ppl.run.driver import FitDraws, draws_of, fit_posterior
from ppl.run.identity import entries_of, identity, refuse_mismatch
from ppl.run.keywords import RunOptions, SampleKeywords, VariationalKeywords, take_options, takes
from ppl.run.listener import Deadline, Interrupted, listener_of, logging_stages
from ppl.run.memory_needed import memory_required, require_memory
from ppl.run.table import Table, failures
from ppl.run.target import target_of, threads_of_fit

if TYPE_CHECKING:
    import pandas as pd

    from ppl.results.fits.chains import Chains
    from ppl.run.more_draws import RunResult

markov, saved = LateModule("ppl.results.fits.chains"), LateModule("ppl.results.fits.saved")
more, updating = LateModule("ppl.run.more_draws"), LateModule("ppl.results.fits.updating")
BELOW_GOOD = (Level.USABLE, Level.POOR)


@dataclass(frozen=True, repr=False, eq=False)
class Fit(VariablesOfDraws):
    """The result of `variational`: an approximation of the posterior, its draws and a verdict on them.

    `result` is the result of inference, on the unconstrained scale. `table` has the draws as columns; its row
    0 is the constrained image of the approximation's mean.

    Example:
        >>> posterior = ppl.compile_model("eight_schools.model").condition("eight_schools.data.json")
        >>> fit = posterior.variational(algorithm="fullrank", seed=1)
        >>> fit.stan_variable("theta").shape, fit.outcome.converged
        ((1000, 8), True)
    """

    posterior: LogDensity
    settings: Settings
    result: Result
    table: Table
    backend: str = ""
    """The backend of the log density: "autograd", "jax", or both one after the other, "autograd, jax"."""
    later_draws: bool = False
    """Whether `more` made the draws, from random streams of their own."""

    def __repr__(self) -> str:
        n, columns = self.draws().shape
        name, ending = self.posterior.model.source.name, self.outcome.ending.value
        source, level = self.verdict.made, self.verdict.level
        return (
            f"<Fit of {name}: {self.settings.algorithm}, draws {source}, {level}, {ending}, "
            f"ELBO {self.elbo:.2f} ± {self.elbo_se:.2f}, {n} draws of {columns} columns>"
        )

    def _repr_html_(self) -> str:
        verdict = html.judged(self.verdict.level, self.judgement)
        return html.paragraph(repr(self)) + verdict + html.notes(self.notes) + as_html(self.summary())

    @property
    def column_names(self) -> tuple[str, ...]:
        """Parameters, transformed parameters, generated quantities, named as in Stan: `theta.1`."""
        return self.table.columns

    @property
    def draws_u(self) -> Floats:
        """The draws on the unconstrained scale, shape (draws, dim).

        Example:
            >>> fit.draws_u.shape
            (1000, 10)
        """
        return self.result.draws_u

    @property
    def outcome(self) -> Outcome:
        """How the run ended; `outcome.sentence` says it in words.

        Example:
            >>> fit.outcome.sentence.split(":")[0] in ("Converged", "Completed", "Budget reached")
            True
        """
        return self.result.outcome

    @property
    def eta(self) -> float:
        """The step size used, given or found."""
        return self.result.path.eta

    @property
    def elbo(self) -> float:
        """The final ELBO, in nats, from fresh draws (Kucukelbir et al. 2017, eq. 2).

        Example:
            >>> -40 < fit.elbo < -25
            True
        """
        return self.result.final_elbo

    @property
    def elbo_se(self) -> float:
        """Standard error of `elbo`, in nats."""
        return self.result.final_elbo_se

    @property
    def log_evidence(self) -> Evidence:
        """The log evidence, log p(data), and its standard error, in nats.

        It is the log of the integral of the program's target. Write the truncation, `T[0, ]`, of a prior that
        a bound cuts off; otherwise the prior does not integrate to one. With an improper prior there is no
        evidence. Two estimates must agree within three of their errors: the mean of importance weights, of
        draws of q and of a Student's t around it (Hesterberg 1995) or of what the draws were resampled from,
        and bridge sampling (Meng and Wong 1996); of moved draws, two bridges. Other modes must have been
        searched for, as `auto` does.

        Raises:
            InferenceError: the fit has no estimate; the message gives the reason and what to try.

        Example:
            >>> value, se = posterior.variational(seed=1).log_evidence
            >>> -33 < value < -29 and 0 < se < 0.1
            True
        """
        evidence = evidence_of(self.result)
        if evidence is None:
            why = no_evidence(self.result, self.judgement)
            raise InferenceError(f"This fit has no estimate of the log evidence. {why}")
        return evidence

    @property
    def elbo_trace(self) -> Floats:
        """Iteration and ELBO, in nats, at each evaluation, shape (evaluations, 2).

        Example:
            >>> fit.elbo_trace.shape[1]
            2
        """
        return np.array([(point.iteration, point.elbo) for point in self.result.path.trace]).reshape(-1, 2)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on unexpected events of the run."""
        hints = advice_on(self.posterior.data) if self.verdict.level is Level.POOR else ()
        other_forms = non_centred_forms(self.posterior.model) if self.verdict.level in BELOW_GOOD else ()
        missing = tuple(sentences(self.posterior.model, self.posterior.d))
        return (
            missing
            + codes(self.posterior)
            + self.result.notes
            + failures(self.table)
            + _missing(self.table)
            + hints
            + other_forms
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the fit: k-hat, effective sample size, trend, spread.

        Yao, Vehtari, Simpson and Gelman (2018), "Yes, but did it work?".

        Example:
            >>> fit.verdict.level in ("good", "usable", "poor", "unknown")
            True
        """
        return self.result.verdict

    @property
    def level(self) -> Level:
        """The level of the verdict on the draws: good, usable, poor or unknown.

        Example:
            >>> fit.level in ("good", "usable", "poor", "unknown")
            True
        """
        return self.verdict.level

    @property
    def judgement(self) -> str:
        """The verdict in words: the level, the reason, and what to try, in settings of Python.

        Example:
            >>> fit.judgement.split(":")[0]
            'Verdict'
        """
        return self._judgement(in_python)

    def _judgement(self, words: Words) -> str:
        settings = self.settings
        in_use = {"correct": settings.corrects, "move": settings.move is not None, "runs": settings.runs > 1}
        in_force = [name for name, used in in_use.items() if used]
        return self.verdict.sentence(self._labels_of_coordinates, in_force, words)

    @property
    def details(self) -> str:
        """The details of the verdict: of q, of the moves, of the other runs."""
        return self.verdict.details(self._labels_of_coordinates)

    @property
    def _labels_of_coordinates(self) -> list[str]:
        """The names of unconstrained parameters, with levels where they are as many as constrained ones."""
        p = self.posterior
        sizes = Counter(map(variable_of, p.param_names()))
        same = {
            name for name, n in Counter(map(variable_of, p.param_unc_names())).items() if n == sizes[name]
        }
        return [p.labels.of(name) if variable_of(name) in same else name for name in p.param_unc_names()]

    @property
    def family(self) -> str:
        """The family of q that was found, which `auto` chooses: "meanfield", "fullrank", ..."""
        return str(describe(self.result.family)["family"])

    @property
    def provenance(self) -> Provenance:
        """The entries of every file of these draws: how they were made, and the verdict.

        Example:
            >>> sorted(fit.provenance.entries())[:3]
            ['fit_algorithm', 'fit_backend', 'fit_draws']
        """
        return Provenance(
            algorithm=self.settings.algorithm,
            family=self.family,
            draws=self.verdict.made.value,
            elbo=self.elbo,
            elbo_se=self.elbo_se,
            outcome=self.outcome.sentence,
            verdict=self.verdict.level,
            judgement=self._judgement(in_shell),
            backend=self.backend,
            evidence=evidence_of(self.result),
            unknown_evidence=unknown_evidence(self.result),
            se=self._standard_errors,
        )

    @cached_property
    def _standard_errors(self) -> dict[str, float]:
        """Of the mean of each column that has one, to three digits."""
        with np.errstate(all="ignore"):
            errors = by_columns(partial(standard_errors, by=self.result.error_sources), self.draws())
        known = np.isfinite(errors) & (errors > 0)
        return {
            name: float(f"{se:.3g}")
            for name, se, ok in zip(self.column_names, errors.tolist(), known, strict=True)
            if ok
        }

    def at_mean(self) -> Floats:
        """The constrained image (columns,) of the unconstrained mean, the CSV's first row.

        Example:
            >>> fit.at_mean().shape == (len(fit.column_names),)
            True
        """
        return np.asarray(self.table.rows[0])

    @checks
    def draws(self) -> Floats:
        """Draws of the fit, shape (draws, columns); values that could not be computed are nan.

        Example:
            >>> fit.draws().shape
            (1000, 34)
        """
        return self.table.rows[1:]

    @checks
    def stan_variable(self, name: str, *, mean: bool = False) -> Floats:
        """Draws of one variable, shape (draws, *its own shape), or (draws,) of one column, `theta[1]`.

        With `mean` its value at the mean of q (of a mode: there), of its own shape; see `at_mean`. Those of a
        discrete parameter are integers.

        Raises:
            UnknownName: there is no variable of that name; a KeyError that lists those that there are.

        Example:
            >>> fit.stan_variable("theta").shape, fit.stan_variable("theta", mean=True).shape
            ((1000, 8), (8,))
        """
        if mean:
            (value,) = self._variable(name, self.at_mean()[None])
            return np.asarray(value)
        return super().stan_variable(name)

    @checks
    def stan_variables(self, *, mean: bool = False) -> dict[str, Floats]:
        """Draws of every variable by name, or with `mean` its value at the mean of q, as `stan_variable`.

        Example:
            >>> {name: x.shape for name, x in fit.stan_variables(mean=True).items()}["theta"]
            (8,)
        """
        return {name: self.stan_variable(name, mean=mean) for name in variables(self.column_names)}

    def method_variables(self) -> dict[str, Floats]:
        """Columns of inference for each draw, shape (draws,), by the names of the file's columns.

        `log_p__` is the log density of the draw on the unconstrained scale, `log_g__` that of q less its
        value at the mean, or of corrected draws log_p__ again; in nats.

        Example:
            >>> sorted(fit.method_variables())
            ['log_g__', 'log_p__']
        """
        return {"log_p__": self.result.log_p, "log_g__": self.result.log_g}

    @property
    def variational_sample(self) -> Floats:
        """The draws, shape (draws, columns), as CmdStanPy calls them; see `draws`.

        Example:
            >>> fit.variational_sample.shape
            (1000, 34)
        """
        return self.draws()

    @property
    def variational_sample_pd(self) -> "pd.DataFrame":
        """The draws as a pandas DataFrame; see `draws_pd`."""
        return self.draws_pd()

    @property
    def variational_params_np(self) -> Floats:
        """The constrained image (columns,) of the approximation's mean; see `at_mean`."""
        return self.at_mean()

    @property
    def variational_params_dict(self) -> dict[str, float]:
        """The constrained image of the approximation's mean by column, `theta[1]`.

        Example:
            >>> list(fit.variational_params_dict)[:3]
            ['mu', 'tau', 'theta_raw[1]']
        """
        return dict(zip(map(bracketed, self.column_names), self.at_mean().tolist(), strict=True))

    @property
    def variational_params_pd(self) -> "pd.DataFrame":
        """The constrained image of the approximation's mean, a DataFrame of one row. Needs pandas.

        Raises:
            MissingPackage: pandas is not installed.
        """
        return self._frame(self.at_mean()[None], self.column_names)

    @checks
    def summary(
        self,
        vars: str | Sequence[str] | None = None,
        interval: float = 0.9,
        hdi: bool = False,
        sig_figs: int | None = None,
        transform: Callable[[Floats], Floats] | None = None,
    ) -> Summary:
        """Mean, sd, 5%, 50% and 95% of every column, or of those of `vars` (see `draws_pd`), a row each.

        Mean, sd and quantiles have standard errors, `se`, `se_sd`, `se_q5`, ...: Monte Carlo error and that
        of the approximation. It prints the digits that these leave known, or `sig_figs` significant ones. Of
        another `interval`, 0.95 from the 2.5% to the 97.5% quantile, or with `hdi` the shortest interval,
        the ends of a row are `lower` and `upper`. `transform` is a function of the draws (draws, columns)
        whose values are summarised: `np.exp` for odds ratios.

        Raises:
            ArgumentError: `interval` is not between 0 and 1, or there are no digits.
            DataError: there is no variable or column of that name; lists those that there are.

        Example:
            >>> fit.summary()["mu"].name
            'mu'
        """
        names, at = self._columns(vars)
        rows, shown_as = transformed(self.draws()[:, at], transform)
        summary = self._summarised(names, rows, TableStyle(interval, hdi, sig_figs))
        return replace(summary, transform=shown_as)

    def _summarised(self, columns: Sequence[str], rows: Floats, style: TableStyle) -> Summary:
        summary = summarise(columns, rows, self.result.error_sources, style)
        return replace(summary, level=self.level, labels=self.posterior.labels)

    @property
    def about(self) -> dict[str, str]:
        """The entries of every file of these draws: `provenance` as text, its program and labels."""
        return {**self.provenance.entries(), **entries_of(self.posterior)}

    @property
    def _chain_rows(self) -> list[Floats]:
        return [self.draws()]

    @property
    def _sample_stats(self) -> dict[str, Floats]:
        """Independent draws of an approximation have no chains, so `az.rhat` says nothing about them."""
        return {"lp": self.result.log_p[np.newaxis], "lp_approx": self.result.log_g[np.newaxis]}

    @property
    def _arguments(self) -> dict[str, Any]:
        return {**given_of(self.settings, self.eta), **in_cmdstans_words(self.settings, self.family)}

    @property
    def _log_ratios(self) -> Floats:
        return self.result.log_p - self.result.log_g

    @checks
    def sample(self, n: int, seed: int | None = None) -> Floats:
        """`n` more draws (n, columns) without a refit, not those of `draws()` even with the same seed.

        Draws that were moved go on from where their chains ended. Others are independent of `draws()`.

        Raises:
            InferenceError: the density is not finite where the approximation lies.

        Example:
            >>> fit.sample(50).shape
            (50, 34)
        """
        if self.settings.algorithm not in more.OF_SEVERAL_GAUSSIANS:
            return self.more(n, seed).draws()
        own = self._settings_for(n, seed)
        return more.columns_of_more_draws(self.posterior, self.settings, own, self.result)

    def _settings_for(self, n: int, seed: int | None) -> Settings:
        """The settings with n draws."""
        return replace(self.settings, draws=n, seed=self.settings.seed if seed is None else seed)

    @checks
    def more(self, n: int, seed: int | None = None, progress: Listener | bool | None = None) -> "Fit":
        """The same approximation with `n` new draws, without a refit: a fit to save or plot.

        `progress` is as in `variational`.

        Example:
            >>> fit.more(5000).draws().shape
            (5000, 34)

        Raises:
            InferenceError: the density is not finite where the approximation lies, or the draws of the
                algorithm are not those of one approximation.
        """
        return more_of(self.posterior, self._settings_for(n, seed), more.RunResult.of(self.result), progress)

    @takes(SampleKeywords)
    def then_sample(self, **keywords: Any) -> "Chains":
        """Draws of the posterior by NUTS. Each chain starts at a draw of q, in coordinates scaled by q.

        Use it if the verdict is not good. The defaults of seed and backend are those of the fit. A poor
        verdict is also a `PoorFitWarning`.

        Raises:
            InferenceError: a setting is out of range, or no start has a finite density.
            UnknownSetting: there is no setting of that name.
            MissingPackage: nutpie is not installed.

        Example:
            >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 20, "backend": "autograd"}
            >>> fit.then_sample(**short).stan_variable("theta").shape
            (40, 8)
        """
        settings = self.settings
        usual = {"seed": settings.seed, "backend": settings.backend, "device": settings.device}
        chains: Chains = markov.sample_from(self.posterior, {**usual, **keywords}, self.warm_start)
        if chains.level is Level.POOR:
            warn_caller(chains.judgement, PoorFitWarning)
        return chains

    def update(self, data: AnyData, **keywords: Any) -> "Fit":
        """The fit to these rows and to new rows, computed from its draws and the new rows only.

        `data` are the new rows, as in `Model.condition`. Variables other than rows that `data` omit keep
        their values. A Gaussian factor replaces the likelihood of earlier rows; if none is close, these rows
        are stored and fitted again. The priors are those of the program, and draws are corrected as by
        `auto`. The verdict says how close each factor was. Groups of the fit keep their order; a larger size
        adds new ones. Keywords are those of `variational`. `loo` and the files cover the new and the stored
        rows, `log_evidence` all rows. Opper (1998), "On-line learning in neural networks".

        Raises:
            ModelError: fits of the program cannot be updated; the message gives the line.
            InferenceError: the target is no sum over rows, there are more than 1,000 parameters, or the fit
                is a mode.
            DataError: the new data do not fit the program, or have fewer groups.

        Example:
            >>> program = "data { int N; vector[N] y; } parameters { real m; } "
            >>> program += "model { m ~ normal(0, 5); y ~ normal(m, 1); }"
            >>> fit = compile_model(program).condition({"N": 3, "y": [1, 2, 4]}).variational(seed=1)
            >>> bool(abs(fit.update({"N": 2, "y": [3, 3]}).stan_variable("m").mean() - 2.59) < 0.05)
            True
        """
        if not self.result.family.scales(self.result.params).all():
            raise InferenceError(f'A fit by algorithm = "{self.settings.algorithm}" has no q to update.')
        enough = updating.draws_for_site(self.posterior.param_unc_num())
        draws = self if len(self.draws_u) >= enough else self.more(enough)
        with threads_of_fit(self.posterior):
            new = updating.updated(self.posterior, draws.draws_u, data)
            if self.level is Level.GOOD:
                new = updating.with_coverage(new, self.posterior, draws.draws_u)
        fit = variational(new, **{"seed": self.settings.seed, **keywords})
        if fit.level is Level.POOR:
            warn_caller(fit.judgement, PoorFitWarning)
        return fit

    @property
    def warm_start(self) -> Warm:
        """The start of another run: q."""
        return Warm(self.result.family, self.result.params)

    @checks
    def save_csv(
        self, path: str | Path = "output.csv", arguments: ArgumentValues | None = None, started: str = ""
    ) -> None:
        """Write the draws in CmdStan's format.

        `arguments` adds to the arguments in the comments (see results.arguments); its "ppl.format" is the
        layout: "variational", or "sample" without the row of the mean. `started` adds the time of the start;
        files of equal runs then differ.

        Raises:
            OSError: the file cannot be written; an older one is then left as it was.

        Example:
            >>> fit.save_csv("again.csv")
        """
        config = self.config({"output.file": str(path), **(arguments or {})}, started)
        draws = (self.result.log_p, self.result.log_g, self.draws())
        if config.values["ppl.format"] == "sample":
            lines = stan_csv.sample_lines(config, self.column_names, *draws)
        else:
            lines = csv_lines(comment_lines(config), self.column_names, self.eta, self.at_mean(), *draws)
        write_whole(path, lines)

    @checks
    def save_diagnostics(
        self, path: str | Path, arguments: ArgumentValues | None = None, started: str = ""
    ) -> None:
        """Write iteration, seconds and ELBO (nats) of each evaluation as CSV, in CmdStan's layout.

        Raises:
            OSError: the file cannot be written; an older one is then left as it was.

        Example:
            >>> fit.save_diagnostics("diagnostics.csv")
        """
        config = self.config({"output.diagnostic_file": str(path), **(arguments or {})}, started)
        write_whole(path, stan_csv.diagnostic_lines(config, self.result.path.trace))

    @checks
    def save_config(self, path: str | Path, arguments: ArgumentValues | None = None) -> Path:
        """Write the configuration of `output.csv` as CmdStan's `output_config.json`; return its name.

        Raises:
            OSError: the file cannot be written; an older one is then left as it was.

        Example:
            >>> fit.save_config("output.csv").name
            'output_config.json'
        """
        target = beside(path, "config")
        write_whole(target, [as_json(self.config({"output.file": str(path), **(arguments or {})}))])
        return target

    @checks
    def save_warm_start(self, path: str | Path = "output.csv") -> list[Path]:
        """Write `output_metric.json`, `output_inits_1.json` and so on, for CmdStan's sampler.

        The metric is dense for the full-rank family, otherwise diagonal. The initial values are different
        draws. Returns the names of the files.

        Raises:
            OSError: a file cannot be written; an older one is then left as it was.

        Example:
            >>> fit.save_warm_start("output.csv")[0].name
            'output_metric.json'
        """
        declared = self.posterior.declared(include_tp=False, include_gq=False)
        rows = self.draws()[:, : len(self.posterior.param_names())]
        dense = self.family == "fullrank"
        return save_warm_start(Path(path), self.result.draws_u, dense, declared, rows)

    @checks
    def save(
        self,
        path: str | Path,
        arguments: ArgumentValues | None = None,
        *,
        with_program: bool = False,
        with_data: bool = False,
    ) -> None:
        """Write the fit as JSON for `load_fit`, with names and hashes of program and data.

        `with_program` adds the text of the program, `with_data` the data. `load_fit` needs
        what it does not contain.

        The file of an updated fit also contains its stored rows and the data that the new data omit.

        `arguments` is as in `save_csv`: its "data.file" names the data for commands that read the fit.

        Raises:
            ArgumentError: the suffix is a format of draws or objects, such as `.nc` or `.pkl`.
            OSError: the file cannot be written; an older one is then left as it was.

        Example:
            >>> fit.save("again.json")
        """
        require_name_of_fit(Path(path))
        named = str((arguments or {}).get("data.file", ""))
        text = saved.to_json(
            self.posterior,
            self.settings,
            self.result,
            self.provenance,
            later_draws=self.later_draws,
            data_file=named,
            with_program=with_program,
            with_data=with_data,
        )
        write_whole(path, [text])


@takes(VariationalKeywords)
def variational(posterior: LogDensity, **keywords: Any) -> Fit:
    """Fits `posterior` by automatic differentiation variational inference (Kucukelbir et al. 2017).

    The keywords are those of `Settings`, and of `keywords.RunOptions`.

    Raises:
        InferenceError: a setting is out of range, the posterior improper, or no start has a finite density.
        UnknownSetting: there is no setting of that name.
        DataError: `init` does not fit the parameters, or `checkpoint` is of another run.
        KeyboardInterrupt: Ctrl-C, once the checkpoint is written; its `fit` is what there is. After
            `timeout` seconds that fit is returned.

    Example:
        >>> variational(posterior, algorithm="laplace", draws=10).draws().shape
        (10, 34)
    """
    run = take_options(RunOptions, keywords)
    settings = Settings(**keywords)
    checkpoint_options = (
        CheckpointOptions(Path(run.checkpoint), run.resume, run.checkpoint_every) if run.checkpoint else None
    )
    with listener_of(run.progress, phases_of(settings)) as shown, logging_stages(shown) as listen:
        deadline = Deadline(listen, run.timeout)
        try:
            fit, _ = fit_with_journal(posterior, settings, deadline, checkpoint_options)
        except KeyboardInterrupt:
            if deadline.passed:
                raise InferenceError(
                    f"There was no fit after timeout = {run.timeout:g} s; allow more."
                ) from None
            raise
    if deadline.passed:
        return replace(fit, result=fit.result.stopped(f"stopped after timeout = {run.timeout:g} s"))
    if fit.outcome.ending is Ending.INTERRUPTED:
        if run.on_interrupt == "raise":
            raise Interrupted(fit)
    elif checkpoint_options:
        checkpoint_options.discard(settings.runs)
    return fit


def fit_with_journal(
    posterior: LogDensity,
    settings: Settings,
    progress: Listener = silent,
    checkpoint: CheckpointOptions | None = None,
) -> tuple[Fit, Checkpoint]:
    """As `variational`, with the journal of the run: a checkpoint stays until it is discarded."""
    parts, journal = fit_posterior(posterior, settings, progress, checkpoint)
    return Fit(posterior, settings, *parts), journal


class Conditions(Protocol):
    """A compiled program that can be given data."""

    def condition(
        self, data: Any, *, seed: int = 0, missing: Literal["refuse", "model", "drop"] = "refuse"
    ) -> LogDensity: ...

    @property
    def data_schema(self) -> dict[str, str]: ...


@memory_required()
def more_of(
    posterior: LogDensity, settings: Settings, result: "RunResult", progress: Listener | bool | None = None
) -> Fit:
    """A fit with fresh draws of what was found, of which the settings have the number and the seed.

    Raises InferenceError as `Fit.more` does.
    """
    if settings.algorithm in more.OF_SEVERAL_GAUSSIANS:
        raise InferenceError(
            f"The draws of {settings.algorithm} are resampled from several Gaussians, so more "
            f"draws need another run, with draws = {settings.draws}."
        )
    with listener_of(progress, phases_of_draws(settings)) as listen:
        fresh: FitDraws = more.more_draws(posterior, settings, result, listen)
    return Fit(posterior, settings, *fresh, later_draws=True)


@checks
def load_fit(
    path: str | Path, model: Conditions, data: Any, *, progress: Listener | bool | None = None
) -> Fit:
    """The fit that `Fit.save` wrote, with the same draws, given its program and data.

    `progress` is as in `variational`.

    Raises:
        DataError: `path` is not a saved fit, or is one of another program or other data.

    Example:
        >>> again = ppl.load_fit("fit.json", model, "eight_schools.data.json")
        >>> bool((again.draws() == fit.draws()).all())
        True
    """
    record, posterior, settings, _ = open_fit(path, model, data)
    require_memory(posterior.extent, settings)
    with threads_of_fit(posterior), listener_of(progress, (Phase.VARIABLES,)) as listen:
        with damage_reported(path, kinds=(InferenceError, *NONSENSE)):  # it had a density when it was saved
            target, later = target_of(posterior, settings), saved.later_draws(record)
            result = saved.result_of(record, posterior, target)
        key = more.MORE_DRAWS_STREAM if later else 0
        draws = draws_of(posterior, target, settings, result, key, listen)
        return Fit(posterior, settings, *draws, later_draws=later)


class Opened(NamedTuple):
    """A saved fit; its draws are not made again."""

    record: Mapping[str, Any]
    posterior: LogDensity
    settings: Settings
    found: "RunResult"

    def more(self, n: int, seed: int, progress: Listener | bool | None = None) -> Fit:
        """`n` draws that are not those of the fit; see `Fit.more`."""
        return more_of(self.posterior, replace(self.settings, draws=n, seed=seed), self.found, progress)


def open_fit(path: str | Path, model: Conditions, data: Any) -> Opened:
    """A saved fit; raises DataError as `load_fit` does."""
    record = saved.read(path)
    with damage_reported(path):
        missing = missing_of(record["unconstrained"], model.data_schema)
        earlier = updating.earlier_from_json(record)
    if LABELS in record:
        data = replace(load_data(data), levels=labels_in(record).levels)
    posterior = model.condition(updating.with_unchanged(model, earlier, data), missing=missing)
    with damage_reported(path):
        refuse_mismatch(path, record, identity(posterior))
        if earlier:
            posterior = replace(posterior, earlier=earlier)
        return Opened(record, posterior, Settings(**record["settings"]), saved.found_of(record, posterior))


def _missing(table: Table) -> tuple[str, ...]:
    """Which columns are nan in some draws though nothing failed there; the summary leaves those draws out."""
    counts = by_columns(lambda some: np.isnan(some).sum(axis=0), table.rows[1:])
    names = [name for name, count in zip(table.columns, counts, strict=True) if count]
    if table.failed or not names:
        return ()
    others = f" and {len(names) - 1} more columns" if len(names) > 1 else ""
    return (f"{names[0]}{others} are nan in up to {counts.max()} of {len(table.rows) - 1} draws.",)
