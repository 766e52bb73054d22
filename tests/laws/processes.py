"""Processes of Python that find packages imported: forks of one that has done nothing but import them.

A process imports ppl in 1 s and JAX in another, which is more than most tests of processes compute.
"""

import atexit
import os
import resource
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PRELOADED = (
    "jax",
    "pyarrow.dataset",
    "scipy.optimize",
    "ppl.cli.main",
    "ppl.cli.commands.variational",
    "ppl.jax_backend.joining",
    "ppl.jax_backend.processes",
    "ppl.jax_backend.target",
    "ppl.run.driver",
    "ppl.results.fits.fit",
)
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload([*PRELOADED])


class Started:
    """A process that runs `main(*arguments)`, with the methods of `subprocess.Popen`.

    It has this environment and this one alone, nothing on standard input, and output in files. None of its
    files may have more than `most_bytes`.
    """

    def __init__(
        self,
        main: Callable[..., Any],
        arguments: Sequence[Any],
        folder: Path | str = ".",
        environment: Mapping[str, str] = os.environ,
        most_bytes: int | None = None,
    ) -> None:
        self.outputs = TemporaryDirectory()
        self.files = [Path(self.outputs.name, name) for name in ("out", "err")]
        words = (main, tuple(arguments), str(folder), dict(environment), self.files, most_bytes)
        self.process = FORKS.Process(target=_run, args=words)
        self.process.start()

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        self.process.kill()

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What it wrote on standard output and standard error, once it has ended."""
        out, err = (file.decode() for file in self.written(timeout))
        return out, err

    def written(self, timeout: float) -> tuple[bytes, bytes]:
        """The same in bytes."""
        self.process.join(timeout)
        assert self.returncode is not None, "it has not ended"
        out, err = (file.read_bytes() if file.exists() else b"" for file in self.files)
        return out, err


def _run(
    main: Callable[..., Any],
    arguments: Sequence[Any],
    folder: str,
    environment: Mapping[str, str],
    files: Sequence[Path],
    most_bytes: int | None,
) -> None:
    """As a process that `python -c` starts: what is to be done at its end is done."""
    for number, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if most_bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    try:
        main(*arguments)
    finally:
        atexit._run_exitfuncs()
