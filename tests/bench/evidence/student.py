"""Student's statistics of differences that are paired by seed, by the standard library alone."""

import functools
import math
import random
import statistics

POWER = 0.8
LEVEL = 0.05


def inside(t, freedom):
    """P(|T| < t) of Student's T; closed forms for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    if freedom == 1:
        return 2 * angle / math.pi
    for i in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (i - 1) / i
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def solved(function, goal, most=1e6):
    """The argument from 0 to `most` at which a function that grows reaches `goal`."""
    least = 0.0
    for _ in range(70):
        middle = (least + most) / 2
        least, most = (middle, most) if function(middle) < goal else (least, middle)
    return most


@functools.cache
def quantile(share, freedom):
    """t with P(|T| < t) = share."""
    return solved(lambda t: inside(t, freedom), share)


def power(shift, limit, freedom):
    """P(T > limit) of Student's T that is not central, by the distribution of the estimated deviation."""
    steps, most = 2000, math.sqrt(freedom) + 8
    scale = 2 ** (freedom / 2 - 1) * math.gamma(freedom / 2)
    total = 0.0
    for i in range(steps):
        y = (i + 0.5) * most / steps
        density = y ** (freedom - 1) * math.exp(-y * y / 2) / scale
        total += density * 0.5 * math.erfc((limit * y / math.sqrt(freedom) - shift) / math.sqrt(2))
    return total * most / steps


@functools.cache
def could_show(seeds, comparisons):
    """How many times the half of its 95 % range a difference must be to be shown four times in five.

    seeds        Pairs that the range is of.
    comparisons  Differences that p is corrected for (Holm): what is asked of the first of them to be shown.
    """
    freedom = seeds - 1
    limit = quantile(1 - LEVEL / comparisons, freedom)
    shift = solved(lambda shift: power(shift, limit, freedom), POWER, most=20 * limit)
    return shift / quantile(1 - LEVEL, freedom)


def paired(values):
    """(mean, least, most, p) of differences, one a seed: Student's range of 95 %, and p of no difference, not corrected."""
    error = statistics.stdev(values) / math.sqrt(len(values))
    mean, half = statistics.fmean(values), quantile(1 - LEVEL, len(values) - 1) * error
    p = 1 - inside(abs(mean) / error, len(values) - 1) if error else float(mean == 0)
    return mean, mean - half, mean + half, p


def wilson(hits, trials):
    """(least, most): the range of 95 % of a share (Wilson 1927)."""
    z = statistics.NormalDist().inv_cdf(1 - LEVEL / 2)
    middle, half = hits / trials + z * z / (2 * trials), z * math.sqrt(hits * (1 - hits / trials) / trials**2 + z * z / (4 * trials**2))
    return (middle - half) / (1 + z * z / trials), (middle + half) / (1 + z * z / trials)


def bootstrapped(first, other, images, times=1000):
    """(least, most): the range of 95 % of a difference in accuracy, over seeds and images together: both are drawn anew, `times` times.

    first, other  For each seed, in equal order, 1 for each image that is right and else 0; `images` of them count.
    """
    rng = random.Random(1)
    apart = [[b - a for a, b in zip(one[:images], two[:images], strict=True)] for one, two in zip(first, other, strict=True)]
    drawn = []
    for _ in range(times):
        sums = [sum(of) for of in zip(*rng.choices(apart, k=len(apart)))]
        drawn.append(sum(rng.choices(sums, k=images)) / (images * len(apart)))
    drawn.sort()
    return drawn[round(times * LEVEL / 2)], drawn[round(times * (1 - LEVEL / 2)) - 1]
