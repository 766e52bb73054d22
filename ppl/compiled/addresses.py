"""The address at which processes on other hosts reach this one.

Gloo, which sums over processes, listens where this host's name leads. Debian and its kin let that lead to
127.0.1.1, in /etc/hosts, where nobody else comes; then it is told the address that faces the coordinator.
"""

import socket
from functools import partial
from ipaddress import ip_address
from typing import Any

from ppl.errors import InferenceError

ANYWHERE = "192.0.2.1:9"
"""An address of no host (RFC 5737), to see which of our own leads out. Nothing is sent."""
WAIT = 60_000
"""Milliseconds in which every process says where it is."""
AT = "ppl/at/"
"""What each says, in the runtime's store."""


def listen_where_others_reach(state: Any) -> None:
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


def facing(address: str) -> str:
    """This host's address on the way to another, HOST:PORT; that of its loopback where there is no way."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        family, kind, *_, to = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
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
            f"Other hosts cannot reach this one: its name, {socket.gethostname()}, leads to {address}, and "
            "it has no other way out. Give its address in /etc/hosts."
        )
    from jax._src import xla_bridge
    from jax._src.lib import _jax

    gloo = _jax.make_gloo_tcp_collectives(distributed_client=client, hostname=address)
    make = partial(xla_bridge.make_cpu_client, collectives=gloo)
    xla_bridge.register_backend_factory("cpu", make, priority=0, fail_quietly=False)
