"""`ppl variational`: the main job."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, cast

import typer

from ppl.cli.arguments import Arrays, DataPath, ModelPath
from ppl.cli.choices import (
    Algorithm,
    Backend,
    Device,
    Estimator,
    Layout,
    Noise,
    PositiveTransform,
    Start,
    StepRule,
    Stop,
)
from ppl.cli.options import (
    address,
    as_names,
    as_radius,
    flag,
    hidden,
    listed,
    one_of,
    output_file,
    part,
    positive,
    quietly,
    radius_or_file,
    seconds,
    switch,
    variable_names,
    whole,
)
from ppl.files import STDOUT
from ppl.inference.run.outcome import Ending

if TYPE_CHECKING:
    from ppl.data import Inputs

AS_NEEDED = {"show_default": "as needed"}


def spare(inputs: "Inputs", declared: Collection[str]) -> list[str]:
    """A sentence for what the data hold and the program does not declare."""
    from ppl.data import unknown_names

    names = ", ".join(f"`{name}`" for name in unknown_names(inputs, declared))
    return [f"{inputs.label}: the program declares no {names}, and goes without."] if names else []


def variational(
    model: ModelPath,
    data: DataPath = None,
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[Path, output_file("CSV, .npz, .nc, .parquet.", "--output", "-o")] = Path("output.csv"),
    algorithm: Annotated[Algorithm, one_of(f"{', '.join(Algorithm)}.")] = Algorithm.auto,
    iterations: Annotated[int, whole(1, "Most steps taken.", "--iter")] = 10_000,
    grad_samples: Annotated[int, whole(1, "Draws a gradient averages.")] = 1,
    elbo_samples: Annotated[int, whole(1, "Draws an ELBO averages.", hidden=True)] = 100,
    eta: Annotated[float | None, positive("Step size.", show_default="by search")] = None,
    adapt_iter: Annotated[int, whole(1, "Steps a candidate eta gets.", hidden=True)] = 50,
    tol_rel_obj: Annotated[float, positive("ELBO change to stop below.")] = 0.01,
    eval_elbo: Annotated[int, whole(1, "Steps between two ELBOs.", hidden=True)] = 100,
    start: Annotated[Start, one_of("Or random.")] = Start.pathfinder,
    init_scale: Annotated[float | None, positive("Sds of a random start.", show_default="1")] = None,
    average: Annotated[bool, switch("--average", "Average the last iterates.")] = True,
    polish: Annotated[bool, switch("--polish", "Refine on fixed draws.")] = True,
    step_up: Annotated[bool, switch("--step-up", "Upgrade the family.")] = True,
    rank: Annotated[int | None, whole(1, "Rank of lowrank.", show_default="root of d")] = None,
    linear_response: Annotated[bool, flag("--linear-response", "Correct a mean-field covariance.")] = False,
    correct: Annotated[
        bool | None,
        switch("--correct", "Draws nearer to the posterior than those of q.", show_default="with auto"),
    ] = None,
    resample: Annotated[bool | None, switch("--resample", "Resample draws by p/q.", **AS_NEEDED)] = None,
    anneal: Annotated[bool | None, switch("--anneal", "Anneal draws to p.", **AS_NEEDED)] = None,
    runs: Annotated[int, whole(1, "Runs of which the best is kept.")] = 1,
    minibatch: Annotated[int | None, whole(1, "Rows a gradient sees.", show_default="all")] = None,
    rows: Annotated[str | None, hidden("--rows", "Size that counts rows.")] = None,
    marginal: Annotated[str | None, hidden("--marginal", "Vector that optimize integrates out.")] = None,
    ard: Annotated[str | None, typer.Option("--ard", help="Vector of dsvi-ard.")] = None,
    estimator: Annotated[Estimator | None, part(Estimator)] = None,
    step_rule: Annotated[StepRule | None, part(StepRule)] = None,
    stop: Annotated[Stop | None, part(Stop)] = None,
    noise: Annotated[Noise, part(Noise, show_default=True)] = Noise.normal,
    backend: Annotated[Backend, one_of("auto, autograd or jax.")] = Backend.auto,
    device: Annotated[Device, one_of("Of jax: cpu, gpu.", hidden=True)] = Device.cpu,
    sharded: Annotated[bool, flag("--sharded", "Rows over all devices of jax.", hidden=True)] = False,
    hosts: Annotated[int | None, whole(1, "Processes that SLURM, MPI, ... started.", hidden=True)] = None,
    coordinator: Annotated[str | None, address("Where process 0 listens.")] = None,
    processes: Annotated[int | None, whole(1, "Processes of the run.", hidden=True)] = None,
    process: Annotated[int | None, whole(0, "This one's number, from 0.", hidden=True)] = None,
    quick_jit: Annotated[bool, switch("--quick-jit", "Of jax: compile for one fit.", hidden=True)] = True,
    draws: Annotated[int, whole(0, "Draws to write.")] = 1000,
    init: Annotated[str, radius_or_file("Radius, 0, JSON file or saved fit.")] = "2",
    seed: Annotated[int, whole(0, "Same seed, same bytes.")] = 1,
    layout: Annotated[Layout, one_of("CSV layout: variational, sample.", "--format")] = Layout.variational,
    save_metric: Annotated[bool, typer.Option("--save-metric", help="Metric and inits for NUTS.")] = False,
    save_cmdstan_config: Annotated[bool, flag("--save-cmdstan-config", "As JSON.", hidden=True)] = False,
    profile_file: Annotated[Path | None, output_file("CSV of times.", hidden=True)] = None,
    save_fit: Annotated[Path | None, output_file("The fit, for `ppl draws` and --init.")] = None,
    resume: Annotated[bool, flag("--resume", "Go on after an interruption.")] = False,
    checkpoint_every: Annotated[float, seconds("Between two checkpoints.")] = 10.0,
    refresh: Annotated[int, whole(0, "Steps a progress line; 0: none.")] = 100,
    diagnostic_file: Annotated[Path | None, output_file("CSV of iter,time_in_seconds,ELBO.")] = None,
    positive_transform: Annotated[PositiveTransform, one_of("log or softplus.")] = PositiveTransform.log,
    require_converged: Annotated[bool, typer.Option("--require-converged", help="Else exit with 3.")] = False,
    variables: Annotated[str, variable_names("What the table shows.")] = "",
    verbose: Annotated[bool, flag("--verbose", "Numbers behind the verdict; data unused.")] = False,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Fit MODEL to DATA; write the draws.

    \b
    First example:
      ppl variational models/eight_schools/eight_schools.model \\
          models/eight_schools/eight_schools.data.json

    \b
    CmdStan's words do too: data file=d.json iter=500 output file=o.csv.
    `ppl docs variational` lists more options.
    """
    from rich.console import Console

    from ppl.cli.diagnostics import likely_bugs, show
    from ppl.cli.output import Patient
    from ppl.cli.progress import on_stderr
    from ppl.cli.report import checkpoint_of, exit_status, interruptible, report
    from ppl.cli.shown import columns_shown
    from ppl.cmdstan.profile import profiled
    from ppl.compile import compile_model
    from ppl.data import load_data, with_arrays
    from ppl.inference.run.phases import phases_of
    from ppl.results.files.formats import save_draws
    from ppl.results.fits.checkpoint import Keep
    from ppl.results.fits.fit import fitted
    from ppl.results.fits.settings import Settings

    refuse_without_name(output, resume, save_metric, save_cmdstan_config)
    together = hosts is not None or coordinator is not None
    first = joined(hosts, coordinator, processes, process)
    quiet = quiet or not first
    written = STDOUT in (output, diagnostic_file, save_fit, profile_file)
    err = Patient("stderr")
    out = err if written else Patient("stdout")
    console = Console(file=cast(TextIO, out), quiet=quiet)
    keep = Keep(checkpoint_of(output), resume, checkpoint_every)
    if not quiet:
        show(likely_bugs(model), sys.stderr)
    compiled = compile_model(model, positive_transform=positive_transform.value)
    inputs, from_files = load_data(data or {}), as_names(arrays)
    if together and from_files:
        from ppl.compiled.mesh import with_own_rows

        inputs = with_own_rows(compiled, inputs, from_files, device.value)
    else:
        inputs = with_arrays(inputs, from_files)
    if verbose:
        for sentence in spare(inputs, compiled.data_schema):
            console.print(sentence, soft_wrap=True, highlight=False)
    settings = Settings(
        algorithm=algorithm.value,
        iter=iterations,
        grad_samples=grad_samples,
        elbo_samples=elbo_samples,
        eta=eta,
        adapt_iter=adapt_iter,
        tol_rel_obj=tol_rel_obj,
        eval_elbo=eval_elbo,
        start=start.value,
        init_scale=init_scale,
        average=average,
        polish=polish,
        step_up=step_up,
        rank=rank,
        linear_response=linear_response,
        correct=correct,
        resample=resample,
        anneal=anneal,
        runs=runs,
        minibatch=minibatch,
        rows=rows,
        ard=ard,
        marginal=marginal,
        estimator=estimator and estimator.value,
        step_rule=step_rule and step_rule.value,
        stop=stop and stop.value,
        noise=noise.value,
        backend=backend.value,
        device=device.value,
        sharded=sharded or together,
        quick_jit=quick_jit,
        draws=draws,
        init=as_radius(init),
        seed=seed,
    )
    given = {
        "data.file": " ".join([*([str(data)] if data else []), *arrays]),
        "output.file": str(output),
        "output.diagnostic_file": str(diagnostic_file or ""),
        "output.refresh": refresh,
        "output.save_cmdstan_config": save_cmdstan_config,
        "ppl.format": layout.value,
        **({"output.profile_file": str(profile_file)} if profile_file else {}),
    }
    files = [output]
    with interruptible(output) as done, profiled(compiled, profile_file) as timed:
        posterior = timed.condition(inputs, seed=seed)
        columns = columns_shown(posterior, listed(variables))
        with on_stderr(phases_of(settings), refresh, quiet, err) as listener:
            fit, journal = fitted(posterior, settings, listener, keep)
        if not first:
            end_together(together)
            raise typer.Exit(exit_status(fit.outcome, require_converged))
        done.append(journal)
        save_draws(fit, output, given)
        if diagnostic_file:
            fit.save_diagnostics(diagnostic_file, given)
        if save_fit:
            fit.save(save_fit)
        if save_cmdstan_config:
            files.append(fit.save_config(output, given))
        if save_metric:
            files.extend(fit.save_warm_start(output))
    if fit.outcome.ending is not Ending.INTERRUPTED:
        keep.discard(runs)
    files[1:1] = [file for file in (profile_file, diagnostic_file, save_fit) if file]
    report(console, fit, files, columns, asked=bool(variables), verbose=verbose)
    out.check()
    end_together(together)
    raise typer.Exit(exit_status(fit.outcome, require_converged))


