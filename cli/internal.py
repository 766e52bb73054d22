"""The report file of an internal error."""

import platform
import sys
from pathlib import Path

from ppl.files import replacing
from ppl.late import tempfile, traceback
from ppl.system.distribution import VERSION


def write_report(error: BaseException) -> Path:
    """Write the traceback, the command and the versions to a file; here, or else among temporary files.

    Raises:
        OSError: neither folder can be written to.
    """
    lines = [
        f"ppl {VERSION}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {' '.join(sys.argv)}",
        "",
        *(line.rstrip("\n") for line in traceback.format_exception(error)),
    ]
    text = "\n".join(lines) + "\n"
    try:
        return written(Path.cwd(), text)
    except OSError:
        return written(Path(tempfile.mkdtemp(prefix="ppl-")), text)


def written(folder: Path, text: str) -> Path:
    path = folder / "ppl-internal-error.txt"
    with replacing(path) as report:
        report.write(text.encode(errors="backslashreplace"))
    return path
