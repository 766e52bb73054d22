"""Numbers of mathematics that densities and special functions have in common."""

import math

LOG_TWO = math.log(2.0)
"""The logarithm of 2."""
LOG_PI = math.log(math.pi)
"""That of pi."""
LOG_TWO_PI = math.log(2.0 * math.pi)
"""That of 2 pi."""
HALF_LOG_PI = 0.5 * math.log(math.pi)
"""Half of that of pi, the logarithm of gamma(1/2)."""
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
"""Half of that of 2 pi, by which the standard normal density is scaled."""
SQRT_TWO = math.sqrt(2.0)
"""The root of 2."""
SQRT_HALF = math.sqrt(0.5)
"""The root of 1/2."""
SQRT_TWO_PI = math.sqrt(2.0 * math.pi)
"""The root of 2 pi, one over the standard normal density at 0."""
TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)
"""The slope of erf at 0."""
