"""How many of the machine's cores a fit may take."""

import os


def cores_of(cores: int | None) -> int:
    """As many as were asked for; None stands for all that this process may run on."""
    if cores is not None:
        return cores
    allowed = getattr(os, "sched_getaffinity", None)  # of Linux: what a scheduler or a container gave
    return len(allowed(0)) if allowed else os.cpu_count() or 1
