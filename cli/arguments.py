"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ModelPath = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        exists=True,
        dir_okay=False,
        readable=True,
        help="The program (.model or .stan).",
    ),
]

DataPath = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]",
        exists=True,
        dir_okay=False,
        readable=True,
        help="Its data (JSON), if it declares any.",
    ),
]
