"""Needs the extra "jax"."""

import pytest

pytest.importorskip("jax")
