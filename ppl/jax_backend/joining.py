"""Joining the processes of one run, where JAX is there to connect them."""

from ppl.arguments import checks
from ppl.system.distribution import extra, requirements


@checks
def join(coordinator: str | None = None, processes: int | None = None, process: int | None = None) -> bool:
    """Join the processes of a distributed fit; call it before anything else uses a JAX device.

    Process 0 listens at `coordinator`, "host:port", and writes files; the others wait 25 seconds for it.
    Without arguments the processes are detected from SLURM, Open MPI, MPICH, torchrun
    (`ppl.jax_backend.launched`) or Kubernetes. If another process ends early, this one ends too, with a
    message and exit status 3. Returns True for process 0.

    Raises:
        MissingPackage: JAX is not installed.
        InferenceError: the processes cannot be detected, or the coordinator or another process did not
            answer in time.

    Example:
        >>> first = ppl.join("node1:9000", processes=4, process=2)  # doctest: +SKIP
        >>> fit = posterior.variational(sharded=True)  # doctest: +SKIP
    """
    extra("jax", "a run on several processes", *requirements("jax"))
    from ppl.jax_backend.processes import connect

    return connect(coordinator, processes, process)
