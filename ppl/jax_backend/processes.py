"""One run on many processes, which JAX's distributed runtime connects: joining, agreeing, ending together.

All processes run the same program on the same settings and seed, so that each decides as all others do from
sums that are the same on all (single program, multiple data). One that ends early ends all: a thread of each
asks the runtime every second who is alive, and what those that ended had to say.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np
from jax._src.clusters import ClusterEnv
from jax._src.distributed import global_state
from jax.experimental.multihost_utils import broadcast_one_to_all, process_allgather

from ppl.errors import InferenceError
from ppl.jax_backend.addresses import await_coordinator, listen_on_reachable_address, to_listen_at
from ppl.jax_backend.launched import launched


class Times(NamedTuple):
    """Seconds that processes wait for each other."""

    coordinator: int = 25
    """Until the coordinator has come."""

    joining: int = 300
    """Until the last process has come."""

    silence: int = 10
    """Without a heartbeat of a process until it counts as dead."""

    polling: float = 1.0
    """Between two looks at who is alive."""

    notice: float = 3.0
    """That a process which ends early stays, so that all others hear why."""

    ending: int = 24 * 3600
    """Until all have ended: the first writes its files meanwhile."""


WAITS = Times()
FAILED = 3
"""The exit status of a process that ends because another did: that of a fit that failed."""
ENDED, ON = "ppl/ended/", "ppl/on/"
"""The entries of processes in the runtime's store: why they end early, and where they run."""


def connect(coordinator: str | None, processes: int | None, process: int | None) -> bool:
    """See `joining.join`."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_enable_recoverability", True)  # we say which process ended: XLA just aborts
    jax.config.update("jax_enable_preemption_service", False)
    try:
        if (coordinator, process) == (None, None) and (environment := launched(os.environ)):
            processes, process, coordinator = environment
        by_hand = coordinator is not None
        coordinator, processes, process, devices = ClusterEnv.auto_detect_unset_distributed_params(
            coordinator, processes, process, None, None, WAITS.joining
        )
        if coordinator and process:
            await_coordinator(coordinator, WAITS.coordinator)
        jax.distributed.initialize(
            coordinator,
            processes,
            process,
            devices,
            coordinator_bind_address=to_listen_at(coordinator) if coordinator and by_hand else None,
            initialization_timeout=WAITS.joining,
            heartbeat_timeout_seconds=WAITS.silence,
        )
    except (ValueError, RuntimeError) as error:
        raise InferenceError(cannot_join(error, coordinator)) from None
    client, index = global_state.client, global_state.process_id
    client.key_value_set(f"{ON}{index}", f"{socket.gethostname()}, pid {os.getpid()}")
    with without_standard_output():
        listen_on_reachable_address(global_state)
        client.wait_at_barrier("ppl/joined", 1000 * WAITS.joining)
        names = {number(key): value for key, value in client.key_value_dir_get(ON)}
        process_allgather(np.zeros(1))  # the connections are made here, which Gloo tells standard output
    ProcessWatch(client, names, index).start()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130))  # no process can go on alone and end in order
    return bool(index == 0)


def cannot_join(error: Exception, coordinator: str | None) -> str:
    where = f"at {coordinator}" if coordinator else "that SLURM, MPI, torchrun or Kubernetes would name"
    return (
        f"The processes of the run, {where}, could not be joined: {str(error).splitlines()[0]}\n"
        "Without a launcher, give each process --coordinator HOST:PORT --processes N --process I, I from 0."
    )


def leave() -> None:
    """End together: wait for all, then part; nothing where the process is on its own."""
    if jax.distributed.is_initialized():
        client = global_state.client
        client.key_value_set(f"{ENDED}{global_state.process_id}", "")
        client.wait_at_barrier("ppl/left", 1000 * WAITS.ending)
        for thread in threading.enumerate():
            if isinstance(thread, ProcessWatch):
                thread.leaving.set()
        client.wait_at_barrier("ppl/unwatched", 1000 * WAITS.joining)
        if global_state.process_id == 0:  # the store is here, and goes last
            while len(client.get_live_nodes(list(range(global_state.num_processes)))) > 1:
                time.sleep(WAITS.polling / 10)
        jax.distributed.shutdown()


def end_early(status: int, why: str) -> None:
    """End this process before `leave`, and with it all others, which are told why; nothing after `leave`."""
    if not jax.distributed.is_initialized():
        return
    if "Gloo" in why:  # a sum over all processes failed: which of them ended, the watch is about to say
        time.sleep(WAITS.silence + 5 * WAITS.polling)
        why = "the others could not be reached"
    try:
        global_state.client.key_value_set(f"{ENDED}{global_state.process_id}", why)
        time.sleep(WAITS.notice)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # in order, JAX would first wait for the others


class ProcessWatch(threading.Thread):
    """Ends this process once another has ended early; `leaving` says that from now on they may."""

    def __init__(self, client: Any, names: dict[int, str], index: int):
        super().__init__(daemon=True)
        self.client, self.names, self.index = client, names, index
        self.leaving = threading.Event()

    def run(self) -> None:
        while not self.leaving.wait(WAITS.polling):
            early = self.ended_early()
            if early and not self.leaving.is_set():
                self.end(early)

    def ended_early(self) -> dict[int, str]:
        """Those that did, each with why."""
        try:
            reasons = {number(key): why for key, why in self.client.key_value_dir_get(ENDED)}
            if reasons:
                return {k: why for k, why in reasons.items() if why and k != self.index}
            alive = self.client.get_live_nodes(list(self.names))  # waits until all alive have asked
            return {k: "it stopped without a message" for k in self.names if k not in alive}
        except jax.errors.JaxRuntimeError as error:
            return {0: f"its store cannot be reached ({str(error).splitlines()[0]})"}

    def end(self, early: dict[int, str]) -> None:
        many = len(self.names)
        for k, why in early.items():
            print(f"ppl: process {k} of {many} ({self.names[k]}) ended: {why}", file=sys.stderr)
        print(
            "ppl: the run ends here; --resume continues from the last checkpoint.",
            file=sys.stderr,
            flush=True,
        )
        time.sleep(0 if self.index else WAITS.notice + WAITS.polling)  # the first has the store
        os._exit(FAILED)


def number(key: str) -> int:
    """That of the process, at the end of a key of the store."""
    return int(key.rpartition("/")[2])


@contextmanager
def without_standard_output() -> Iterator[None]:
    """Discard what libraries print on standard output, where results belong."""
    sys.stdout.flush()
    saved, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


def is_first() -> bool:
    """Whether this process is the one that writes files."""
    return bool(jax.process_index() == 0)


def from_first(text: str | None) -> str | None:
    """The value of process 0, on all."""
    if jax.process_count() == 1:
        return text
    encoded = np.frombuffer((text or "").encode(), np.uint8)
    size = int(broadcast_one_to_all(np.array([-1 if text is None else encoded.size], np.int32))[0])
    own = encoded if jax.process_index() == 0 else np.zeros(max(size, 0), np.uint8)
    return None if size < 0 else bytes(broadcast_one_to_all(own)).decode()


def require_same(**texts: str) -> None:
    """InferenceError where a text is another on another process."""
    for name, text in texts.items() if jax.process_count() > 1 else ():
        theirs = from_first(text)
        same = np.asarray(process_allgather(np.array([theirs == text]))).ravel()
        if not same.all():
            odd = int(np.argmin(same))
            raise InferenceError(f"The {name} of process {odd} of {same.size} differs from process 0.")
