"""Uneven light: its profile, estimated from an image, and the image without it."""

from __future__ import annotations

from array import array
from itertools import repeat
from operator import mul

# Where hardly any light arrives there is nothing to bring back but noise.
DARKEST = 0.05
REFITS = 4
CELL_LIGHT = 1.02
FEWEST_TILES = 12


def tile_backgrounds(planes: list[array], height: int, width: int, tiles: int, percentile: float) -> list[tuple]:
    """The background of each tile, as (y, x, value) with positions from 0 to 1."""
    backgrounds = []
    for row in range(tiles):
        top, bottom = row * height // tiles, (row + 1) * height // tiles
        for column in range(tiles):
            left, right = column * width // tiles, (column + 1) * width // tiles
            pixels: list[int] = []
            for plane in planes:
                for y in range(top, bottom):
                    pixels.extend(plane[y * width + left : y * width + right])
            pixels.sort()
            value = pixels[int(len(pixels) * percentile / 100)]
            backgrounds.append(((top + bottom) / 2 / height, (left + right) / 2 / width, value))
    return backgrounds


def solve(matrix: list[list[float]], values: list[float]) -> list[float]:
    """Gaussian elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, values)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column])]
    return [rows[place][size] / rows[place][place] for place in range(size)]


def fitted_surface(backgrounds: list[tuple]) -> list[float]:
    """The coefficients of the quadratic surface with the least squares of errors."""
    terms = [(surface_terms(y, x), value) for y, x, value in backgrounds]
    matrix = [[sum(t[i] * t[j] for t, _ in terms) for j in range(6)] for i in range(6)]
    return solve(matrix, [sum(t[i] * value for t, value in terms) for i in range(6)])


def surface_terms(y: float, x: float) -> tuple:
    return (1.0, y, x, y * y, x * x, y * x)


def background_surface(backgrounds: list[tuple]) -> list[float]:
    # Cells only add light, so tiles that stick out above the surface are full of cells and tell nothing about the lamp.
    surface = fitted_surface(backgrounds)
    for _ in range(REFITS):
        flat = [
            (y, x, value)
            for y, x, value in backgrounds
            if value <= CELL_LIGHT * sum(map(mul, surface, surface_terms(y, x)))
        ]
        if len(flat) < FEWEST_TILES:
            break
        surface = fitted_surface(flat)
    return surface


def estimated_profile(planes: list[array], height: int, width: int, tiles: int, percentile: float) -> list[float]:
    """A quadratic surface through the backgrounds of the tiles; its brightest pixel is 1."""
    a, b, c, d, e, f = background_surface(tile_backgrounds(planes, height, width, tiles, percentile))
    profile = []
    for row in range(height):
        y = (row + 0.5) / height
        start, slope = a + b * y + d * y * y, c + f * y
        profile.extend([start + x * (slope + e * x) for x in ((column + 0.5) / width for column in range(width))])
    brightest = max(profile)
    # An image without any light has no profile to correct.
    return [value / brightest for value in profile] if brightest > 0 else [1.0] * len(profile)


def corrected(plane: array, profile: list[float]) -> array:
    gain = [1 / max(value, DARKEST) for value in profile]
    return array("H", map(int, map(min, map(mul, plane, gain), repeat(65535.0))))
