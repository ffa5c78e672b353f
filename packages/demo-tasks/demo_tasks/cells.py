"""Draws cells that look like a microscope's: elongated nuclei brighter inside, membranes around them, noise, and light
that falls off towards the corners. The same seed gives the same pixels.
"""

from __future__ import annotations

import math
from array import array
from itertools import cycle, islice, repeat
from operator import add, mul
from random import Random
from typing import NamedTuple

BACKGROUND = 200.0
# Lamps are never quite centred.
LIGHT_CENTRE = (0.46, 0.54)
GAP_BETWEEN_NUCLEI = 4
TRIES_PER_NUCLEUS = 200
CONDENSED_RADIUS = 0.65
CONDENSED_BRIGHTNESS = 1.7
MEMBRANE_DISTANCE = 1.7
MEMBRANE_WIDTH = 1.5
# No divisor of a usual width, so that the repeated noise makes no pattern.
NOISE_VALUES = 20011


class Nucleus(NamedTuple):
    z: float
    y: float
    x: float
    radius: float
    half_height: float
    elongation: float
    angle: float
    brightness: float


def place_nuclei(random: Random, number: int, radius: list, size: int, planes: int) -> list[Nucleus]:
    """Nuclei that lie inside the image and do not touch; fewer than asked for when there is no room."""
    nuclei: list[Nucleus] = []
    for _ in range(number * TRIES_PER_NUCLEUS):
        if len(nuclei) == number:
            break
        r = random.uniform(*radius)
        elongation = random.uniform(1.0, 1.3)
        reach = r * elongation + 2
        if reach > size / 2:
            continue
        y, x = random.uniform(reach, size - reach), random.uniform(reach, size - reach)
        if any(
            math.hypot(y - other.y, x - other.x) < reach + other.radius * other.elongation + GAP_BETWEEN_NUCLEI
            for other in nuclei
        ):
            continue
        z = (planes - 1) * random.uniform(0.3, 0.7)
        half_height = 0.5 * planes * random.uniform(0.9, 1.2) + 0.1
        angle, brightness = random.uniform(0, math.pi), random.uniform(0.8, 1.2)
        nuclei.append(Nucleus(z, y, x, r, half_height, elongation, angle, brightness))
    return nuclei


def condense(random: Random, nuclei: list[Nucleus], part: float) -> list[Nucleus]:
    """Some of the nuclei as a drug leaves them: small, round and bright."""
    return [
        nucleus._replace(
            radius=nucleus.radius * CONDENSED_RADIUS,
            elongation=1.0,
            brightness=nucleus.brightness * CONDENSED_BRIGHTNESS,
        )
        if random.random() < part
        else nucleus
        for nucleus in nuclei
    ]


def nucleus_light(distance: float, along: float) -> float:
    """Light of a nucleus by the distance from its centre (1 is the edge) and the position along its axis."""
    if distance >= 1:
        return 0.0
    soft_edge = min(1.0, (1 - distance) / 0.15)
    return soft_edge * (1 - 0.4 * distance * distance) * (1 + 0.15 * along)


def draw_signal(nuclei: list[Nucleus], stain: str, z: int, size: int) -> list[float]:
    """The light that the cells of one plane give, without background, before the optics."""
    signal = [0.0] * (size * size)
    for nucleus in nuclei:
        depth = 1 - ((z - nucleus.z) / nucleus.half_height) ** 2
        if depth <= 0:
            continue
        radius = nucleus.radius * math.sqrt(depth)
        light = nucleus.brightness * (0.5 + 0.5 * depth)
        ring = nucleus.radius * MEMBRANE_DISTANCE
        reach = (radius if stain == "nuclei" else ring + 3 * MEMBRANE_WIDTH) * nucleus.elongation + 1
        cos, sin = math.cos(nucleus.angle), math.sin(nucleus.angle)
        columns = range(max(0, int(nucleus.x - reach)), min(size, int(nucleus.x + reach) + 2))
        for y in range(max(0, int(nucleus.y - reach)), min(size, int(nucleus.y + reach) + 2)):
            dy = y - nucleus.y
            for x in columns:
                dx = x - nucleus.x
                along = (dx * cos + dy * sin) / nucleus.elongation
                distance = math.hypot(along, dy * cos - dx * sin)
                if stain == "nuclei":
                    value = nucleus_light(distance / radius, along / radius) if distance < radius else 0.0
                else:
                    away = abs(distance - ring) / MEMBRANE_WIDTH
                    value = 0.6 * math.exp(-0.5 * away * away) if away < 3 else 0.0
                if value:
                    place = y * size + x
                    signal[place] = max(signal[place], value * light)
    return signal


def light_field(height: int, width: int, falloff: float, centre) -> list[float]:
    """How much light arrives at each pixel: 1 at the centre, `1 - falloff` in the farthest corner."""
    cy, cx = centre[0] * (height - 1), centre[1] * (width - 1)
    farthest = max(cy, height - 1 - cy) ** 2 + max(cx, width - 1 - cx) ** 2
    across = [(x - cx) ** 2 for x in range(width)]
    field = []
    for y in range(height):
        down = (y - cy) ** 2
        field.extend([1 - falloff * (down + square) / farthest for square in across])
    return field


def take_plane(signal: list[float], brightness: float, field: list[float], random: Random, noise: list) -> array:
    """What the camera sees."""
    light = map(mul, (BACKGROUND + brightness * value for value in signal), field)
    start = random.randrange(NOISE_VALUES)
    seen = map(add, light, islice(cycle(noise), start, start + len(signal)))
    return array("H", map(int, map(min, map(max, seen, repeat(0.0)), repeat(65535.0))))


def noise_values(random: Random, strength: float) -> list[float]:
    return [random.gauss(0.0, strength) for _ in range(NOISE_VALUES)]
