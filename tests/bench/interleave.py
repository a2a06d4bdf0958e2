"""Interleaved runs and what may be concluded from them.

The machines this is measured on are shared and change speed under one's feet: a single figure means nothing.
So every variant runs once per round, in an order that rotates, and is compared with the baseline of the same
round (paired difference) or by the minima over all rounds, each with a bootstrap interval.
"""

import random


def rounds(variants, count, measure):
    """measure(name) once for each variant in each round; returns {name: [values in round order]}."""
    results = {name: [] for name in variants}
    for index in range(count):
        shift = index % len(variants)
        for name in variants[shift:] + variants[:shift]:
            results[name].append(measure(name))
    return results


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def interval(statistic, samples, draws=2000, level=0.95):
    """Bootstrap interval of statistic(rows) over rows of paired values (B. Efron, 1979)."""
    generator = random.Random(1)
    rows = list(samples)
    values = sorted(
        statistic([rows[generator.randrange(len(rows))] for _ in rows]) for _ in range(draws)
    )
    tail = (1 - level) / 2
    return values[int(tail * draws)], values[int((1 - tail) * draws) - 1]


def paired_difference(values, base):
    """Median of the round-by-round differences, and its interval."""
    pairs = list(zip(values, base))
    statistic = lambda rows: median([a - b for a, b in rows])
    return statistic(pairs), interval(statistic, pairs)


def ratio_of_minima(values, base):
    """Smallest of one variant over smallest of the other, and its interval."""
    pairs = list(zip(values, base))
    statistic = lambda rows: min(a for a, _ in rows) / min(b for _, b in rows)
    return statistic(pairs), interval(statistic, pairs)
