"""The interface of variational families."""

from typing import Protocol

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.floats import Floats
from ppl.kernel.advi.families.standard import Standard

# Values that are never traced.


class Family(Protocol):
    """Distributions q over R^dim that map standard noise z to u = T(params, z).

    A family holds no state: `params` is one flat vector of length `size`, passed to every method, so that
    step rules and stopping rules need not know what is in it. Shapes: z (n, noise_dim), u (n, dim).

    What takes an `xp` is computed with it, params and all: ppl.jax_backend.iterations compiles it as it
    stands. What does not depend on params may stay NumPy.
    """

    @property
    def dim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def noise_dim(self) -> int: ...

    @property
    def standard(self) -> Standard:
        """The distribution of the noise."""

    def start(self, mu: Floats, scale: float = 1.0) -> Floats:
        """Parameters of the member with mean `mu` (dim,) and independent coordinates of sd `scale`."""

    def noise(self, n: int, rng: np.random.Generator) -> Floats:
        """n draws of the standard noise."""

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        """The points u = T(params, z)."""

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        """Gradient (size,) in params of the mean of f(T(params, z)), from the gradients (n, dim) of f."""

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """Entropy of q in nats."""

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """Gradient (size,) of the entropy."""

    def log_density(self, params: Floats, u: Floats) -> Floats:
        """log q(u), (n,)."""

    def score(self, params: Floats, u: Floats) -> Floats:
        """Gradient of log q(u) in u, (n, dim)."""

    def params_score(self, params: Floats, u: Floats) -> Floats:
        """Gradient of log q(u) in params, (n, size), with u held: its mean over q is zero."""

    def push_forward(self, params: Floats, centre: Floats, factor: Floats) -> Floats:
        """The params of centre + A v where v has `params`; A as in `coordinates.Scaled`.

        A family that ignores correlations takes A as a diagonal (dim,) only, and raises ValueError otherwise.
        """

    def mean(self, params: Floats) -> Floats:
        """Mean of q, (dim,)."""

    def scales(self, params: Floats) -> Floats:
        """Standard deviation of each coordinate, (dim,)."""

    def covariance(self, params: Floats) -> Floats:
        """Covariance of q, (dim, dim)."""
