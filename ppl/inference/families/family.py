"""What an algorithm asks of a variational family."""

from typing import Protocol

import numpy as np

from ppl.inference.families.standard import Standard
from ppl.inference.target import Array


class Family(Protocol):
    """Distributions q over R^dim that map standard noise z to u = T(params, z).

    A family holds no state: `params` is one flat vector of length `size`, passed to every method, so that
    step rules and stopping rules need not know what is in it. Shapes: z (n, noise_dim), u (n, dim).
    """

    @property
    def dim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def noise_dim(self) -> int: ...

    @property
    def standard(self) -> Standard:
        """What the noise is drawn from."""
        ...

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        """Parameters of the member with mean `mu` (dim,) and independent coordinates of sd `scale`."""
        ...

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        """n draws of the standard noise."""
        ...

    def transform(self, params: Array, z: Array) -> Array:
        """The points u = T(params, z)."""
        ...

    def pull_back(self, params: Array, z: Array, gradients: Array) -> Array:
        """Gradient (size,) in params of the mean of f(T(params, z)), from the gradients (n, dim) of f."""
        ...

    def entropy(self, params: Array) -> float:
        """Entropy of q in nats."""
        ...

    def entropy_gradient(self, params: Array) -> Array:
        """Gradient (size,) of the entropy."""
        ...

    def log_density(self, params: Array, u: Array) -> Array:
        """log q(u), (n,)."""
        ...

    def score(self, params: Array, u: Array) -> Array:
        """Gradient of log q(u) in u, (n, dim)."""
        ...

    def params_score(self, params: Array, u: Array) -> Array:
        """Gradient of log q(u) in params, (n, size), with u held: its mean over q is zero."""
        ...

    def carry(self, params: Array, centre: Array, factor: Array) -> Array:
        """The params of centre + A v where v has `params`; A as in `coordinates.Scaled`.

        A family that ignores correlations takes A as a diagonal (dim,) only, and raises ValueError otherwise.
        """
        ...

    def mean(self, params: Array) -> Array:
        """Mean of q, (dim,)."""
        ...

    def scales(self, params: Array) -> Array:
        """Standard deviation of each coordinate, (dim,)."""
        ...

    def covariance(self, params: Array) -> Array:
        """Covariance of q, (dim, dim)."""
        ...
