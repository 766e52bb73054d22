"""What pip installs: its name on PyPI, where `ppl` belongs to another project, and its version."""

NAME = "ppl-vi"
VERSION = "0.1.0"


def with_extra(extra: str) -> str:
    """What to give to pip for an extra: `ppl-vi[plot]`."""
    return f"{NAME}[{extra}]"
