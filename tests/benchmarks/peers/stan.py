"""Stan's own ADVI: stanc, g++ and the program they make.

STAN_ENV names a virtual environment that holds httpstan 4.13.0, STAN_BUILD_SH a script `build.sh MODEL OUT`
that compiles against its headers and links a driver with the command `advi DATA key=value ...`.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any


def available() -> bool:
    return bool(os.environ.get("STAN_ENV") and os.environ.get("STAN_BUILD_SH"))


def build(program: Path, folder: Path) -> Path:
    """The compiled program; `stanc` wants the suffix .stan."""
    source = Path(tempfile.mkdtemp(dir=folder)) / f"{program.stem}.stan"
    shutil.copy(program, source)
    binary = source.with_suffix("")
    subprocess.run(["bash", os.environ["STAN_BUILD_SH"], source, binary], check=True, capture_output=True)
    return binary


def advi(binary: Path, data: Path, algorithm: str, seed: int, **more: Any) -> dict[str, Any]:
    """One fit with CmdStan's defaults: its wall and CPU seconds, without reading data."""
    words = [f"{key}={value}" for key, value in more.items()]
    made = subprocess.run(
        [binary, "advi", data, f"algorithm={algorithm}", f"seed={seed}", f"log={os.devnull}", *words],
        check=True,
        capture_output=True,
        text=True,
        cwd=binary.parent,
    )
    return json.loads(made.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def final_elbo(binary: Path, data: Path, algorithm: str, seed: int) -> float:
    """The ELBO of the answer that `advi` gives with this seed, from many draws."""
    dump = binary.parent / "q.json"
    advi(binary, data, algorithm, seed, dump_q=dump, elbo_hi_samples=2000)
    return float(json.loads(dump.read_text())["elbo_hi"])


FEW, TIMED = 50, 0.3
"""Iterations of a first run, by which the cost is guessed, and seconds that a second should take more."""


def gradient(binary: Path, data: Path) -> float:
    """Microseconds of CPU a gradient: of an iteration of ADVI by one draw, without an ELBO.

    What is not iterations is in a short run as in a long one, whose difference is taken.
    """

    def seconds(iterations: int) -> float:
        still = {"adapt_engaged": 0, "eta": 1e-6, "tol_rel_obj": 1e-12, "eval_elbo": 10**9}
        given = {"iter": iterations, "output_samples": 1, "init_radius": 0.1}
        return float(advi(binary, data, "meanfield", 1, **still, **given)["cpu_seconds"])

    short = seconds(FEW)
    more = max(FEW, int(FEW * TIMED / max(short, 1e-5)))
    return 1e6 * (seconds(FEW + more) - short) / more
