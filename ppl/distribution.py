"""What pip installs: its name, where `ppl` on PyPI belongs to another project, its version and its extras."""

NAME = "ppl-vi"
VERSION = "0.1.0"
EXTRAS = {
    "arviz": (
        "arviz>=0.20",
        "h5netcdf>=1.3",
    ),
    "docs": ("mkdocs>=1.6,<2", "mkdocs-material>=9.5"),
    "jax": ("jax>=0.8",),
    "lsp": ("pygls>=2",),
    "parquet": ("pyarrow>=15", "fsspec>=2024.2"),
    "plot": ("matplotlib>=3.8",),
    "sample": ("nutpie>=0.15", "arviz>=0.20", "h5netcdf>=1.3"),
}
"""The extras that messages name, as in pyproject.toml."""


def requirements(extra: str) -> tuple[str, ...]:
    """What to give to pip for an extra: the packages themselves, which pip finds wherever `ppl` came from."""
    return EXTRAS[extra]
