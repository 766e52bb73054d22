"""What the tests of JAX share."""

import pytest


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for every time that the emitted code of a density is traced."""
    density = pytest.importorskip("ppl.jax_backend.density")
    found: list[object] = []
    log_joint_of = density.log_joint_of

    def counted(*args: object, **more: object) -> object:
        found.append(args[0])
        return log_joint_of(*args, **more)

    monkeypatch.setattr(density, "log_joint_of", counted)
    return found
