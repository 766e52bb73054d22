"""`ppl variational`: the main job."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import click
from click.exceptions import Exit

from ppl.cli.arguments import Arrays, DataPaths, Hdi, Interval, Missing, MissingData, ModelPath, SigFigs
from ppl.cli.data import inputs_from, recorded, say_unread, spare
from ppl.cli.options import (
    DRAWS,
    address,
    as_names,
    flag,
    main_output,
    one_of,
    output_file,
    quietly,
    seconds,
    split_names,
    variable_names,
    whole,
    whole_files,
)
from ppl.cli.processes import end_together, joined
from ppl.cli.required import Require, status_of
from ppl.cli.settings import choice, given_settings, with_settings
from ppl.cli.signatures import Option
from ppl.cli.words import WithWords
from ppl.files import STDOUT, beside, numbered_files
from ppl.kernel.advi.outcome import Ending
from ppl.methods.diagnose.level import Level
from ppl.methods.run.settings import SampleSettings, Settings
from ppl.results.arguments.tree import LAYOUTS, POSITIVE_TRANSFORMS
from ppl.results.report.style import USUAL, TableStyle
from ppl.system.distribution import extra, requirements

COMMAND_CLASS = WithWords
"""The command that `cli.group` makes of the function."""
JSON = "json"
Layout = choice("Layout", *LAYOUTS, JSON)
Then = choice("Then", "sample")
PositiveTransform = choice("PositiveTransform", *POSITIVE_TRANSFORMS)


def files_of_fit(output: Path, given: Mapping[str, Any]) -> Iterator[Path]:
    """The draws, their checkpoint, and what is asked for beside them."""
    yield from (output, output.with_name(f"{output.name}.checkpoint"))
    if given["then"]:
        yield from numbered_files(chains_beside(output), range(1, SampleSettings().num_chains + 1))
    if given["save_cmdstan_config"]:
        yield beside(output, "config")
    if given["save_metric"]:
        yield from (beside(output, "metric"), *numbered_files(beside(output, "inits"), range(1, 5)))


@with_settings(Settings)
def variational(
    model: ModelPath,
    data: DataPaths = None,
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[
        Path, main_output("CSV, .npz, .nc, .parquet.", suffixes=DRAWS, files=files_of_fit)
    ] = Path("output.csv"),
    *,
    hosts: Annotated[int | None, whole(1, "Number of hosts; 1: ignore MPI, SLURM, ...", hidden=True)] = None,
    coordinator: Annotated[str | None, address("Address of process 0.")] = None,
    processes: Annotated[int | None, whole(1, "Number of processes.", hidden=True)] = None,
    process: Annotated[int | None, whole(0, "Number of this process, from 0.", hidden=True)] = None,
    layout: Annotated[
        Layout, one_of("CSV layout: variational, sample; json: report.", "--format")
    ] = Layout.variational,
    save_metric: Annotated[bool, flag("--save-metric", "Write metric and inits for NUTS.")] = False,
    save_cmdstan_config: Annotated[
        bool, flag("--save-cmdstan-config", "Write the configuration as JSON.", hidden=True)
    ] = False,
    profile_file: Annotated[
        Path | None, output_file("CSV of the times of `profile` statements.", hidden=True)
    ] = None,
    save_fit: Annotated[Path | None, output_file("Save the fit, for `ppl draws` and --init.")] = None,
    resume: Annotated[bool, flag("--resume", "Continue an interrupted run.")] = False,
    checkpoint_every: Annotated[float, seconds("Seconds between checkpoints.")] = 10.0,
    missing: MissingData = Missing.refuse,
    refresh: Annotated[int, whole(0, "Steps per progress line; 0: none.")] = 100,
    diagnostic_file: Annotated[Path | None, output_file("CSV of iter,time_in_seconds,ELBO.")] = None,
    positive_transform: Annotated[
        PositiveTransform, one_of("Transform of positive parameters: log, softplus.")
    ] = PositiveTransform.log,
    then: Annotated[Then | None, one_of("sample: NUTS from q unless the verdict is good.", "--then")] = None,
    require_converged: Annotated[
        bool, Option("--require-converged", help="Exit with 3 if the run did not converge.")
    ] = False,
    require: Require = None,
    variables: Annotated[str, variable_names("Variables in the table.")] = "",
    interval: Interval = USUAL.interval,
    hdi: Hdi = False,
    sig_figs: SigFigs = None,
    verbose: Annotated[bool, flag("--verbose", "Print details of the verdict, and unused data.")] = False,
    quiet: Annotated[bool, quietly()] = False,
    **settings: Any,
) -> None:
    """Fit MODEL to DATA; write the draws.

    \b
    First example:
      ppl variational eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json

    \b
    CmdStan's syntax also works: data file=d.json iter=500 output file=o.csv.
    `ppl docs variational` lists more options.
    """

    from ppl.cli import report
    from ppl.cli.diagnostics import likely_bugs, show
    from ppl.cli.output import TolerantStream
    from ppl.cli.progress import on_stderr
    from ppl.cli.table_columns import table_columns
    from ppl.cmdstan.profile import profiled
    from ppl.compile import model_of
    from ppl.methods.run.phases import OF_CHAINS, phases_of
    from ppl.results.files.formats import require_name_of_fit, save_draws
    from ppl.results.fits.fit import fit_with_journal
    from ppl.run.checkpoint import CheckpointOptions
    from ppl.run.console import console_of
    from ppl.run.memory_needed import require_memory

    if output == STDOUT and (resume or save_metric or save_cmdstan_config or then):
        raise click.BadParameter(
            "--resume, --save-metric, --save-cmdstan-config and --then have files named after the output; "
            "give it a name, such as -o output.csv.",
            param_hint="--output",
        )
    if then:
        extra("nutpie", "--then sample", *requirements("sample"))
    style = TableStyle(interval, hdi, sig_figs)
    if save_fit:
        require_name_of_fit(save_fit)
    together, first = joined(hosts, coordinator, processes, process)
    quiet = quiet or not first
    written = STDOUT in (output, diagnostic_file, save_fit, profile_file)
    err = TolerantStream("stderr")
    out = err if written else TolerantStream("stdout")
    as_json = layout.value == JSON
    console = console_of(cast(TextIO, out), quiet or as_json)
    checkpoint = CheckpointOptions(report.checkpoint_of(output), resume, checkpoint_every)
    compiled = model_of(model, positive_transform=positive_transform.value)
    if not quiet:
        show(likely_bugs(compiled.compilation), sys.stderr)
    options = Settings(**given_settings(settings))
    if together:
        options = replace(options, sharded=True)
    if together and as_names(arrays):
        from ppl.jax_backend.mesh import with_own_rows

        whole = inputs_from([*(data or []), *whole_files(arrays)])
        inputs = with_own_rows(compiled, whole, as_names(arrays), options.device)
    else:
        inputs = inputs_from(data or [], arrays)
    if not quiet:
        inputs = say_unread(inputs, compiled)
    if verbose:
        for sentence in spare(inputs, compiled.data_schema):
            console.print(sentence, soft_wrap=True, highlight=False)
    arguments = {
        "data.file": recorded(data or [], arrays),
        "output.file": str(output),
        "output.diagnostic_file": str(diagnostic_file or ""),
        "output.refresh": refresh,
        "output.save_cmdstan_config": save_cmdstan_config,
        "ppl.format": Layout.variational.value if as_json else layout.value,
        **({"output.profile_file": str(profile_file)} if profile_file else {}),
    }
    files = [output]
    with report.interruptible(output) as done, profiled(compiled, profile_file) as timed:
        posterior = timed.condition(inputs, seed=options.seed, missing=missing.value)
        require_memory(posterior.extent, options)  # before the names of all columns are made
        columns = table_columns(posterior, split_names(variables))
        with on_stderr(phases_of(options), refresh, quiet, err) as listener:
            fit, journal = fit_with_journal(posterior, options, listener, checkpoint)
        if not first:
            end_together(together)
            raise Exit(report.exit_status(fit.outcome, require_converged))
        done.append(journal)
        save_draws(fit, output, arguments)
        if diagnostic_file:
            fit.save_diagnostics(diagnostic_file, arguments)
        if save_fit:
            fit.save(save_fit, arguments)
        if save_cmdstan_config:
            files.append(fit.save_config(output, arguments))
        if save_metric:
            files.extend(fit.save_warm_start(output))
    if fit.outcome.ending is not Ending.INTERRUPTED:
        checkpoint.discard(options.runs)
    files[1:1] = [file for file in (profile_file, diagnostic_file, save_fit) if file]
    if as_json and first:
        print(report.json_report(fit, files, columns, style), file=out)
    report.report(console, fit, files, columns, style, named=bool(variables), verbose=verbose)
    if diagnostic_file and not len(fit.elbo_trace):
        report.sentence(
            console, f"{diagnostic_file} has no rows: the run evaluated the ELBO once, at its end."
        )
    level = fit.level
    if then and fit.outcome.ending is not Ending.INTERRUPTED:
        if fit.verdict.level is Level.GOOD:
            where = f"The verdict is good: NUTS was not run. {output} holds draws of the posterior."
        else:
            from ppl.results.fits.chains import sample_with

            of_chains = SampleSettings(seed=options.seed, backend=options.backend, device=options.device)
            with on_stderr(OF_CHAINS, refresh, quiet, err) as listener:
                chains = sample_with(posterior, of_chains, listener, fit.warm_start)
            saved = chains.save(chains_beside(output), {"data.file": arguments["data.file"]})
            console.print()
            level = chains.level
            report.report_chains(console, chains, columns, style, bool(variables), saved)
            kind = f"draws {fit.verdict.made}" if fit.verdict.made != "of q" else "draws of q"
            where = f"{saved[0]} to {saved[-1]} hold draws by NUTS, {output} those of the fit ({kind})."
        report.sentence(console, where)
    out.check()
    end_together(together)
    raise Exit(report.exit_status(fit.outcome, require_converged) or status_of(level, require))


def chains_beside(output: Path) -> Path:
    """The name of the CSV files of chains, before their numbers."""
    return output.with_suffix(".csv")
