"""The addresses at which processes reach each other: the coordinator's, and this host's own.

Gloo, which sums over processes, listens where this host's name leads. Debian and its kin let that lead to
127.0.1.1, in /etc/hosts, where nobody else comes; then it is told the address that faces the coordinator.
"""

import socket
import time
from functools import partial
from ipaddress import ip_address
from typing import Any

from ppl.errors import InferenceError

ANYWHERE = "192.0.2.1:9"
"""An address of no host (RFC 5737), to see which of our own leads out. Nothing is sent."""
BETWEEN_TRIES = 0.1
"""Seconds between two looks for the coordinator."""
WAIT = 60_000
"""Milliseconds in which every process says where it is."""
AT = "ppl/at/"
"""The entry of each process in the runtime's store."""


def listen_on_reachable_address(state: Any) -> None:
    """Let Gloo listen at the address that faces the coordinator, where this host's own name leads nowhere.

    `state` is that of JAX's distributed runtime; none of its backends is there yet.

    Raises:
        InferenceError: the name leads nowhere, and no address of this host leads out.
    """
    own = facing(state.coordinator_address)
    state.client.key_value_set(f"{AT}{state.process_id}", own)
    state.client.wait_at_barrier("ppl/addresses", WAIT)
    many_hosts = any(not is_loopback(at) for _, at in state.client.key_value_dir_get(AT))
    if many_hosts and is_loopback(of_name(socket.gethostname())):
        listen_at(state.client, facing(ANYWHERE) if is_loopback(own) else own)


def parts(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT.

    Raises:
        InferenceError: it is no such address.
    """
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal() and int(port) < 1 << 16):
        raise InferenceError(f"The coordinator is given as HOST:PORT, such as node1:9000, not {address!r}.")
    return host.strip("[]"), int(port)


def to_listen_at(coordinator: str) -> str | None:
    """The address of this host that HOST:PORT names; None, for all of them, where it names none.

    That is so where others reach this host by an address that it does not know, as behind a router, or where
    its own name leads to its loopback here.
    """
    host, port = parts(coordinator)
    at = of_name(host)
    if is_loopback(at) and host == socket.gethostname():
        return None
    family = socket.AF_INET6 if ":" in at else socket.AF_INET
    try:
        with socket.socket(family) as own:
            own.bind((at, 0))
    except OSError:
        return None
    return f"[{at}]:{port}" if ":" in at else f"{at}:{port}"


def await_coordinator(coordinator: str, seconds: float) -> None:
    """Return once something listens at HOST:PORT.

    Raises:
        InferenceError: nothing does in so many seconds; names the address.
    """
    address, end = parts(coordinator), time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(address, timeout=max(0.1, end - time.monotonic())).close()
            return
        except OSError as error:
            if time.monotonic() >= end:
                why = error.strerror or error
                raise InferenceError(
                    f"No coordinator answered at {coordinator} within {seconds:g} seconds ({why}). "
                    "Start process 0 there, and check that no firewall blocks this host."
                ) from None
        time.sleep(BETWEEN_TRIES)


def facing(address: str) -> str:
    """This host's address on the way to another, HOST:PORT; that of its loopback where there is no way."""
    host, port = parts(address)
    try:
        family, kind, *_, to = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as way:
            way.connect(to)
            return str(way.getsockname()[0])
    except OSError:
        return "127.0.0.1"


def of_name(host: str) -> str:
    """The address that a host's name leads to; that of the loopback where it leads nowhere."""
    try:
        return str(socket.getaddrinfo(host, None)[0][4][0])
    except OSError:
        return "127.0.0.1"


def is_loopback(address: str) -> bool:
    return ip_address(address.partition("%")[0]).is_loopback


def listen_at(client: Any, address: str) -> None:
    """Make the processors of JAX with a Gloo that listens there: JAX has no setting for it (0.10)."""
    if is_loopback(address):
        raise InferenceError(
            f"Other hosts cannot reach this one: its name, {socket.gethostname()}, resolves to "
            f"{address}, and it has no other network address. Set its address in /etc/hosts."
        )
    from jax._src import xla_bridge
    from jax._src.lib import _jax

    gloo = _jax.make_gloo_tcp_collectives(distributed_client=client, hostname=address)
    make = partial(xla_bridge.make_cpu_client, collectives=gloo)
    xla_bridge.register_backend_factory("cpu", make, priority=0, fail_quietly=False)
