"""CmdStan's `key=value` words on the command line, as the dashed options they stand for."""

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

OPTIONS = {
    "variational.algorithm": "--algorithm",
    "variational.iter": "--iter",
    "variational.grad_samples": "--grad-samples",
    "variational.elbo_samples": "--elbo-samples",
    "variational.adapt.iter": "--adapt-iter",
    "variational.tol_rel_obj": "--tol-rel-obj",
    "variational.eval_elbo": "--eval-elbo",
    "variational.output_samples": "--draws",
    "init": "--init",
    "random.seed": "--seed",
    "output.file": "--output",
    "output.diagnostic_file": "--diagnostic-file",
    "output.refresh": "--refresh",
    "output.profile_file": "--profile-file",
    "output.save_cmdstan_config": "--save-cmdstan-config",
    "ppl.start": "--start",
    "ppl.init_scale": "--init-scale",
    "ppl.average": "--average",
    "ppl.polish": "--polish",
    "ppl.linear_response": "--linear-response",
    "ppl.step_up": "--step-up",
    "ppl.correct": "--correct",
    "ppl.resample": "--resample",
    "ppl.anneal": "--anneal",
    "ppl.rank": "--rank",
    "ppl.runs": "--runs",
    "ppl.estimator": "--estimator",
    "ppl.step_rule": "--step-rule",
    "ppl.stop": "--stop",
    "ppl.noise": "--noise",
    "ppl.minibatch": "--minibatch",
    "ppl.rows": "--rows",
    "ppl.ard": "--ard",
    "ppl.marginal": "--marginal",
    "ppl.backend": "--backend",
    "ppl.device": "--device",
    "ppl.sharded": "--sharded",
    "ppl.quick_jit": "--quick-jit",
    "ppl.positive_transform": "--positive-transform",
    "ppl.format": "--format",
}
SWITCHES = ("--correct", "--resample", "--anneal")
"""Those that are empty where a run decides for itself."""

USUAL = (
    *("--data", "--output", "--algorithm", "--iter", "--eta", "--start", "--correct"),
    *("--runs", "--minibatch", "--backend", "--draws", "--init", "--seed", "--save-fit", "--resume"),
    *("--refresh", "--diagnostic-file", "--require-converged", "--quiet"),
)
"""What `--help` has room for; `ppl docs variational` lists the rest too."""

ELSEWHERE = ("data.file", "method", "variational.eta", "variational.adapt.engaged")


class WithWords(TyperCommand):
    """A command on MODEL and DATA that also takes words, as in `ppl variational m.stan data file=d.json`."""

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        for option in (p for p in self.params if isinstance(p, TyperOption)):
            option.hidden = not {*option.opts} & {*USUAL}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        places, dashed = self._apart(args)
        start = next((k for k, place in enumerate(places) if k and _is_word(place)), len(places))
        if start == len(places):
            return super().parse_args(ctx, args)
        data, *options = _as_options(places[start:])
        return super().parse_args(ctx, [*places[:start], *([data] if data else []), *options, *dashed])

    def _apart(self, args: list[str]) -> tuple[list[str], list[str]]:
        """Positional arguments, and options with their values."""
        options = [p for p in self.params if isinstance(p, TyperOption) and not p.is_flag]
        valued = {name for option in options for name in option.opts}
        places: list[str] = []
        dashed: list[str] = []
        left = deque(args)
        while left:
            arg = left.popleft()
            (dashed if arg.startswith("-") else places).append(arg)
            if arg in valued and left:
                dashed.append(left.popleft())
        return places, dashed


@cache
def groups() -> frozenset[str]:
    """Words without an `=`."""
    from ppl.results.arguments.tree import TREE

    return frozenset({argument.name for argument in TREE} | {"variational", "adapt"})


def _is_word(arg: str) -> bool:
    return "=" in arg or arg in groups()


def _as_options(words: list[str]) -> list[str]:
    """The data file ("" for none), then the options that `words` stand for."""
    from ppl.cmdstan.parse import HelpAsked, Misuse, parse

    try:
        given = parse(words, method="variational")
    except Misuse as error:
        raise typer.BadParameter(str(error)) from None
    except HelpAsked as asked:
        typer.echo(str(asked))
        raise typer.Exit() from None
    return [given.get("data.file", ""), *_options(given)]


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    for path, value in given.items():
        if path in OPTIONS:
            yield from _option(OPTIONS[path], value)
        elif path not in ELSEWHERE:
            name = path.rpartition(".")[2]
            raise typer.BadParameter(
                f"`{name}=` has no counterpart here; `ppl build` makes a program that takes it."
            )
    if not given.get("variational.adapt.engaged", True):
        yield from ("--eta", str(given.get("variational.eta", 1.0)))


def _option(name: str, value: Any) -> tuple[str, ...]:
    match value:
        case bool():
            return (name if value else name.replace("--", "--no-", 1),)
        case "true" | "false":
            return _option(name, value == "true")
        case "" if name in SWITCHES:
            return ()
        case _:
            return (name, str(value))
