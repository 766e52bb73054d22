"""Saved fits, with the program and data that they hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppl.arguments import checks
from ppl.compile import model_of
from ppl.data import AnyData
from ppl.errors import DataError
from ppl.kernel.advi.outcome import Listener
from ppl.results.fits import fit as fits
from ppl.results.fits import saved
from ppl.results.fits.fit import Conditions, Fit
from ppl.run.checksum import damage_reported
from ppl.source import SourceText


@checks
def load_fit(
    path: str | Path,
    model: Conditions | None = None,
    data: AnyData | None = None,
    *,
    progress: Listener | bool | None = None,
) -> Fit:
    """The fit that `Fit.save` wrote, with the same draws.

    Program and data are those that the file holds, of `fit.save(path, with_program=True, with_data=True)`,
    unless they are given. `progress` is as in `variational`.

    Raises:
        DataError: `path` is not a saved fit, is one of another program or other data, or holds no program or
            data and none are given.

    Example:
        >>> again = ppl.load_fit("fit.json", model, "eight_schools.data.json")
        >>> bool((again.draws() == fit.draws()).all())
        True
        >>> fit.save("alone.json", with_program=True, with_data=True)
        >>> bool((ppl.load_fit("alone.json").draws() == fit.draws()).all())
        True
    """
    if model is None or data is None:
        record = saved.read(path)
        with damage_reported(path):
            model = model or _model_in(path, record)
            data = _data_in(path, record) if data is None else data
    return fits.load_fit(path, model, data, progress=progress)


def _model_in(path: str | Path, record: Mapping[str, Any]) -> Conditions:
    if saved.PROGRAM not in record:
        raise DataError(
            f"{path} holds no program. Give it: load_fit(path, model, data), or save it with_program=True."
        )
    source = SourceText(record[saved.PROGRAM], record["program"])
    return model_of(source, record["positive_transform"])


def _data_in(path: str | Path, record: Mapping[str, Any]) -> AnyData:
    if saved.DATA not in record:
        raise DataError(
            f"{path} holds no data. Give them: load_fit(path, data=...), or save with with_data=True."
        )
    return saved.data_in(record)
