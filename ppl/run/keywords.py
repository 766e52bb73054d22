"""Functions that take settings as keywords: their types, defaults and help are those of a record."""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from secrets import randbits
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from ppl.errors import ArgumentError, OutOfRange, UnknownSetting, in_a_line
from ppl.kernel.advi.outcome import Listener
from ppl.methods.run import settings as records
from ppl.methods.run.setting import settings, settings_of
from ppl.records import dataclass, fields
from ppl.scalars import python_number
from ppl.spelling import SAMPLERS, nearest

SEED_BITS = 31
"""Of a seed that is chosen where `seed` is None."""
SECONDS_A_WRITE = 10.0
"""Seconds between two writes of a checkpoint: a short run writes none, a long one spends no time on them."""

OTHER_NAMES = {
    "iter_warmup": "num_warmup",
    "tune": "num_warmup",
    "iter_sampling": "num_samples",
    "chains": "num_chains",
    "parallel_chains": "cores",
    "adapt_delta": "delta",
    "target_accept": "delta",
    "max_treedepth": "max_depth",
    "iter": "num_samples",
    "inits": "init",
    "output_samples": "draws",
    "samples": "draws",
    "n_samples": "draws",
    "draws_per_path": "draws",
    "draws": "num_samples",
    "method": "algorithm",
    "num_paths": "runs",
    "num_draws": "draws",
    "num_elbo_draws": "elbo_samples",
    "algorithm": "optimizer",
    "time_limit": "timeout",
    "refresh": "progress",
    "random_seed": "seed",
    "show_progress": "progress",
    "progressbar": "progress",
}
"""Settings as CmdStanPy, PyMC and other methods call them, and here."""
ELSEWHERE = {
    "data": "the data go to model.condition(data)",
    "output_dir": "draws are written by save_csv(path)",
    "sig_figs": "files have all digits, tables as many as summary(sig_figs=3) says",
    "save_warmup": "draws of the warmup are not kept",
    "thin": "take every n-th row of draws()",
    "adapt_engaged": "a given eta is used without a search",
    "require_converged": "fit.outcome.converged says so",
    "show_console": "nothing is printed without progress=True",
    "mode": "the mode is found first",
    "psis_resample": "write posterior.variational(), which corrects draws of Pathfinder and others",
    "time_fmt": "no file is named by the time",
    "metric": "the warmup adapts it, and it is diagonal",
    "step_size": "the warmup adapts it; a greater delta makes it smaller",
    "threads_per_chain": "cores is the number of processes",
    "fixed_param": "a program without parameters is run by variational()",
    "chain_ids": "chains are numbered from 1",
    "force_one_process_per_chain": "cores is the number of processes",
    **dict.fromkeys(
        ("iter", "tol_obj", "tol_rel_obj", "tol_grad", "tol_rel_grad", "tol_param", "init_alpha"),
        "the search ends where CmdStan's does by default; an executable of `ppl build` takes it",
    ),
}
"""Settings of CmdStanPy without a counterpart, and what to do."""

OF_CHAINS = frozenset(
    """
    chains num_chains parallel_chains warmup num_warmup iter_warmup tune num_samples iter_sampling adapt_delta
    delta target_accept max_depth max_treedepth
    """.split()
)
"""Settings that `sample` has alone."""
BY_CHAINS = "posterior.sample(), or `ppl sample`, runs NUTS"

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")
W = TypeVar("W", bound="ProgressOptions")


@dataclass(frozen=True, kw_only=True)
class ProgressOptions:
    """How a run is followed, which changes nothing of what it gives.

    Attributes:
        progress: True shows a bar on a terminal or in a notebook, elsewhere plain lines on standard error;
            a function is called with an inference.Progress at each report; None or False is silent.
        on_interrupt: what Ctrl-C does: "raise" raises KeyboardInterrupt with what there is as its `fit`,
            "return" returns that.
        timeout: seconds after which the run ends, a fit at its next report, with what there is so far and
            its verdict.
    """

    progress: Listener | bool | None = None
    on_interrupt: Literal["raise", "return"] = "raise"
    timeout: float | None = None

    def __post_init__(self) -> None:
        known = self.progress is None or isinstance(self.progress, bool) or callable(self.progress)
        require(self, "progress", known, "True, False, None or a function")
        stated = isinstance(self.on_interrupt, str) and self.on_interrupt in ("raise", "return")
        require(self, "on_interrupt", stated, '"raise" or "return"')
        limit = self.timeout is None or (isinstance(self.timeout, int | float) and self.timeout > 0)
        require(self, "timeout", limit, "a number of seconds above 0, or None")


