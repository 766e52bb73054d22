"""An executable written by `ppl build`: CmdStan's command, from its words to its exit status."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ppl.cmdstan.help import info, usage
from ppl.cmdstan.parse import HelpRequested, Misuse, parse
from ppl.cmdstan.words import in_stans_words
from ppl.errors import InferenceError, PPLError
from ppl.memory import out_of_memory
from ppl.results.arguments.tree import PPL
from ppl.results.files.config import Config, tree_lines


def main(
    name: str, program: str | Path, argv: Sequence[str], compiled: str = "", flags: Sequence[str] = ()
) -> int:
    """Run one command; `argv` has the executable's name first. Returns the exit status, 0 or 1.

    `compiled` is what `ppl build` kept of the program's compilation (ppl.cmdstan.stored), `flags` are the
    options of CmdStan's makefile that the executable was built with. What cannot be loaded fast is imported
    only once the words make sense.
    """
    executable, *words = argv
    if "info" in words:
        print(info(flags), end="")
        return 0
    if not words:
        print(usage(executable), end="")
        return 1
    try:
        arguments = parse(words)
    except HelpRequested as request:
        print(request, usage(executable), sep="", end="")
        return 0
    except Misuse as error:
        print(error, "Failed to parse command arguments, cannot run model.", sep="\n", file=sys.stderr)
        return 1
    return _guarded(name, program, compiled, arguments)


def _guarded(name: str, program: str | Path, compiled: str, arguments: dict[str, Any]) -> int:
    """CmdStan's clients look for lines that begin with `Exception` or `Error`."""
    try:
        return _run(name, program, compiled, arguments)
    except PPLError as error:
        print(f"Exception: {in_stans_words(error)}", file=sys.stderr)
    except MemoryError as error:
        print(f"Exception: {out_of_memory(error)}", file=sys.stderr)
    except OSError as error:
        print(f"Error: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


def _run(name: str, program: str | Path, compiled: str, arguments: dict[str, Any]) -> int:
    from ppl.cmdstan.job import Job
    from ppl.cmdstan.methods import run
    from ppl.cmdstan.outputs import require_own_outputs
    from ppl.cmdstan.profile import profiled
    from ppl.cmdstan.stored import stored_model
    from ppl.run.memory_needed import require_memory_of_rows
    from ppl.run.posterior_target import parameters_of

    _refuse_unwritable(arguments)
    if arguments.get("random.seed", -1) == -1:
        arguments["random.seed"] = time.time_ns() // 1_000_000 % 2**32
    config = Config(f"{name}_model", arguments, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
    values = config.values
    require_own_outputs(values, program, arguments.get("output.profile_file"))
    model = stored_model(program, compiled, values["ppl.positive_transform"] == "softplus")
    with profiled(model, arguments.get("output.profile_file")) as timed:
        data = values["data.file"] or {}
        posterior = timed.condition(data, seed=values["random.seed"])
        require_memory_of_rows(posterior.extent, _draws(values))
        job = Job(posterior, replace(config, parameters=parameters_of(posterior)))
        print("\n".join(tree_lines(values)), end="\n\n")
        sys.stdout.flush()
        job.note_unused(*_idle(values["method"]))
        return run(values["method"], job)


def _refuse_unwritable(arguments: dict[str, Any]) -> None:
    """Before the run rather than after it."""
    for path in ("output.file", "output.diagnostic_file", "output.profile_file"):
        folder = Path(arguments.get(path) or ".").parent
        if not folder.is_dir():
            raise InferenceError(f"There is no folder {folder} to write {path.rpartition('.')[2]} in.")


def _draws(values: Mapping[str, Any]) -> int:
    """How many draws a method has in memory; `variational` says so by itself."""
    match values["method"]:
        case "sample":
            return int(values["sample.num_warmup"] + values["sample.num_samples"])
        case "laplace":
            return int(values["laplace.draws"])
        case "pathfinder":
            of_path = max(values["pathfinder.num_draws"], values["pathfinder.num_elbo_draws"])
            return int(values["pathfinder.num_paths"] * of_path + values["pathfinder.num_psis_draws"])
        case _:
            return 0


def _idle(method: str) -> list[str]:
    """Arguments of every run that this method has no use for."""
    if method == "variational":
        return []
    used = {"positive_transform", *(("backend", "device") if method == "sample" else ())}
    ours = [f"ppl.{part.name}" for part in PPL.parts if part.name not in used]
    latent = [] if method == "sample" else ["output.diagnostic_file"]
    return ["num_threads", *latent, *ours]
