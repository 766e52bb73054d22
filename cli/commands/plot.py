"""`ppl plot`: the pictures of a fit, as files or as one report."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from ppl.cli.arguments import DrawsFiles, Hdi, share_of_interval
from ppl.cli.data import conditioned_as_draws, files_named_by, inputs_from, program_of, rows_of
from ppl.cli.generated import warn_of_poor
from ppl.cli.options import file_to_read, main_output, one_of, output_file, split_names, variable_names
from ppl.cli.settings import choice
from ppl.cli.signatures import Option
from ppl.records import dataclass, replace
from ppl.results.report.style import USUAL, TableStyle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppl.data import Inputs
    from ppl.floats import Floats
    from ppl.posterior import Posterior
    from ppl.results.files.read_csv import DrawsFile
    from ppl.results.fits.scenarios import Effects
    from ppl.results.pictures.canvas import Look
    from ppl.results.pictures.kind import Kind
    from ppl.results.pictures.material import Material, Overlay, Replicated
    from ppl.results.report.log_lik import LogLik

KindName = choice(
    "KindName",
    *("forest", "marginals", "prior", "ppc", "predictive", "groups", "rootogram", "loo-pit", "khat"),
    "effects",
    *("pairs", "covariance", "trace", "rank", "energy", "elbo"),
)
"""The pictures there are (results.pictures.table.KINDS)."""


def plot(
    files: DrawsFiles,
    kind: Annotated[list[KindName] | None, one_of("Kind of picture; may be repeated.")] = None,
    output: Annotated[Path | None, main_output("PNG, SVG or PDF; NAME is added.")] = None,
    report: Annotated[Path | None, output_file("Write all pictures and tables to one HTML file.")] = None,
    variables: Annotated[str, variable_names("Only these variables.")] = "",
    reference: Annotated[Path | None, file_to_read("Draws to compare with.")] = None,
    trace: Annotated[Path | None, file_to_read("For elbo: diagnostic file or saved fit.")] = None,
    model: Annotated[Path | None, file_to_read("The program; default: the one that FILEs name.")] = None,
    data: Annotated[list[Path], file_to_read("The data, for y.", "--data")] = [],  # noqa: B006
    outcome: Annotated[str, one_of("Only this outcome, of several.", "--outcome", "--observed")] = "",
    replicated: Annotated[str, one_of("Its replications; default: NAME_rep.", "--replicated")] = "",
    predictor: Annotated[str, one_of("For effects: a column of data.", "--predictor", hidden=True)] = "",
    by: Annotated[str, one_of("A column of data with groups, for groups, ppc, effects.")] = "",
    interval: Annotated[float, share_of_interval(hidden=True)] = USUAL.interval,
    hdi: Hdi = False,
    exp: Annotated[bool, Option("--exp", help="Show exp of the draws: odds ratios, rate ratios.")] = False,
    log: Annotated[bool, Option("--log", help="A log axis for values.")] = False,
    line: Annotated[float | None, Option("--line", metavar="X", help="A line at this value.")] = None,
    title: Annotated[str, one_of("The title.")] = "",
    narrow: Annotated[bool, Option("--narrow", help="For a telephone: 4 inches wide.")] = False,
) -> None:
    """Plot the draws in FILEs.

    \b
    First example:
      ppl plot output.csv --report report.html

    \b
    Columns: forest (intervals), marginals (densities), prior (and posterior),
    pairs, covariance. Outcomes: ppc (distribution and statistics of data and
    replications), predictive (each observation), groups (means), rootogram
    (counts), loo-pit, khat, effects (means over --predictor COLUMN). Runs and
    chains: trace, rank, energy, elbo.

    \b
    Outcomes are read from y_rep and log_lik among the draws, otherwise from
    the program and the data that the comments of FILEs name, or --model and
    --data. Several outcomes have a picture each. Constant columns are omitted.
    Requires matplotlib: pip install "matplotlib>=3.8".
    """
    import numpy

    from ppl.files import write_whole
    from ppl.results.pictures.canvas import SUFFIXES, Look
    from ppl.results.pictures.gather import COMPUTED, with_needs
    from ppl.results.pictures.table import KINDS

    if output and output.suffix not in SUFFIXES:
        raise click.BadParameter(f"'{output}' should end in {', '.join(SUFFIXES)}.", param_hint="--output")
    named = [KINDS[each.value] for each in kind or ()]
    usual = [] if named and not report else [each for each in KINDS.values() if each.name != "prior"]
    every = any(need in COMPUTED for each in (*named, *usual) for need in each.needs)
    names = split_names(variables)
    source = FilesSource(files, names, model, data, outcome, replicated, by, every, predictor)
    material = replace(source.material(reference, trace), transform=numpy.exp if exp else None)
    material = with_needs(with_needs(material, usual, source, named=False), named, source)
    if report:
        from ppl.results.report.report import Program
        from ppl.results.report.report import report as page
        from ppl.stages import show_stage

        program = source.program
        text = Program(program.read_text("utf-8"), show_stage(program, "plan")) if program else None
        write_whole(report, [page(material, (program or files[0]).stem, text)])
        click.echo(f"Wrote {report}.")
        if not output and not named:
            return
    look = Look(not narrow, title, log, line, style=TableStyle(interval, hdi))
    draw_all(material, named, output, files[0].with_suffix(".png"), look)


@dataclass(frozen=True)
class FilesSource:
    """Files of draws, with the program and the data that are given, else those that the first file names."""

    files: list[Path]
    names: list[str]
    model: Path | None
    data: list[Path]
    outcome: str
    replicated: str
    by: str
    every: bool
    predictor: str

    @cached_property
    def runs(self) -> "tuple[DrawsFile, ...]":
        """The draws, of every column or of those to draw and to judge."""
        from ppl.cli.fits import read_runs
        from ppl.kernel.draws.columns import chosen
        from ppl.results.report.reading import judged_columns

        def wanted(file: "DrawsFile") -> tuple[str, ...]:
            own = chosen(file.columns, self.names, file.parameters, file.labels)
            return (*own, *judged_columns(file))

        return read_runs(self.files, self.model, self.data, None if self.every else wanted)

    def named(self, *names: str) -> list[Path]:
        """Those of the files that are there (`files_named_by`)."""
        return files_named_by(self.runs[0].path, names)

    @cached_property
    def program(self) -> Path | None:
        return program_of(self.runs[0], self.model)

    @cached_property
    def posterior(self) -> "Posterior | None":
        """The program given the data."""
        from ppl.compile import model_of

        if self.program is None:
            return None
        compiled = model_of(self.program)
        return conditioned_as_draws(compiled, self.inputs, self.runs[0].columns)

    @cached_property
    def inputs(self) -> "Inputs":
        return inputs_from(self.data or self.named(*self.runs[0].config.get("data.file", "").split()))

    def material(self, reference: Path | None, trace: Path | None) -> "Material":
        from ppl.cli.fits import read_run
        from ppl.kernel.draws.columns import chosen
        from ppl.results.pictures.gather import supports_of
        from ppl.results.pictures.material import Material, NamedDraws, Overlay, read_trace

        first, other = self.runs[0], read_run(reference) if reference else None
        trace = trace or next(
            iter(self.named(*filter(None, [first.config.get("output.diagnostic_file")]))), None
        )
        return Material(
            self.runs,
            chosen(first.columns, self.names, first.parameters, first.labels),
            read_trace(trace) if trace else None,
            Overlay(str(other.path), NamedDraws(other.columns, other.draws)) if other else None,
            named=bool(self.names),
            supports=supports_of(self.posterior) if self.model and self.posterior else {},
        )

    def outcomes(self) -> "Mapping[str, Replicated]":
        from ppl.results.pictures.gather import data_of
        from ppl.results.pictures.material import replicated_outcomes

        def among(data: Any, simulated: Any) -> "Mapping[str, Replicated]":
            return replicated_outcomes(self.runs, data, simulated, self.outcome, self.replicated, self.by)

        own = among(self.inputs.values, {})
        if self.posterior is None or (own and not self.model):
            return own
        simulated = self.simulated(self.posterior)
        return among(data_of(self.posterior, simulated), simulated)

    def simulated(self, posterior: "Posterior") -> "dict[str, Floats]":
        """The outcomes that the program simulates at the draws of all files, less those among the draws."""
        import numpy as np

        from ppl.kernel.draws.columns import variables
        from ppl.results.files.arviz import REPLICATED
        from ppl.results.fits.by_row import outcomes, predictive
        from ppl.results.fits.log_prob import unconstrained_of

        there = variables(self.runs[0].columns)
        if not (names := {name for name in outcomes(posterior) if name + REPLICATED not in there}):
            return {}
        us = np.concatenate([unconstrained_of(posterior, run.columns, run.draws) for run in self.runs])
        return {name: drawn for name, drawn in predictive(posterior, us, seed=1).items() if name in names}

    def effects(self) -> "Effects | None":
        import numpy as np

        from ppl.errors import DataError
        from ppl.results.fits.log_prob import unconstrained_of
        from ppl.results.fits.scenarios import effects
        from ppl.results.report.summary import summarise

        if not self.predictor:
            return None
        if self.posterior is None:
            raise DataError("effects are those of a program: --model MODEL.")
        us = np.concatenate([unconstrained_of(self.posterior, run.columns, run.draws) for run in self.runs])
        own = lambda names, rows, style: summarise(names, rows, style=style)  # noqa: E731
        return effects(self.posterior, us, own, self.predictor, self.by)

    def log_liks(self) -> "tuple[LogLik, ...]":
        return tuple(rows_of(self.runs, self.outcome, "log_lik", self.program, self.data))

    def prior(self) -> "Overlay":
        from ppl.errors import DataError
        from ppl.results.pictures.gather import prior_of

        if self.posterior is None:
            raise DataError("the prior is that of a program: --model MODEL.")
        return prior_of(self.posterior, seed=1)


def draw_all(
    material: "Material", named: "Sequence[Kind]", output: Path | None, base: Path, look: "Look"
) -> None:
    """Writes the pictures of these kinds, else the usual ones, and says what each leaves out.

    Raises:
        DataError: there is nothing to draw.
    """
    from ppl.errors import DataError, first_few
    from ppl.html import LEVELS
    from ppl.results.pictures.canvas import save
    from ppl.results.pictures.table import KINDS, not_drawn, parts
    from ppl.results.report.reading import level

    warn_of_poor(material.files)
    base, written = output or base, 0
    usual = [kind for kind in KINDS.values() if kind.usual(material)]
    missing = [*not_drawn(named or [KINDS[name] for name in ("ppc", "elbo")], material)]
    for kind in (kind for kind in named or usual if not kind.missing(material)):
        for outcome, part in parts(material, kind):
            figure = kind.figure(part, look)
            words = [
                base.stem,
                *([] if output and len(named) == 1 else [kind.name]),
                *([outcome] if outcome else []),
            ]
            path = base.with_stem("-".join(words))
            for caution in level(material.files).caution:
                figure.suptitle(caution, color=LEVELS["poor"])
            save(figure, path)
            written += 1
            click.echo(f"Wrote {path}.")
        if note := kind.left_out(material):
            click.echo(note)
    if material.omitted:
        missing.append(f"Omitted (constant or symmetric): {first_few(material.omitted)}.")
    if not written:
        raise DataError("nothing was drawn.\n" + "\n".join(missing))
    for note in missing:
        click.echo(note)
