"""Measure Nuclei: size, position and intensities of the objects of a label image, as a table."""

from __future__ import annotations

import math
import re
from array import array
from itertools import compress
from statistics import mean

from demo_tasks.images import Image, channel_index, read_channel, read_image, read_labels
from demo_tasks.program import run
from demo_tasks.tables import write_table


def pixels_of_objects(labels: list[array]) -> dict[int, list[tuple[int, int]]]:
    """The pixels of each label, as pairs of plane and place in the plane."""
    pixels: dict[int, list[tuple[int, int]]] = {}
    for z, plane in enumerate(labels):
        for place in compress(range(len(plane)), plane):
            pixels.setdefault(plane[place], []).append((z, place))
    return dict(sorted(pixels.items()))


def size_columns(image: Image, objects: list) -> dict[str, list]:
    voxel = math.prod(image.voxel_size)
    return {
        "num_pixels": [len(pixels) for pixels in objects],
        "volume_um3": [round(len(pixels) * voxel, 3) for pixels in objects],
    }


def position_columns(image: Image, objects: list) -> dict[str, list]:
    def centres(axis: int, position) -> list:
        size = image.voxel_size[axis]
        return [round(mean(map(position, pixels)) * size, 3) for pixels in objects]

    return {
        "z_um": centres(0, lambda pixel: pixel[0]),
        "y_um": centres(1, lambda pixel: pixel[1] // image.width),
        "x_um": centres(2, lambda pixel: pixel[1] % image.width),
    }


def column_names(image: Image) -> list[str]:
    """Labels of other people's images may hold anything or repeat, and a column is the name of a folder."""
    names = [re.sub(r"[^A-Za-z0-9-]+", "_", channel["label"]) for channel in image.channels]
    return [name if names.count(name) == 1 else f"{name}_{index}" for index, name in enumerate(names)]


def intensity_columns(image: Image, objects: list, channels: list[int]) -> dict[str, list]:
    columns = {}
    for channel in channels:
        planes = read_channel(image, channel)
        name = column_names(image)[channel]
        values = [[planes[z][place] for z, place in pixels] for pixels in objects]
        columns[f"mean_{name}"] = [round(mean(pixels), 3) for pixels in values]
        columns[f"max_{name}"] = [max(pixels) for pixels in values]
    return columns


def measure_nuclei(*, zarr_url: str, label_name: str, table_name: str, features: list, channels: list | None) -> dict:
    image = read_image(zarr_url)
    pixels = pixels_of_objects(read_labels(image, label_name))
    objects = list(pixels.values())
    columns: dict[str, list] = {"label": list(pixels)}
    if "size" in features:
        columns.update(size_columns(image, objects))
    if "position" in features:
        columns.update(position_columns(image, objects))
    if "intensity" in features:
        chosen = range(len(image.channels)) if channels is None else [channel_index(image, name) for name in channels]
        columns.update(intensity_columns(image, objects, list(chosen)))
    table = write_table(zarr_url, table_name, columns, label_name)

    print(f"Measured {len(objects)} nuclei. The table is {table / 'table.csv'}.")
    if objects:
        for name, values in columns.items():
            if name != "label":
                print(f"  {name}: mean {mean(values):.1f}, from {min(values):.1f} to {max(values):.1f}")
    return {"image_list_updates": [{"zarr_url": zarr_url}]}


if __name__ == "__main__":
    run(__file__, measure_nuclei)
