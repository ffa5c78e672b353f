"""Finds objects: a threshold, and the connected pixels above it. Works on runs of pixels in a row, not on pixels."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import NamedTuple

BINS = 256


class Run(NamedTuple):
    z: int
    y: int
    start: int
    end: int


def otsu_threshold(planes: list[array]) -> int:
    """The value that separates the pixels best into a dark and a bright class."""
    counts: Counter = Counter()
    for plane in planes:
        counts.update(plane)
    lowest, highest = min(counts), max(counts)
    width = (highest - lowest + 1) / BINS
    bins = [0] * BINS
    for value, count in counts.items():
        bins[int((value - lowest) / width)] += count
    total, total_sum = sum(bins), sum(index * count for index, count in enumerate(bins))
    best, best_bin, dark, dark_sum = -1.0, 0, 0, 0
    for index, count in enumerate(bins[:-1]):
        dark += count
        dark_sum += index * count
        bright = total - dark
        if dark == 0 or bright == 0:
            continue
        between = dark * bright * (dark_sum / dark - (total_sum - dark_sum) / bright) ** 2
        if between > best:
            best, best_bin = between, index
    return int(lowest + (best_bin + 1) * width)


def runs_of_row(mask: bytes, begin: int, end: int):
    start = mask.find(1, begin, end)
    while start != -1:
        stop = mask.find(0, start, end)
        stop = end if stop == -1 else stop
        yield start - begin, stop - begin
        start = mask.find(1, stop, end)


def touching(ones: list[int], others: list[int], runs: list[Run]):
    """Pairs of runs of two neighbouring rows that share a column."""
    i = j = 0
    while i < len(ones) and j < len(others):
        one, other = runs[ones[i]], runs[others[j]]
        if one.start < other.end and other.start < one.end:
            yield ones[i], others[j]
        if one.end < other.end:
            i += 1
        else:
            j += 1


def connected_runs(planes: list[array], height: int, width: int, threshold: int) -> list[list[Run]]:
    """The runs of every object, objects in the order in which they are met."""
    runs: list[Run] = []
    parents: list[int] = []

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = run = parents[parents[run]]
        return run

    plane_below: list[list[int]] = [[] for _ in range(height)]
    for z, plane in enumerate(planes):
        mask = bytes(map(threshold.__lt__, plane))
        rows: list[list[int]] = []
        for y in range(height):
            row = []
            for start, end in runs_of_row(mask, y * width, (y + 1) * width):
                row.append(len(runs))
                parents.append(len(runs))
                runs.append(Run(z, y, start, end))
            for neighbours in (rows[-1] if rows else [], plane_below[y]):
                for one, other in touching(row, neighbours, runs):
                    one, other = sorted((root(one), root(other)))
                    parents[other] = one
            rows.append(row)
        plane_below = rows
    objects: dict[int, list[Run]] = {}
    for index, run in enumerate(runs):
        objects.setdefault(root(index), []).append(run)
    return list(objects.values())


def label_planes(objects: list[list[Run]], planes: int, height: int, width: int) -> list[array]:
    """Label images in which the pixels of the first object are 1, of the second 2, ..."""
    labels = [array("I", bytes(4 * height * width)) for _ in range(planes)]
    for label, runs in enumerate(objects, start=1):
        for z, y, start, end in runs:
            labels[z][y * width + start : y * width + end] = array("I", [label]) * (end - start)
    return labels
