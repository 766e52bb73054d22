"""CmdStan's methods, one file each with `run`: a job in, files and an exit status out."""

from importlib import import_module

from ppl.cmdstan.job import Job


def run(method: str, job: Job) -> int:
    """The exit status of a method, whose file alone is imported."""
    return import_module(f"ppl.cmdstan.methods.{method}").run(job)