def joined(hosts: int | None, coordinator: str | None, processes: int | None, process: int | None) -> bool:
    """Join the processes of the run, if there are others; whether this one writes its files."""
    by_hand = (coordinator, processes, process)
    if hosts is None and by_hand == (None, None, None):
        return True
    if (hosts is None) == (None in by_hand) or (hosts is not None and any(x is not None for x in by_hand)):
        raise typer.BadParameter(
            "processes are found by --hosts N where SLURM, Open MPI or Kubernetes started them; by hand they "
            "are given as --coordinator HOST:PORT --processes N --process I.",
            param_hint="--hosts",
        )
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # XLA's log, before it is imported: no warnings
    from ppl.compiled.processes import join
    from ppl.results.fits.backend import require_jax

    require_jax()

    return join(coordinator, processes if hosts is None else hosts, process)


def end_together(together: bool) -> None:
    """Wait for the other processes, so that none is missed."""
    if together:
        from ppl.compiled.processes import leave

        leave()


def refuse_without_name(output: Path, *named_after: bool) -> None:
    """Standard output has no name to call a checkpoint, a metric or a configuration by."""
    if output == STDOUT and any(named_after):
        raise typer.BadParameter(
            "--resume, --save-metric and --save-cmdstan-config have files named after the output; "
            "give it a name, such as -o output.csv.",
            param_hint="--output",
        )
