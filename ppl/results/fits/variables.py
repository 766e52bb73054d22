"""The variables of a program among its draws, however these were made."""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ppl import api
from ppl.arguments import checks
from ppl.data import AnyData
from ppl.data.load import is_frame
from ppl.density.completions import completed_draws
from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.draws.columns import chosen, in_columns, labelled, reshape, variables, whole_numbers
from ppl.kernel.draws.names import unflatten, variable_of
from ppl.kernel.ir import nodes as ir
from ppl.late import LateModule
from ppl.methods.diagnose.level import Level
from ppl.results.arguments.tree import ArgumentValues
from ppl.results.files.arviz import (
    BY_OUTCOME,
    OBSERVED,
    PREDICTIVE,
    REPLICATED,
    Groups,
    inference_data,
    to_xarray,
)
from ppl.results.files.axes import Axes, AxisNames, Coords, Dims
from ppl.results.files.config import Config, Metadata, NestedSettings, as_json
from ppl.results.report.log_lik import POINTWISE, LogLik, of_draws
from ppl.results.report.style import TableStyle
from ppl.results.report.summary import Summary
from ppl.run.identity import positive_transform
from ppl.run.posterior_target import parameters_of
from ppl.system.distribution import extra

if TYPE_CHECKING:
    import pandas as pd
    import xarray

    from ppl.results.doctor.doctor import Examination
    from ppl.results.fits.by_row import RowsByOutcome
    from ppl.results.fits.expected import ExpectedValues
    from ppl.results.fits.scenarios import Effects
    from ppl.results.pictures.plots import Plots
    from ppl.results.report.loo import Loo, LooByOutcome

by_row, new_rows = LateModule("ppl.results.fits.by_row"), LateModule("ppl.results.fits.new_rows")
expected, scenarios = LateModule("ppl.results.fits.expected"), LateModule("ppl.results.fits.scenarios")
pictures, left_out = LateModule("ppl.results.pictures.plots"), LateModule("ppl.results.fits.reloo")
discrete, loo = LateModule("ppl.density.discrete"), LateModule("ppl.results.report.loo")
"""Modules that few fits need, which import the compiler."""