@dataclass(frozen=True, kw_only=True)
class RunOptions(ProgressOptions):
    """How a run is followed and kept, which changes nothing of what it gives.

    Attributes:
        checkpoint: a file to keep the state of the run in; it is there only if the run did not end by itself.
        resume: go on from `checkpoint`, if it is there, to the same fit as if nothing had happened.
        checkpoint_every: seconds between two writes of it.
    """

    checkpoint: str | Path | None = None
    resume: bool = False
    checkpoint_every: float = SECONDS_A_WRITE

    def __post_init__(self) -> None:
        super().__post_init__()
        path, every = self.checkpoint, self.checkpoint_every
        require(self, "checkpoint", isinstance(path, str | Path | None), "the path of a file, or None")
        require(self, "resume", isinstance(self.resume, bool), "True or False")
        duration = isinstance(every, int | float) and every >= 0
        require(self, "checkpoint_every", duration, "a number of seconds")


def require(record: ProgressOptions, name: str, good: bool, expected: str) -> None:
    """Raises OutOfRange unless a keyword has a value that it can have."""
    if not good:
        value = in_a_line(repr(getattr(record, name)))
        raise OutOfRange(f"{name} = {value} is out of range; expected {expected}.")


def take_options(record: type[W], keywords: dict[str, Any]) -> W:
    """The record of those keywords that are its own, which are taken out."""
    return record(**{f.name: keywords.pop(f.name) for f in fields(record) if f.name in keywords})


RUN_OPTIONS = tuple(f.name for f in fields(RunOptions))


# What each method takes. They have no docstrings, so that editors show those of the methods.


@settings
class VariationalKeywords(RunOptions, records.Settings): ...


@settings
class OptimizeKeywords(RunOptions, records.OptimizeSettings): ...


@settings
class LaplaceKeywords(RunOptions, records.LaplaceSettings): ...


@settings
class PathfinderKeywords(RunOptions, records.PathfinderSettings): ...


@settings
class SampleKeywords(ProgressOptions, records.SampleSettings): ...


def takes(
    record: Callable[P, object],
) -> Callable[[Callable[Concatenate[S, ...], R]], Callable[Concatenate[S, P], R]]:
    """A function of a first argument and keywords takes those of `record`, for type checkers and at run time.

    Raises:
        UnknownSetting: where it is called with any other; names the nearest one.
        ArgumentError: a setting is given without its name.
    """
    keywords = list(inspect.signature(record).parameters.values())
    known = [keyword.name for keyword in keywords]

    def decorate(function: Callable[Concatenate[S, ...], R]) -> Callable[Concatenate[S, P], R]:
        @wraps(function)
        def checked(first: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if args:
                raise ArgumentError(f"{function.__name__}(): {_unnamed(args[0], known)}.")
            if unknown := {name: value for name, value in kwargs.items() if name not in known}:
                advice = {name: _advice(name, value, known) for name, value in unknown.items()}
                raise UnknownSetting(function.__name__, advice, _meant(next(iter(unknown)), known))
            if str(kwargs.get("algorithm", "")).lower() in SAMPLERS:
                raise OutOfRange(f"algorithm = {kwargs['algorithm']!r} is not variational; {BY_CHAINS}.")
            numbers: Any = {name: python_number(value) for name, value in kwargs.items()}
            if "seed" in numbers and numbers["seed"] is None:
                numbers["seed"] = randbits(SEED_BITS)
            return function(first, **numbers)

        own = inspect.signature(function)
        first = next(iter(own.parameters.values()))
        about = f"{inspect.getdoc(function)}\n\n{_listing(record)}\n"
        vars(checked).update(__signature__=own.replace(parameters=[first, *keywords]))
        checked.__doc__ = about
        return checked

    return decorate


def _meant(name: str, known: Sequence[str]) -> str | None:
    """What a setting is called here."""
    return other if (other := OTHER_NAMES.get(name)) in known else nearest(name, known)


def _advice(name: str, value: object, known: Sequence[str]) -> str:
    """What to write instead of a setting that there is not."""
    if name in ELSEWHERE and OTHER_NAMES.get(name) not in known:
        return f"{ELSEWHERE[name]}."
    if not (meant := _meant(name, known)):
        return f"it has {', '.join(known)}."
    given = bool(value) if meant == "progress" else value
    return f"write {meant}={in_a_line(repr(given))}." if name in OTHER_NAMES else f"did you mean {meant}?"


def _unnamed(value: object, known: Sequence[str]) -> str:
    """What to write instead of a first value without a name: of a number, how many draws."""
    if isinstance(value, Mapping):
        return ELSEWHERE["data"]
    usual = ("algorithm", "optimizer") if isinstance(value, str) else ("num_samples", "draws", "iter")
    name = next(name for name in usual if name in known)
    return f"settings are given by name, such as {name}={in_a_line(repr(value))}"


def _listing(record: Any) -> str:
    """The settings of a record, a line each, for `help`."""
    lines = [
        f"{known.name} ({known.unset or known.default!r}): {known.about.rstrip('.')}; {known.kind.expected}."
        for known in settings_of(record).values()
    ]
    filled = [textwrap.fill(x, 100, initial_indent="    ", subsequent_indent="        ") for x in lines]
    run_options = ", ".join(f.name for f in fields(record) if f.name in RUN_OPTIONS)
    return "\n".join(["Settings:", *filled, f"    {run_options}: as in `{RunOptions.__module__}`."])
