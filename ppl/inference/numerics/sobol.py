"""Scrambled Sobol points: those of `scipy.stats.qmc.Sobol`, to the last bit, for the first dimensions.

All of scipy.stats takes a quarter of a second to import, which is as long as many a fit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppl.inference.objective.target import Array

Bits = NDArray[np.uint32]


@dataclass(frozen=True)
class SobolBits:
    """The digits of a Sobol point."""

    bits: int = 30
    """Binary digits after the point, as in Joe and Kuo (2008)."""

    @property
    def spacing(self) -> float:
        """The distance between two neighbouring coordinates."""
        return 2.0**-self.bits


SOBOL = SobolBits()

# What the first bit after the point stands for, the second, and so on, in units of 2^-bits.
MAGNITUDES = 1 << np.arange(SOBOL.bits - 1, -1, -1, dtype=np.uint32)

# From the second dimension on: a primitive polynomial, its coefficients as bits, and the first direction
# numbers (Joe and Kuo 2008, "Constructing Sobol sequences with better two-dimensional projections", SIAM
# Journal on Scientific Computing 30).
TABLE = """
3 1; 7 1 3; 11 1 3 1; 13 1 1 1; 19 1 1 3 3; 25 1 3 5 13; 37 1 1 5 5 17; 41 1 1 5 5 5; 47 1 1 7 11 19; 55 1 1 5
1 1; 59 1 1 1 3 11; 61 1 3 5 5 31; 67 1 3 3 9 7 49; 91 1 1 1 15 21 21; 97 1 3 1 13 27 49; 103 1 1 1 15 7 5;
109 1 3 1 15 13 25; 115 1 1 5 5 19 61; 131 1 3 7 11 23 15 103; 137 1 3 7 13 13 15 69; 143 1 1 3 13 7 35 63;
145 1 3 5 9 1 25 53; 157 1 3 1 13 9 35 107; 167 1 3 1 5 27 61 31; 171 1 1 5 11 19 41 61; 185 1 3 5 3 3 13 69;
191 1 1 7 13 1 19 1; 193 1 3 7 5 13 19 59; 203 1 1 3 9 25 29 41; 211 1 3 5 13 23 1 55; 213 1 3 7 3 13 59 17;
229 1 3 1 3 5 53 69; 239 1 1 5 5 23 33 13; 241 1 1 7 7 1 61 123; 247 1 1 7 9 13 61 49; 253 1 3 3 5 3 55 33;
285 1 3 1 15 31 13 49 245; 299 1 3 5 15 31 59 63 97; 301 1 3 1 11 11 11 77 249; 333 1 3 1 11 27 43 71 9; 351 1
1 7 15 21 11 81 45; 355 1 3 7 3 25 31 65 79; 357 1 3 1 1 19 11 3 205; 361 1 1 5 9 19 21 29 157; 369 1 3 7 11 1
33 89 185; 391 1 3 3 3 15 9 79 71; 397 1 3 7 11 15 39 119 27; 425 1 1 3 1 11 31 97 225; 451 1 1 1 3 23 43 57
177; 463 1 3 7 7 17 17 37 71; 487 1 3 1 5 27 63 123 213; 501 1 1 3 5 11 43 53 133; 529 1 3 5 5 29 17 47 173
479; 539 1 3 3 11 3 1 109 9 69; 545 1 1 1 5 17 39 23 5 343; 557 1 3 1 5 25 15 31 103 499; 563 1 1 1 11 11 17
63 105 183; 601 1 1 5 11 9 29 97 231 363; 607 1 1 5 15 19 45 41 7 383; 617 1 3 7 7 31 19 83 137 221; 623 1 1 1
3 23 15 111 223 83; 631 1 1 5 13 31 15 55 25 161; 637 1 1 3 13 25 47 39 87 257; 647 1 1 1 11 21 53 125 249
293; 661 1 1 7 11 11 7 57 79 323; 675 1 1 5 5 17 13 81 3 131; 677 1 1 7 13 23 7 65 251 475; 687 1 3 5 1 9 43 3
149 11; 695 1 1 3 13 31 13 13 255 487; 701 1 3 3 1 5 63 89 91 127; 719 1 1 3 3 1 19 123 127 237; 721 1 1 5 7
23 31 37 243 289; 731 1 1 5 11 17 53 117 183 491; 757 1 1 1 5 1 13 13 209 345; 761 1 1 3 15 1 57 115 7 33; 787
1 3 1 11 7 43 81 207 175; 789 1 3 1 1 15 27 63 255 49; 799 1 3 5 3 27 61 105 171 305; 803 1 1 5 3 1 3 57 249
149; 817 1 1 3 5 5 57 15 13 159; 827 1 1 1 11 7 11 105 141 225; 847 1 3 3 5 27 59 121 101 271; 859 1 3 5 9 11
49 51 59 115; 865 1 1 7 1 23 45 125 71 419; 875 1 1 3 5 23 5 105 109 75; 877 1 1 7 15 7 11 67 121 453; 883 1 3
7 3 9 13 31 27 449; 895 1 3 1 15 19 39 39 89 15; 901 1 1 1 1 1 33 73 145 379; 911 1 3 1 15 15 43 29 13 483;
949 1 1 7 3 19 27 85 131 431; 953 1 3 3 3 5 35 23 195 349; 967 1 3 3 7 9 27 39 59 297; 971 1 1 3 9 11 17 13
241 157; 973 1 3 7 15 25 57 33 189 213; 981 1 1 7 1 9 55 73 83 217; 985 1 3 3 13 19 27 23 113 249; 995 1 3 5 3
23 43 3 253 479; 1001 1 1 5 5 11 5 45 117 217; 1019 1 3 3 7 29 37 33 123 147; 1033 1 3 1 15 5 5 37 227 223
459; 1051 1 1 7 5 5 39 63 255 135 487; 1063 1 3 1 7 9 7 87 249 217 599; 1069 1 1 3 13 9 47 7 225 363 247; 1125
1 3 7 13 19 13 9 67 9 737; 1135 1 3 5 5 19 59 7 41 319 677; 1153 1 1 5 3 31 63 15 43 207 789; 1163 1 1 7 9 13
39 3 47 497 169; 1221 1 3 1 7 21 17 97 19 415 905; 1239 1 3 7 1 3 31 71 111 165 127; 1255 1 1 5 11 1 61 83 119
203 847; 1267 1 3 3 13 9 61 19 97 47 35; 1279 1 1 7 7 15 29 63 95 417 469; 1293 1 3 1 9 25 9 71 57 213 385;
1305 1 3 5 13 31 47 101 57 39 341; 1315 1 1 3 3 31 57 125 173 365 551; 1329 1 3 7 1 13 57 67 157 451 707; 1341
1 1 1 7 21 13 105 89 429 965; 1347 1 1 5 9 17 51 45 119 157 141; 1367 1 3 7 7 13 45 91 9 129 741; 1387 1 3 7 1
23 57 67 141 151 571; 1413 1 1 3 11 17 47 93 107 375 157; 1423 1 3 3 5 11 21 43 51 169 915; 1431 1 1 5 3 15 55
101 67 455 625; 1441 1 3 5 9 1 23 29 47 345 595; 1479 1 3 7 7 5 49 29 155 323 589; 1509 1 3 3 7 5 41 127 61
261 717; 1527 1 3 7 7 17 23 117 67 129 1009; 1531 1 1 3 13 11 39 21 207 123 305; 1555 1 1 3 9 29 3 95 47 231
73; 1557 1 3 1 9 1 29 117 21 441 259; 1573 1 3 1 13 21 39 125 211 439 723; 1591 1 1 7 3 17 63 115 89 49 773;
1603 1 3 7 13 11 33 101 107 63 73; 1615 1 1 5 5 13 57 63 135 437 177; 1627 1 1 3 7 27 63 93 47 417 483; 1657 1
1 3 1 23 29 1 191 49 23; 1663 1 1 3 15 25 55 9 101 219 607; 1673 1 3 1 7 7 19 51 251 393 307; 1717 1 3 3 3 25
55 17 75 337 3; 1729 1 1 1 13 25 17 65 45 479 413; 1747 1 1 7 7 27 49 99 161 213 727; 1759 1 3 5 1 23 5 43 41
251 857; 1789 1 3 3 7 11 61 39 87 383 835; 1815 1 1 3 15 13 7 29 7 505 923; 1821 1 3 7 1 5 31 47 157 445 501;
1825 1 1 3 7 1 43 9 147 115 605; 1849 1 3 3 13 5 1 119 211 455 1001; 1863 1 1 3 5 13 19 3 243 75 843; 1869 1 3
7 7 1 19 91 249 357 589; 1877 1 1 1 9 1 25 109 197 279 411; 1881 1 3 1 15 23 57 59 135 191 75; 1891 1 1 5 15
29 21 39 253 383 349; 1917 1 3 3 5 19 45 61 151 199 981; 1933 1 3 5 13 9 61 107 141 141 1; 1939 1 3 1 11 27 25
85 105 309 979; 1969 1 3 3 11 19 7 115 223 349 43; 2011 1 1 7 9 21 39 123 21 275 927; 2035 1 1 7 13 15 41 47
243 303 437; 2041 1 1 1 7 7 3 15 99 409 719
"""
DIRECTIONS = tuple(tuple(map(int, row.split())) for row in TABLE.split(";"))
MOST_DIMENSIONS = 1 + len(DIRECTIONS)


def sobol(n: int, dim: int, rng: np.random.Generator) -> Array:
    """n points (n, dim) of [0, 1)^dim, n a power of two, dim at most `MOST_DIMENSIONS`.

    Scrambled by random lower-triangular matrices and a shift (Matousek 1998), with the numbers of a generator
    that is spawned from `rng`, in SciPy's order.
    """
    (rng,) = rng.spawn(1)
    shift = rng.integers(2, size=(dim, SOBOL.bits), dtype=np.uint32) @ MAGNITUDES[::-1]
    matrices = np.tril(rng.integers(2, size=(dim, SOBOL.bits, SOBOL.bits), dtype=np.uint32))
    matrices[:, range(SOBOL.bits), range(SOBOL.bits)] = 1
    directions = _scrambled(_directions(dim), matrices)
    order = np.arange(n, dtype=np.uint32)
    gray = order ^ (order >> 1)
    points = np.repeat(shift[None], n, axis=0)
    for k in range((n - 1).bit_length()):
        points ^= np.where((gray >> k & 1)[:, None] == 1, directions[:, k], np.uint32(0))
    return np.asarray(points * SOBOL.spacing)


def _directions(dim: int) -> Bits:
    """The direction numbers (dim, bits) in units of 2^-bits, by the recurrence of the polynomials."""
    numbers = [[1] * SOBOL.bits]
    for polynomial, *row in DIRECTIONS[: dim - 1]:
        degree = len(row)
        taps = [k for k in range(1, degree) if polynomial >> (degree - k) & 1]
        for j in range(degree, SOBOL.bits):
            number = row[j - degree] ^ row[j - degree] << degree
            for k in taps:
                number ^= row[j - k] << k
            row.append(number)
        numbers.append(row)
    return np.array(numbers, dtype=np.uint32) * MAGNITUDES


def _scrambled(directions: Bits, matrices: Bits) -> Bits:
    """Each direction's bits multiplied by the matrix (bits, bits) of its dimension, modulo 2."""
    bits = ((directions[..., None] & MAGNITUDES) > 0).astype(float)
    return np.asarray((bits @ matrices.mT % 2).astype(np.uint32) @ MAGNITUDES)