class VariablesOfDraws(api.Members, ABC):
    """The variables of a program among draws, by their names."""

    posterior: LogDensity

    def _named_variables(self) -> Collection[str]:
        return variables(self.column_names)

    @property
    @abstractmethod
    def column_names(self) -> tuple[str, ...]:
        """Parameters, transformed parameters, generated quantities, named as in Stan: `theta.1`."""

    @property
    @abstractmethod
    def draws_u(self) -> Floats:
        """The draws on the unconstrained scale, shape (draws, dim)."""

    @abstractmethod
    def draws(self) -> Floats:
        """The draws, shape (draws, columns)."""

    @property
    @abstractmethod
    def judgement(self) -> str:
        """The verdict on the draws in words."""

    @property
    @abstractmethod
    def level(self) -> Level:
        """The level of the verdict: good, usable, poor or unknown."""

    @property
    @abstractmethod
    def about(self) -> dict[str, str]:
        """The entries of every file of these draws."""

    @property
    @abstractmethod
    def _chain_rows(self) -> list[Floats]:
        """The draws of each chain, shape (draws, columns)."""

    @property
    @abstractmethod
    def _sample_stats(self) -> dict[str, Any]:
        """Columns of the algorithm for each draw, shape (chains, draws), by ArviZ's names."""

    @abstractmethod
    def method_variables(self) -> dict[str, Floats]:
        """Columns of the algorithm for each draw, shape (draws, ...), by the names of the file's columns."""

    @property
    @abstractmethod
    def _arguments(self) -> dict[str, Any]:
        """The settings of the run, as CmdStan's arguments."""

    @abstractmethod
    def _summarised(self, columns: Sequence[str], rows: Floats, style: TableStyle) -> Summary:
        """The summary of named columns that are computed from each draw, (draws, columns)."""

    @property
    def _log_ratios(self) -> Floats:
        """Log p/q of each draw (draws,), 0 of draws of the posterior."""
        return np.zeros(len(self.draws_u))

    @checks
    def stan_variable(self, name: str) -> Floats:
        """Draws of one variable, shape (draws, *its own shape), or (draws,) of one column, `theta[1]`.

        `fit["theta"]` is the same; a level of a factor names a column too, `u[Hull]`.

        Raises:
            UnknownName: there is no variable of that name; a KeyError that lists those that there are.

        Those of a discrete parameter are integers.

        Example:
            >>> fit.stan_variable("theta").shape
            (1000, 8)
        """
        return self._variable(name, self.draws())

    def __getitem__(self, name: str) -> Floats:
        """Draws of one variable, or of one column: `stan_variable`."""
        return self.stan_variable(name)

    def _variable(self, name: str, rows: Floats) -> Floats:
        """One variable of rows (n, columns), shape (n, *its own shape)."""
        column = in_columns(self.column_names, name, self.posterior.labels)
        completion = next((c for c in self.posterior.model.completions if c.name == name), None)
        if completion:
            of_part = rows[:, variables(self.column_names)[name]]
            values = completed_draws(completion, self.posterior.d, of_part)
        elif column in self.column_names:
            values = rows[:, self.column_names.index(column)].copy()
        else:
            values = reshape(rows, self.column_names, name)
        return whole_numbers(values) if variable_of(column) in self.discrete else values

    def stan_variables(self) -> dict[str, Floats]:
        """Draws of every variable by name, each of shape (draws, *its own shape).

        Example:
            >>> list(fit.stan_variables())
            ['mu', 'tau', 'theta_raw', 'theta', 'y_rep', 'log_lik']
        """
        return {name: self.stan_variable(name) for name in variables(self.column_names)}

    @checks
    def create_inits(self, seed: int | None = None, chains: int = 4) -> dict[str, Any] | list[dict[str, Any]]:
        """Initial values for chains: the parameters of different random draws.

        Returns a dict for one chain, otherwise a list with one dict per chain, for
        `posterior.sample(init=...)` or CmdStanPy's `inits`. If all draws are equal, as for a mode, it returns
        one dict for all chains.

        Raises:
            InferenceError: there are fewer different draws than chains.

        Example:
            >>> inits = fit.create_inits(seed=1, chains=2)
            >>> sorted(inits[0]), inits[1]["theta_raw"].shape
            (['mu', 'tau', 'theta_raw'], (8,))
        """
        declared = self.posterior.declared(include_tp=False, include_gq=False)
        rows = self.draws()[:, : len(self.posterior.param_names())]
        _, first = np.unique(rows, axis=0, return_index=True)
        if len(first) == 1:
            return unflatten(declared, rows[0])
        if len(first) < chains:
            raise InferenceError(f"There are {len(first)} different draws, fewer than {chains} chains.")
        picked = np.random.default_rng(seed).choice(np.sort(first), size=chains, replace=False)
        inits = [unflatten(declared, rows[k]) for k in picked]
        return inits[0] if chains == 1 else inits

    def log_lik(self) -> dict[str, Floats]:
        """The log likelihood of each row of the data at each draw, in nats, by data variable.

        Each is an array (draws, *shape of the rows): (draws, N) for `y ~ normal(mu, sigma)` with N entries or
        for an array of N vectors with one density each, (draws,) for one density of all entries. The terms
        are read from the model block: `~` and `target +=` of densities, also in loops, in branches on data
        and through locals, as in mixtures. A row with several terms has their sum; a row without a term has
        0. Discrete parameters are marginalised. Priors are omitted; constants are included. If the program
        defines `log_lik`, that is returned, by the name of the data if they are one variable.

        It is computed at the first call, in about the time of generated quantities of that size.

        Raises:
            ModelError: a term belongs to no row of one variable; says which line, and what to write.

        Example:
            >>> program = "data { int N; vector[N] y; } parameters { real m; } "
            >>> program += "model { m ~ normal(0, 5); y ~ normal(m, 1); }"
            >>> fit = compile_model(program).condition({"N": 3, "y": [1, 2, 4]}).variational(seed=1)
            >>> fit.log_lik()["y"].shape, fit.loo().elpds.shape
            ((1000, 3), (3,))
        """
        if POINTWISE not in variables(self.column_names):
            return {**by_row.arrays(self._by_row)}
        outcomes = by_row.outcomes(self.posterior)
        return {outcomes[0] if len(outcomes) == 1 else POINTWISE: self.stan_variable(POINTWISE)}

    @checks
    def predictive(self, seed: int = 1) -> dict[str, Floats]:
        """Replicated data given each draw (posterior predictive), by data variable (draws, *its own shape).

        The `~` statements of data, and densities that are added to the target, are simulated in their order.
        Values that the model block computes from data use the simulated data; a time series is simulated from
        its start. Entries without a statement, transformed data and transformed parameters keep their values.
        If the generated quantities define `NAME_rep`, that is returned.

        Raises:
            ModelError: a term of data cannot be simulated, such as a censored one; the message gives the
                line and what to write.
            InferenceError: they can be computed at no draw; says why.

        Example:
            >>> program = "data { int N; vector[N] y; } parameters { real m; } "
            >>> program += "model { m ~ normal(0, 5); y ~ normal(m, 1); }"
            >>> fit = compile_model(program).condition({"N": 3, "y": [1, 2, 4]}).variational(seed=1)
            >>> fit.predictive()["y"].shape
            (1000, 3)
        """
        names = [name for name in by_row.outcomes(self.posterior) if name + REPLICATED not in self._names]
        is_drawn = names or not self._replicated  # without outcomes it says why there are none
        simulated = by_row.predictive(self.posterior, self.draws_u, seed) if is_drawn else {}
        own = {name: self.stan_variable(name + REPLICATED) for name in self._replicated}
        return {**{name: simulated[name] for name in names if name in simulated}, **own}

    @checks
    def predict(
        self,
        data: AnyData,
        seed: int = 1,
        replicate: str | Sequence[str] = (),
        interval: float = 0.9,
        hdi: bool = False,
    ) -> Any:
        """Draws of what new rows do not hold, given each draw, by data variable (draws, *its own shape).

        `data` are the new rows, as in `Model.condition`. Of the variables that a statement models, outcomes
        and predictors, values that are given are conditioned on, and absent, `None` or NaN ones are drawn,
        entry by entry; those of `replicate` are all drawn. Parameters with an entry for each row (a size that
        outcomes have too) and effects of new groups are drawn given the values that depend on them. Other
        omitted variables keep their values from the fit. Parameters are those of the fit; `update` changes
        them. If a number of groups is larger than at the fit, entries of new groups are drawn from their
        prior given each draw of the others. If it is omitted, it is the largest index in the new data, or
        that of the fit if larger. Means and deviations of all rows of data, `mean(x)`, and transformed data
        that depend on the outcomes keep their values from the fit. Entries without a statement are nan.

        For a DataFrame of pandas or polars it returns a DataFrame: the mean, 5% and 95% of each variable that
        is drawn for each row, in columns `y`, `y.5%`, `y.95%`; of another `interval` or with `hdi` as in
        `Fit.summary`.

        Raises:
            ModelError: an outcome, or an effect of a new group, cannot be drawn; says which line.
            InferenceError: they can be computed at no draw, as where a series has no first value; says why.
            DataError: the new data do not fit the program, or hold all that it draws: see `score`.

        Example:
            >>> program = "data { int N; vector[N] x; vector[N] y; } parameters { real b; } "
            >>> program += "model { b ~ normal(0, 5); y ~ normal(b * x, 1); }"
            >>> data = {"N": 3, "x": [1, 2, 3], "y": [1, 2, 4]}
            >>> fit = compile_model(program).condition(data).variational(seed=1)
            >>> fit.predict({"N": 2, "x": [4, 5]})["y"].shape
            (1000, 2)
            >>> fit.score({"N": 2, "x": [4, 5], "y": [5, 5]})["y"].round(1)
            array([-1.3, -1.6])
        """
        names = (replicate,) if isinstance(replicate, str) else replicate
        arrays = new_rows.predicted(self.posterior, self.draws_u, data, seed, names)
        style = TableStyle(interval, hdi)
        return new_rows.in_frame(arrays, data, style) if is_frame(data) else arrays

    @checks
    def expected(
        self,
        data: AnyData | None = None,
        seed: int = 1,
        replicate: str | Sequence[str] = (),
        interval: float = 0.9,
        hdi: bool = False,
    ) -> Any:
        """The mean of each outcome given each draw, from its `~` statement, by data variable.

        It is a probability where the outcome is 0 or 1, a rate of counts; of categories an array (draws,
        *shape, categories) of their probabilities. The arguments of the statement read the data: in
        `y[t] ~ normal(b * y[t - 1], s)` the earlier value that was observed. With `data`, new rows: what they
        hold is conditioned on, and what they lack is drawn first where statements read it, as in `predict`;
        each modelled variable has its expected values, given or not. Without `data`, the rows of the fit.
        Means of truncated distributions and of mixtures (`log_mix`) are exact. A mean that is infinite, or
        does not exist at the parameters of a draw, is nan. For a DataFrame it returns a DataFrame, as
        `predict`, with columns `y[Yes]` for categories.

        Raises:
            ModelError: a distribution has no known mean; says which line and why. A distribution that the
                program defines, `my_lpdf`, has the mean `my_mean(...)` that it defines.
            DataError, InferenceError: as for `predict`.
        """
        names = (replicate,) if isinstance(replicate, str) else replicate
        if data is None:
            means = by_row.arrays_of(*by_row.predictive_table(self.posterior, self.draws_u, seed, means=True))
        else:
            means = new_rows.predicted(self.posterior, self.draws_u, data, seed, names, means=True)
        axes = expected.axes_of(self.posterior, means)
        values: ExpectedValues = expected.ExpectedValues(means, self._summarised, axes)
        style = TableStyle(interval, hdi)
        return new_rows.in_frame(values.by_row(), data, style) if is_frame(data) else values

    @checks
    def effects(
        self, predictor: str, by: str | None = None, at: Mapping[str, Any] = {}, seed: int = 1
    ) -> "Effects":
        """Expected values over a grid of a predictor, `by` groups of a second one.

        `predictor` is a data variable by row, or a column of a matrix, `x[2]`. The grid has its levels, or
        its values if there are at most 20, else 50 between the least and the greatest. Other predictors are
        at their mean, integers and factors at their mode, or at the values `at`, {"age": 40}. `by` a real
        predictor of many values takes its mean and one standard deviation on either side. Modelled predictors
        that depend on the predictor are drawn. Compute products
        and powers of predictors in the program: data that hold them stay at their mean.

        Raises:
            UnknownName: there is no such predictor.
            DataError, ModelError: as for `expected`.
        """
        return scenarios.effects(
            self.posterior, self.draws_u, self._summarised, predictor, by or "", at, seed
        )

    @checks
    def contrast(self, of: Mapping[str, Any], average: bool = True, seed: int = 1) -> "ExpectedValues":
        """How expected values change between scenarios, {"sex": ["F", "M"]}: each compared with the first.

        The result has `difference_y`; `ratio_y` where all means are positive; `odds_ratio_y` where the
        outcome is 0 or 1, or of categories. Means are averaged over the rows of the fit, in which the
        predictors are changed: an odds ratio of these is not the exponential of a coefficient. Modelled
        predictors have their observed values, or the fit's draws of missing ones; those that depend on the
        changed ones are drawn in each scenario. With `average` False the others are at their mean or
        mode, as in `effects`. Lists of several predictors are read together: the first value of each is the
        first scenario.

        Raises:
            UnknownName, DataError, ModelError: as for `effects`; or there are no two scenarios.

        Example:
            >>> program = "data { int N; array[N] int<lower=0, upper=1> x, y; } parameters { real a, b; } "
            >>> program += "model { [a, b] ~ normal(0, 2); y ~ bernoulli_logit(a + b * to_vector(x)); }"
            >>> data = {"N": 6, "x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 1, 1, 0, 1]}
            >>> fit = compile_model(program).condition(data).variational(seed=1)
            >>> list(fit.contrast({"x": [0, 1]}))
            ['difference_y', 'ratio_y', 'odds_ratio_y']
        """
        return scenarios.contrast(self.posterior, self.draws_u, self._summarised, of, average, seed)

    @checks
    def score(self, data: AnyData, outcome: str | None = None, seed: int = 1) -> dict[str, Floats]:
        """The log score of what new rows hold: the log predictive density by row, by data variable.

        It is the logarithm of the mean over draws of the density of a row, in nats, given the values that
        its statement reads: (rows,) for a vector of outcomes, nan for rows that are not given, or that no
        statement is of, as the first of a series. All modelled
        variables are scored, or only the `outcome`, given the others. What new rows do not hold is drawn, as
        in `predict`.

        Raises:
            ModelError: a term belongs to no row of one variable, or something cannot be drawn.
            DataError: the new data do not fit the program, or the outcome is not given; or several outcomes
                depend on the same unknown values, and none is named.
        """
        names = () if outcome is None else (outcome,)
        scores = new_rows.scored(self.posterior, self.draws_u, data, seed, names)
        return {name: each.values for name, each in scores.items()}

    @checks
    def doctor(self, seed: int = 1, outcome: str | Sequence[str] | None = None) -> "Examination":
        """Check whether the model fits its data: findings, each with the line to change.

        It compares statistics of the data with those of replicated data (`predictive`), residuals with the
        columns of the data, the prior with the data, and rows with the posterior without them (`log_lik`). A
        correct model has a finding with probability at most 0.01, over all checks. Data that the program does
        not declare are columns too. It reads at most 1,000 draws and 5,000 rows. Each outcome is examined by
        itself, `outcome` only.

        Raises:
            UnknownName: there is no such outcome.

        Example:
            >>> fit.doctor()
            <Examination of 1 outcome by ... checks: no findings>
        """
        from ppl.results.doctor.doctor import examine
        from ppl.results.doctor.gather import gather

        ratios = self._log_ratios
        evidence = gather(self.posterior, self.draws_u, ratios, self.log_lik, self.predictive, seed, outcome)
        return examine(evidence, self.judgement, self.level)

    @property
    def _names(self) -> Collection[str]:
        return variables(self.column_names)

    @property
    def _replicated(self) -> list[str]:
        """The data variables that the program itself draws anew."""
        return [name for name in self.posterior.model.data_schema if name + REPLICATED in self._names]

    @property
    def _of_data(self) -> dict[str, tuple[str, str]]:
        """Variables among the draws that ArviZ keeps in another group, and the outcome that each is of."""
        predictive, log_likelihood = BY_OUTCOME
        groups = {PREDICTIVE: (predictive, OBSERVED)} if PREDICTIVE in self._names else {}
        groups |= {name + REPLICATED: (predictive, name) for name in self._replicated}
        if POINTWISE in self._names:
            only = by_row.outcomes(self.posterior)
            groups[POINTWISE] = (log_likelihood, only[0] if len(only) == 1 else POINTWISE)
        return groups

    def _requested_groups(self, log_likelihood: bool, posterior_predictive: bool) -> Groups:
        """ArviZ's groups of what the program says of its data, each array (chains, draws, *shape)."""
        chains = len(self._chain_rows)
        groups = {
            "log_likelihood": self.log_lik() if log_likelihood else {},
            "posterior_predictive": self.predictive() if posterior_predictive else {},
        }
        return {
            group: {name: x.reshape(chains, -1, *x.shape[1:]) for name, x in content.items()}
            for group, content in groups.items()
        }

    @cached_property
    def _by_row(self) -> "RowsByOutcome":
        return by_row.log_likelihood(self.posterior, self.draws_u)

    def _pointwise(self, outcome: str | Sequence[str] | None, name: str) -> list[LogLik]:
        """The log likelihood that is called `name` among the draws, else that which the program tells."""
        where, log_ratios, outcomes = (
            self.posterior.source.name,
            self._log_ratios,
            by_row.outcomes(self.posterior),
        )
        there = name != POINTWISE or name in variables(self.column_names)
        only = outcomes[0] if len(outcomes) == 1 else None
        if there and outcome in (None, [], only, [only]):
            own = of_draws(self.column_names, self.draws(), log_ratios, name, where)
            return [by_row.of_outcome(own, self.posterior, only) if only else own]
        rows = by_row.chosen_outcomes(self._by_row, outcome)
        return [*by_row.log_liks(rows, log_ratios, where)]

    @overload
    def loo(
        self, outcome: None = None, log_lik: str = POINTWISE, reloo: bool = False, seed: int = 1
    ) -> "Loo | LooByOutcome": ...
    @overload
    def loo(
        self, outcome: str | Sequence[str], log_lik: str = POINTWISE, reloo: bool = False, seed: int = 1
    ) -> "Loo": ...
    @checks
    def loo(
        self,
        outcome: str | Sequence[str] | None = None,
        log_lik: str = POINTWISE,
        reloo: bool = False,
        seed: int = 1,
    ) -> "Loo | LooByOutcome":
        """The ELPD of left-out rows by PSIS-LOO, in nats; of several outcomes a mapping, by name.

        `outcome` chooses one outcome. Several, `["y1", "y2"]`, are one whose row n is row n of each: their
        densities are added up by row. A row of which one is missing has the others. If a density of one
        outcome cannot be read, the others are still read; `reading` says which is omitted.

        The log likelihood is read from the model block, as `log_lik()`, unless the generated quantities have
        `log_lik`, or the name that `log_lik` gives. Draws of q are weighted towards the posterior; other
        draws count as draws of the posterior. Vehtari, Gelman and Gabry (2017).

        With `reloo` each row whose k-hat is too high, or at most a standard error below that, is left out in
        fact, by the model block: draws are moved to the posterior without it, with this `seed`. Its k-hat is
        then 0. A row for which they do not converge keeps its k-hat.

        Raises:
            DataError: there is no such quantity, it is no finite number for each row, or rows of several
                outcomes do not correspond; says what to add.
            UnknownName: there is no such outcome.
            ModelError: none can be read from the program; says which line, and what to write.

        Example:
            >>> loo = fit.loo()
            >>> loo.outcome, loo.elpds.shape, bool(-34 < loo.elpd < -29)
            ('y', (8,), True)
        """
        if reloo:
            of_draws = self.draws_u, self._log_ratios
            loos = left_out.reloo(self.posterior, *of_draws, outcome, self.posterior.source.name, seed)
        else:
            loos = map(loo.loo_of, self._pointwise(outcome, log_lik))
        return loo.loo_by_outcome(loos, self.level)

    @property
    def discrete(self) -> tuple[str, ...]:
        """The discrete parameters, which were marginalised and drawn afterwards."""
        model = self.posterior.model
        completed = {c.whole: c.name for c in model.completions}
        return () if model.discrete is None else tuple(completed.get(n, n) for n in model.discrete.names)

    @checks
    def probabilities(self, name: str) -> Floats:
        """The probabilities of a discrete parameter's values, shape (*its own shape, values).

        They are exact given the continuous parameters and averaged over the draws of these; the values are
        in order from the lower bound.

        Raises:
            InferenceError: there is no such discrete parameter.

        Example:
            >>> program = "parameters { real m; int<lower=0, upper=1> z; } "
            >>> program += "model { m ~ normal(0, 1); z ~ bernoulli_logit(m); }"
            >>> compile_model(program).condition().variational(seed=1).probabilities("z").shape
            (2,)
        """
        each: Floats = discrete.probabilities(self.posterior, self.draws_u, name)
        return np.mean(each, axis=0)

    @checks
    def most_probable(self, name: str) -> Any:
        """The values of a discrete parameter in the jointly most probable configuration of all discrete ones.

        One for each draw of the continuous parameters, shape (draws, *its own shape).

        Raises:
            InferenceError: there is no such discrete parameter.
        """
        values = discrete.most_probable(self.posterior, self.draws_u)
        if name not in values:
            raise InferenceError(f"`{name}` is not a discrete parameter; they are {', '.join(values)}.")
        return values[name]

    @property
    def plot(self) -> "Plots":
        """Pictures of the fit by kind, drawn by matplotlib: `fit.plot.forest("theta")` returns its axes.

        Example:
            >>> axes = fit.plot.forest(["mu", "theta"], title="Schools")
            >>> axes.get_title(loc="left"), [text.get_text() for text in axes.get_yticklabels()][:2]
            ('Schools', ['mu', 'theta.1'])
            >>> fit.plot.ppc(narrow=True).shape
            (5,)
        """
        return pictures.Plots(self)

    @checks
    def draws_pd(self, vars: str | Sequence[str] | None = None) -> "pd.DataFrame":
        """The draws as a pandas DataFrame (draws, columns), with columns `theta[1]`, or `u[Hull]` of a level.

        `vars` names variables, or columns as `theta[1]`, `theta.1` or `u[Hull]`; None for all. Needs pandas.

        Raises:
            DataError: there is no variable or column of that name; lists those that there are.
            MissingPackage: pandas is not installed.

        Example:
            >>> fit.draws_pd(vars=["mu", "theta[1]"]).columns.tolist()
            ['mu', 'theta[1]']
        """
        names, at = self._columns(vars)
        return self._frame(self.draws()[:, at], names)

    def _columns(self, vars: str | Sequence[str] | None) -> tuple[tuple[str, ...], list[int] | slice]:
        """The names of the columns that `vars` asks for, as `draws_pd`, and where they stand."""
        if vars is None:
            return self.column_names, slice(None)
        asked = [vars] if isinstance(vars, str) else vars
        names = chosen(self.column_names, asked, self.column_names, self.posterior.labels)
        place = {name: k for k, name in enumerate(self.column_names)}
        return names, [place[name] for name in names]

    def _frame(self, rows: Floats, names: Sequence[str]) -> "pd.DataFrame":
        pandas = extra("pandas", "A DataFrame", "pandas")
        labels = [labelled(name, self.posterior.labels) for name in names]
        return pandas.DataFrame(rows, columns=labels, copy=True)

    @checks
    def draws_xr(
        self,
        vars: str | Sequence[str] | None = None,
        coords: Coords = {},  # noqa: B006
        dims: Dims = {},  # noqa: B006
    ) -> "xarray.Dataset":
        """The draws as an xarray Dataset with the dimensions chain, draw, and each variable's own.

        `vars` names variables, None for all. `coords` and `dims` are as in `to_arviz`. Needs xarray.

        Raises:
            MissingPackage: xarray is not installed.

        Example:
            >>> dict(fit.draws_xr(coords={"school": list("ABCDEFGH")})["theta"].sizes)
            {'chain': 1, 'draw': 1000, 'school': 8}
        """
        axes = self._axes(coords, dims)
        names, at = self._columns(vars)
        dataset = to_xarray([rows[:, at] for rows in self._chain_rows], names, self.about, axes)
        return self._with_integers(dataset)

    @checks
    def to_arviz(
        self,
        coords: Coords = {},  # noqa: B006
        dims: Dims = {},  # noqa: B006
        log_likelihood: bool = False,
        posterior_predictive: bool = False,
    ) -> Any:
        """The draws for ArviZ: a DataTree with ArviZ 1 or arviz-base, an InferenceData with ArviZ 0.2x.

        An axis is called by the factor that indexes it, whose levels are its labels, else by the size that
        the program declares: of `vector[J] theta` it is `J`. Needs the extra `arviz`.

        Args:
            coords: labels by the name of a dimension, {"school": ["A", "B", ...]}.
            dims: dimensions by variable, {"theta": ["school"]}; where left out, an axis is the declared size
                if `coords` has labels for it, else the one dimension of `coords` with as many labels as it
                is long, else the declared size.
            log_likelihood: add that group by `log_lik()`, a variable for each outcome. Without it the group
                has the `log_lik` of the program, if there is one, by the name of the outcome if it is the
                only one.
            posterior_predictive: add that group by `predictive()`, likewise.

        Raises:
            MissingPackage: ArviZ is not installed.
            ArgumentError: labels have another length than every axis, or a variable has fewer axes.
            ModelError: a group that is asked for cannot be read from the program.

        Example:
            >>> inference = fit.to_arviz(coords={"school": list("ABCDEFGH")})
            >>> inference.posterior["theta"].dims
            ('chain', 'draw', 'school')
        """
        data = inference_data(
            self._chain_rows,
            self.column_names,
            self._sample_stats,
            self.posterior.observed,
            self.about,
            self._axes(coords, dims),
            self._of_data,
            self._requested_groups(log_likelihood, posterior_predictive),
        )
        if "posterior" in data:
            self._with_integers(data.posterior)
        return data

    @property
    def metadata(self) -> Metadata:
        """The run, as CmdStan's `_config.json` has it, and the shape of each variable.

        Example:
            >>> fit.metadata.stan_vars["theta"], fit.metadata.cmdstan_config["random"]["seed"]
            ((8,), 1)
        """
        shapes = {v.name: v.shape for v in self.posterior.declared(include_tp=True, include_gq=True)}
        settings = json.loads(as_json(self.config({})), object_hook=NestedSettings)
        return Metadata(settings, shapes)

    @checks
    def config(self, arguments: ArgumentValues, started: str = "") -> Config:
        """The configuration of the run, with further arguments."""
        model = self.posterior.model
        transform = {"ppl.positive_transform": positive_transform(model)}
        return Config(
            model=Path(model.source.name).stem.strip("<>") + "_model",
            arguments={**self._arguments, **transform, **arguments},
            started=started,
            parameters=parameters_of(self.posterior),
            about=self.about,
        )

    def _axes(self, coords: Coords, dims: Dims) -> Axes:
        declared = declared_axes(self.posterior.model.lowered)
        own, named = self._axes_of_levels(coords, declared)
        axes = {name: named.get(name, axes) for name, axes in declared.items()}
        return Axes({**own, **coords}, dims, axes, tuple(coords))

    def _axes_of_levels(self, coords: Coords, declared: AxisNames) -> tuple[Coords, AxisNames]:
        """The levels of axes that `coords` does not label, and the axes of variables, by names of factors."""
        labels, shapes = self.posterior.labels, self.metadata.stan_vars
        lengths = {
            axis: n
            for name, axes in labels.dims.items()
            for axis, n in zip(axes, shapes.get(name, ()), strict=False)
            if axis and n not in map(len, coords.values()) and axis not in shapes
        }
        own = {axis: [labels.level(axis, str(k)) for k in range(1, n + 1)] for axis, n in lengths.items()}
        return own, {
            name: [axis if axis in own else size for axis, size in zip(axes, declared[name], strict=True)]
            for name, axes in labels.dims.items()
        }

    def _with_integers(self, dataset: Any) -> Any:
        """The dataset, its discrete parameters as integers."""
        for name in self.discrete:
            if name in dataset:
                dataset[name] = dataset[name].copy(data=whole_numbers(dataset[name].values))
        return dataset


OF_DRAWS = ("chain", "draw")


def declared_axes(program: ir.Program) -> dict[str, tuple[str | None, ...]]:
    """The names of the sizes of every global variable: of `array[N] vector[J] theta` they are N and J.

    A size that is a number or an expression has no name; nor has one that is called as a variable with
    draws is, which a data set would take for that variable.
    """
    drawn = [*program.parameters, *program.transformed_parameter_names, *program.generated_names]
    taken = {*OF_DRAWS, *(variable.name for variable in drawn)}
    return {
        variable.name: tuple(
            size.name if isinstance(size, ir.Var) and size.name not in taken else None
            for size in (*variable.dims, *variable.sizes)
        )
        for variable in (*program.data, *drawn)
    }
