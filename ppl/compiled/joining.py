"""Joining the processes of one run, where JAX is there to connect them."""

from ppl.arguments import checks
from ppl.distribution import requirements
from ppl.extras import extra


@checks
def join(coordinator: str | None = None, processes: int | None = None, process: int | None = None) -> bool:
    """Make this process one of those that fit together, before anything else asks JAX for a device.

    Process 0 listens at `coordinator`, "host:port", and nowhere else, and is the one to write files; the
    others wait 25 seconds for it. Without arguments they are those of SLURM, Open MPI, MPICH, torchrun
    (`ppl.compiled.launched`) or Kubernetes. Should another process end early, this one does too, with a
    message and exit status 3. True for process 0.

    Raises:
        MissingPackage: JAX is not installed.
        InferenceError: they cannot be detected, or the coordinator, or another process, did not come in time.

    Example:
        >>> first = ppl.join("node1:9000", processes=4, process=2)  # doctest: +SKIP
        >>> fit = posterior.variational(sharded=True)  # doctest: +SKIP
    """
    extra("jax", "a run on several processes", *requirements("jax"))
    from ppl.compiled.processes import connect

    return connect(coordinator, processes, process)
