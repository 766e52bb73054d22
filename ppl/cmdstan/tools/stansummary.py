"""CmdStan's `stansummary`: the table of draws in CSV files of one program, as text and as CSV."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ppl.errors import DataError
from ppl.files import refuse_overwriting, write_whole
from ppl.kernel.draws.columns import bracketed, chosen
from ppl.methods.diagnose.level import Level
from ppl.results.files.read_csv import DrawsFile
from ppl.results.files.readers import read_all
from ppl.results.report.reading import judged_columns, judgement, level
from ppl.results.report.stansummary import as_text, csv_lines, headings, quantiles_of, stansummary, stated
from ppl.results.report.style import TableStyle

TABLE_COLUMNS = 120
"""Columns that the table may be wide."""


def main(words: Sequence[str]) -> int:
    """The command (CmdStan Guide, "stansummary").

    Raises:
        DataError: a file is no file of draws, the files differ, or percentiles are no numbers from 0 to 100.
        MissingFile: a file is not there.
    """
    parser = ArgumentParser("stansummary", description=main.__doc__, allow_abbrev=False)
    parser.add_argument("-c", "--csv_filename", type=Path, help="write the table as CSV too")
    parser.add_argument("-p", "--percentiles", default="5,50,95", help="percentiles shown")
    parser.add_argument("-s", "--sig_figs", type=int, default=2, help="digits shown")
    parser.add_argument("-i", "--include_param", action="append", help="only this variable; may be repeated")
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args(words)
    if not (quantiles := quantiles_of(args.percentiles)):
        given = repr(args.percentiles)
        raise DataError(f"--percentiles is {given}; expected numbers from 0 to 100, as in 5,50,95.")
    style = TableStyle(quantiles=quantiles)
    refuse_overwriting(filter(None, [args.csv_filename]), args.files)

    def shown(file: DrawsFile) -> tuple[str, ...]:
        return chosen(file.columns, args.include_param or (), file.columns)

    files = read_all(args.files, lambda file: (*shown(file), *judged_columns(file)))
    if args.include_param:
        chosen_files = tuple(file.only(shown(files[0])) for file in files)
    else:
        chosen_files = tuple(map(with_internal, files))
    lines = [replace(line, name=bracketed(line.name)) for line in stansummary(chosen_files, style)]
    names = headings(style, chosen_files)
    print(f"Inference for Stan model: {stated(files)}\n")
    if level(files) is Level.POOR:
        print(f"{judgement(files)}\n")
    print("\n".join(as_text(lines, names, args.sig_figs, TABLE_COLUMNS)))
    if args.csv_filename:
        write_whole(args.csv_filename, csv_lines(lines, names, args.sig_figs))
    return 0


def with_internal(file: DrawsFile) -> DrawsFile:
    """The columns whose names end in two underscores, lp__ the first of them, among the others."""
    internal = np.column_stack([*file.internal.values(), file.draws])
    return replace(file, columns=(*file.internal, *file.columns), draws=internal)
