"""The fits that commands are given: files of draws, and saved fits, whose draws are made again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ppl.cli.data import files_named_by, inputs_from
from ppl.cli.options import file_of

if TYPE_CHECKING:
    from ppl.results.files.read_csv import DrawsFile, Wanted
    from ppl.results.fits.fit import Fit


def is_saved_fit(path: Path) -> bool:
    """Whether a file is one that --save-fit wrote, by how it begins."""
    if path.suffix != ".json" or not path.is_file():
        return False
    from ppl.run.initial import FIT_FORMAT

    with path.open("rb") as file:
        return FIT_FORMAT.encode() in file.read(100)


def holds_draws(path: Path) -> bool:
    """Whether a file is a saved fit or has draws, by how it begins or what its arrays are called."""
    if path.suffix in (".nc", ".json") or not path.is_file():
        return path.suffix == ".nc" or is_saved_fit(path)
    if path.suffix == ".npz":
        with ZipFile(path) as arrays:
            return "log_p__.npy" in arrays.namelist()
    if path.suffix == ".parquet":
        return b"log_p__" in path.read_bytes()
    with path.open("rb") as file:
        return file.read(1) == b"#"


def data_and_fit(files: Sequence[Path]) -> tuple[list[Path], Path | None]:
    """The data among files, and the draws or the saved fit, which stand last or first."""
    for at in (-1, 0):
        if files and holds_draws(files[at]):
            return [path for path in files if path != files[at]], files[at]
    return [*files], None


def saved_fit(path: Path, model: Path | None = None, data: Sequence[Path] = (), quiet: bool = True) -> "Fit":
    """The fit in a file of --save-fit, of this program and these data, else of those that it names.

    Raises:
        DataError: it is no saved fit, was made with others, or those that it names are not there.
    """
    from ppl.cli.progress import on_stderr
    from ppl.compile import model_of
    from ppl.errors import DataError
    from ppl.kernel.advi.outcome import Phase
    from ppl.results.fits.fit import load_fit
    from ppl.results.fits.saved import read

    record = read(path)
    program = model or next(iter(files_named_by(path, [record["program"]])), None)
    words = [*map(str, data)] or record.get("data_file", "").split()
    if program is None:
        raise DataError(
            f"{path} names the program {record['program']}: there is no such file in its folder, the current "
            "one or below. Give the program (MODEL or --model)."
        )
    compiled = model_of(program, record["positive_transform"])
    if not data and len(files_named_by(path, map(file_of, words))) < len(words):
        raise DataError(f"{path} names data that are not in its folder, the current one or below: give them.")
    if compiled.data_schema and not words:
        raise DataError(f"{path} does not name the data of {program}: give them.")
    with on_stderr((Phase.VARIABLES,), quiet=quiet) as listen:
        return load_fit(path, compiled, inputs_from((), words), progress=listen)


def read_run(
    path: Path, model: Path | None = None, data: Sequence[Path] = (), wanted: "Wanted | None" = None
) -> "DrawsFile":
    """The draws in a file, of the `wanted` columns alone, or of a saved fit of this program and these data.

    Raises:
        DataError: as `readers.read_file` and `saved_fit` do.
    """
    from ppl.results.files.read_csv import every_column
    from ppl.results.files.readers import read_file

    if not is_saved_fit(path):
        return read_file(path, wanted or every_column)
    from ppl.results.fits.saved import read
    from ppl.results.pictures.gather import files_of

    fit, record = saved_fit(path, model, data), read(path)
    own = files_of(fit, {"data.file": " ".join(map(str, data)) or record.get("data_file", "")})[0]
    return replace(own, path=path, mean=fit.at_mean())


def read_runs(
    paths: Sequence[Path],
    model: Path | None = None,
    data: Sequence[Path] = (),
    wanted: "Wanted | None" = None,
) -> tuple["DrawsFile", ...]:
    """The same of the runs of one program; DataError where their columns differ."""
    from ppl.results.files.readers import same_columns

    return same_columns(tuple(read_run(path, model, data, wanted) for path in paths))
