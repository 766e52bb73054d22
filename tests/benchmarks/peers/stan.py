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
