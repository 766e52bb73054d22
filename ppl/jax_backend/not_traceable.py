"""Why JAX cannot run a program.  This file alone does not import jax."""


class NotTraceable(Exception):
    """JAX cannot run this program; the message, which follows "because", says why."""
